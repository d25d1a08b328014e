// Reads what a client asks over HTTP, and refuses what is not as the protocol wants it.

import { boundedBody } from "../../base/bounded-body.ts";
import { defaultConnectionLimits } from "../../jsonrpc/connection-options.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import { idProblem } from "../../jsonrpc/message-id.ts";
import type { Fault } from "../../jsonrpc/transport.ts";
import { type FrameLimits, webPlatform } from "../byte-channel.ts";
import { frameParser } from "../frame-parser.ts";

/**
 * Returns an HTTP response with a sentence for the client, as a JSON-RPC error without an id.
 *
 * @example
 * import { refusal } from "@parley/acp/server";
 *
 * export const tooMany = () => refusal(429, "too many requests; try again later", { "Retry-After": "5" });
 */
export function refusal(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  code: number = status < 500 ? errorCodes.invalid_request : errorCodes.internal_error,
): Response {
  const body = { jsonrpc: "2.0", id: null, error: { code, message } };
  return Response.json(body, { status, headers: { "Cache-Control": "no-store", ...headers } });
}

function notJson(message: string): Response {
  return refusal(400, message, {}, errorCodes.parse_error);
}

/** Whether the client takes an event stream. */
export function acceptsEvents(request: Request): boolean {
  const accept = request.headers.get("accept");
  if (accept === null) return false;
  return accept.split(",").some((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
    return !isRefused && (type === "text/event-stream" || type === "text/*" || type === "*/*");
  });
}

/** Why a body of this type is not read, or undefined. */
function typeProblem(headers: Headers): string | undefined {
  const type = headers.get("content-type") ?? "";
  const [name = "", ...parameters] = type.split(";").map((part) => part.trim().toLowerCase());
  if (name !== "application/json") {
    const got = type === "" ? "no content type" : `content of type ${JSON.stringify(type.slice(0, 80))}`;
    return `expected content of type application/json, got ${got}`;
  }
  const charset = parameters.find((parameter) => parameter.startsWith("charset="))?.slice(8);
  if (charset !== undefined && !/^"?utf-?8"?$/.test(charset)) return "expected JSON in UTF-8";
  const encoding = headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity") return "expected a body that is not compressed";
  return undefined;
}

export interface Posted {
  readonly message: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** Reads the one message of a POST. */
export async function readPosted(request: Request, limits: FrameLimits): Promise<Posted | Response> {
  const problem = typeProblem(request.headers);
  if (problem !== undefined) return refusal(415, problem);
  const bytes = await readBytes(request, limits.maxMessageBytes);
  if (bytes === undefined)
    return refusal(413, `expected a message of at most ${limits.maxMessageBytes} bytes, got a larger one`);
  const text = webPlatform.decode(bytes);
  if (text === undefined) return notJson("expected JSON in UTF-8, got bytes that are not UTF-8");
  let found: { readonly value: unknown } | undefined;
  let fault: Fault | undefined;
  const sink = {
    message: (value: unknown) => {
      found = { value };
    },
    reject: (refused: Fault) => {
      fault = refused;
    },
  };
  frameParser(sink, limits, webPlatform).frame(text);
  if (fault?.kind === "too_deep")
    return refusal(400, `expected JSON of at most ${limits.maxDepth} levels, got more`);
  const value = found?.value;
  if (found === undefined) return notJson("expected JSON, got something else");
  if (Array.isArray(value))
    return refusal(501, "batches are not supported; send each message alone", {}, errorCodes.invalid_request);
  if (typeof value !== "object" || value === null)
    return refusal(400, "expected a JSON-RPC message, which is an object");
  // it is no array
  return { message: value as Readonly<Record<string, unknown>>, text };
}

/** Why nobody would answer this message with its id, or undefined. */
export function requestProblem({ jsonrpc, id, result, error }: Posted["message"]): string | undefined {
  if (id === undefined) return "no id";
  if (jsonrpc !== "2.0") return 'a message whose jsonrpc is not "2.0"';
  if (result !== undefined || error !== undefined) return "a message with a result or an error";
  const wrong = idProblem(id, "any", defaultConnectionLimits.maxIdLength);
  return wrong === undefined ? undefined : `a wrong id: ${wrong}`;
}

/** Returns undefined for a body over the limit. */
async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return undefined;
  const { bytes, isCut } = await boundedBody(request.body, maxBytes);
  return isCut ? undefined : bytes;
}
