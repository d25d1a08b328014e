// Refuses requests that nobody should send, before anybody asks for a token.

import type { Duplex } from "node:stream";
import { refusal } from "@parley/acp/server";
import type { NodeRequest, WebRequest } from "./node-request.ts";
import { type NodeResponse, sendResponse } from "./node-response.ts";
import { refuseUpgrade } from "./socket-upgrade.ts";

export const maxHeaders = 100;
export const maxHeaderBytes = 16 * 1024;
const methods = ["GET", "POST", "DELETE", "OPTIONS"];

/** Where a balancer or a supervisor asks whether new clients are taken. */
const statePaths = ["/livez", "/readyz"];

/** Answers that need no token: the state of the server, and refusals. */
export function earlyAnswer(from: NodeRequest, isStopping: boolean): Response | undefined {
  const { method = "", url = "" } = from;
  if (from.rawHeaders.length > 2 * maxHeaders)
    return refusal(431, `expected at most ${maxHeaders} headers, got ${from.rawHeaders.length / 2}`);
  if (!url.startsWith("/"))
    return refusal(400, "expected a path such as /acp, got something else; name the host in the header Host");
  if (statePaths.includes(url) && method === "GET")
    return isStopping ? new Response("stopping\n", { status: 503 }) : new Response("ok\n");
  if (!methods.includes(method)) return noMethod(method);
  // of two, whoever stands in front may have looked at the other one
  const { size } = new Set(valuesOf(from, /^(?:host|:authority)$/i));
  if (size !== 1) return refusal(400, `expected one name in the header Host, got ${size}`);
  const tokens = valuesOf(from, /^authorization$/i).length;
  if (tokens > 1) return refusal(400, `expected one header Authorization, got ${tokens}`);
  return undefined;
}

export function noMethod(method: string): Response {
  return refusal(405, `expected GET, POST or DELETE, got ${method}`, { Allow: "GET, POST, DELETE" });
}

export function refuseExpectation(_: NodeRequest, response: NodeResponse): void {
  const words = "expected no header Expect, or 100-continue in it, got something else";
  void sendResponse(refusal(417, words), response, { headers: {}, isLast: true });
}

/** Every value of a header: Node keeps the first of several. */
function valuesOf({ rawHeaders }: NodeRequest, name: RegExp): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && name.test(rawHeaders[at - 1] ?? ""));
}

/** Refuses paths that have to be straightened: a proxy in front may have read another one. */
export function pathRefusal({ url = "" }: NodeRequest, { request }: WebRequest): Response | undefined {
  if (new URL(request.url).pathname === url.split("?", 1)[0]) return undefined;
  return refusal(404, "not found; expected a path such as /acp, without dots and backslashes");
}

/** Answers what is no HTTP. */
export function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  void refuseUpgrade(bytesRefusal(error.code), socket);
}

const lengthWords =
  "expected the length of the body once: one number in Content-Length, or Transfer-Encoding: chunked";
/** By the codes of Node's parser. */
const bytesWords: Readonly<Record<string, string>> = {
  HPE_UNEXPECTED_CONTENT_LENGTH: lengthWords,
  HPE_INVALID_CONTENT_LENGTH: lengthWords,
  HPE_INVALID_TRANSFER_ENCODING: lengthWords,
  HPE_INVALID_CHUNK_SIZE: "expected a chunk with its size in hexadecimal digits, got something else",
  HPE_INVALID_HEADER_TOKEN: "expected headers as NAME: VALUE, got a character that may not be there",
};

function bytesRefusal(code = ""): Response {
  if (code === "HPE_HEADER_OVERFLOW")
    return refusal(431, `expected at most ${maxHeaderBytes} bytes of headers, got more`);
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return refusal(408, "the head of the request took too long");
  return refusal(400, bytesWords[code] ?? "expected HTTP/1.1 or HTTP/2, got bytes that are neither");
}
