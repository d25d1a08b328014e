// Refuses messages that are too large to be sent, before anything depends on them.

import { mayExceedJsonBytes } from "../base/json-size.ts";
import { RequestError } from "./errors.ts";

/** Throws when the text of the message is larger than a message may be. */
export function checkSentSize(message: object, text: string, maxBytes: number): void {
  // a UTF-16 unit takes at most three bytes
  if (text.length * 3 <= maxBytes) return;
  const bytes = text.length > maxBytes ? text.length : new TextEncoder().encode(text).byteLength;
  if (bytes <= maxBytes) return;
  const { method } = message as { readonly method?: unknown };
  const what = typeof method === "string" ? method.slice(0, 100) : "the answer";
  throw new RequestError(
    "limit_exceeded",
    `${what}: the message has ${bytes} bytes or more, and at most ${maxBytes} can be sent; send less at once`,
    { data: { reason: "limit_exceeded" } },
  );
}

/** The same for a message that is sent later. It is only written if it may be too large. */
export function checkParamsSize(method: string, params: object, maxBytes: number): void {
  // room for the rest of the message
  if (!mayExceedJsonBytes(params, maxBytes - 1_024)) return;
  const message = { jsonrpc: "2.0", method, params };
  checkSentSize(message, JSON.stringify(message), maxBytes);
}
