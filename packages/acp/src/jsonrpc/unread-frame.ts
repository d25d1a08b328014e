// What is known of a message that cannot be parsed, and the error that says why.

import { optional } from "../base/objects.ts";
import { errorCodes } from "./error-kinds.ts";
import { type EnvelopeHead, idToJson, readEnvelopeHead, readEnvelopeTail } from "./message-id.ts";
import type { Fault } from "./transport.ts";

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data: { readonly reason: string; readonly path?: string };
}

/** Finds the id in the beginning of the frame or at its end. */
export function readUnread({ head, tail }: Fault): EnvelopeHead {
  const found = readEnvelopeHead(head);
  if (found.id !== undefined || tail === undefined) return found;
  const { id, asks } = readEnvelopeTail(tail);
  return { ...found, asks: found.asks || asks, ...optional({ id }) };
}

/** Completes "the message is …". */
export function describeFault({ kind, bytes }: Fault): string {
  switch (kind) {
    case "parse":
      return "not JSON";
    case "utf8":
      return "not valid UTF-8";
    case "too_large":
      return `too large, ${bytes} bytes`;
    case "too_deep":
      return "nested too deeply";
  }
}

/** The error for the sender of the frame. `isRequest`: it answers a request, whose id it has. */
export function faultError(fault: Fault, isRequest: boolean): WireError {
  const { kind } = fault;
  const data = { reason: kind };
  if (kind === "parse" || kind === "utf8") {
    return {
      code: errorCodes.parse_error,
      message: `parse error: the text is ${describeFault(fault)}`,
      data,
    };
  }
  const isParams = kind === "too_deep" && isRequest;
  return {
    code: isParams ? errorCodes.invalid_params : errorCodes.invalid_request,
    message: `message ${describeFault(fault)}`,
    data,
  };
}

/** The message that tells somebody of a frame that a relay could not read and pass on. */
export interface Refusal {
  /** "sender": an answer to its request, or an error without an id. "receiver": an answer to the request that the frame answered. */
  readonly to: "sender" | "receiver";
  readonly message: object;
}

/** For a relay: whoever waits for an answer because of this frame gets one. */
export function refusalOf(fault: Fault): Refusal {
  const { id, asks, answers } = readUnread(fault);
  if (answers && id !== undefined) {
    const message = `the peer's answer cannot be read: it is ${describeFault(fault)}`;
    const error = { code: errorCodes.internal_error, message, data: { reason: fault.kind } };
    return { to: "receiver", message: { jsonrpc: "2.0", id: idToJson(id), error } };
  }
  const isRequest = asks && id !== undefined && fault.kind.startsWith("too_");
  const answered = isRequest ? idToJson(id) : null;
  return { to: "sender", message: { jsonrpc: "2.0", id: answered, error: faultError(fault, isRequest) } };
}
