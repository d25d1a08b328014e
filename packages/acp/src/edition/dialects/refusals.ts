// The errors that a machine answers with itself, in the numbers of version 1.

import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import { describeFailure, type Failure } from "../../wire/decode.ts";
import type { DialectMessage } from "../dialect.ts";

export type DialectError = NonNullable<DialectMessage["error"]>;

export function failed(id: number | string | null, error: DialectError): DialectMessage {
  return { jsonrpc: "2.0", id, error };
}

/** Names and paths are the peer's, and error data is at most 1 KiB. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

export function invalidParams(method: string, failure: Failure): DialectError {
  const kind = failure.limit ? "limit_exceeded" : "invalid_params";
  failure.path = shortened(failure.path);
  return refusal(kind, describeFailure(method, "params", failure), { path: failure.path });
}

export function invalidResult(method: string, failure: Failure): DialectError {
  failure.path = shortened(failure.path);
  return refusal("internal_error", describeFailure(method, "result", failure), { path: failure.path });
}

export function methodNotFound(method: string): DialectError {
  return refusal("method_not_found", "method not found", { method: shortened(method) });
}

export function invalidRequest(message: string): DialectError {
  return { code: errorCodes.invalid_request, message, data: { reason: "duplicate_id", path: "/id" } };
}

/** An error of this kind. */
export function refusal(kind: keyof typeof errorCodes, message: string, data: object = {}): DialectError {
  return { code: errorCodes[kind], message, data: { reason: kind, ...data } };
}
