// The kinds of errors that peers answer with, and the code of each on the wire.

import { isObject } from "../base/objects.ts";

/**
 * What went wrong, whatever the version of the protocol. "other" is an error whose code has no kind. More kinds will be
 * added: give a `switch` over it a `default:`.
 */
export type RequestErrorKind =
  | "parse_error"
  | "invalid_request"
  | "method_not_found"
  | "invalid_params"
  | "internal_error"
  | "cancelled"
  | "auth_required"
  | "not_found"
  | "session_not_found"
  | "unsupported_version"
  | "permission_denied"
  | "outside_workspace"
  | "not_text"
  | "limit_exceeded"
  | "turn_in_progress"
  | "rate_limited"
  | "conflict"
  | "unavailable"
  | "timeout"
  | "other";

/** The codes of versions 1 and 2. A table of a later version may have others; the kinds stay. */
export const errorCodes = {
  parse_error: -32700,
  invalid_request: -32600,
  method_not_found: -32601,
  invalid_params: -32602,
  internal_error: -32603,
  cancelled: -32800,
  auth_required: -32000,
  // before session_not_found, which has the same code: without a reason it is the kind of that code
  not_found: -32002,
  session_not_found: -32002,
  unsupported_version: -32022,
  permission_denied: -32060,
  outside_workspace: -32061,
  not_text: -32062,
  limit_exceeded: -32063,
  turn_in_progress: -32064,
  rate_limited: -32065,
  conflict: -32066,
  unavailable: -32067,
  timeout: -32068,
} as const satisfies Readonly<Record<Exclude<RequestErrorKind, "other">, number>>;

const kindsByCode = new Map<number, RequestErrorKind>();
for (const [kind, code] of Object.entries(errorCodes)) {
  if (!kindsByCode.has(code)) kindsByCode.set(code, kind as RequestErrorKind); // a key of the table
}

export function isErrorKind(value: unknown): value is RequestErrorKind {
  return typeof value === "string" && (value === "other" || Object.hasOwn(errorCodes, value));
}

/**
 * Returns the kind of an error from the wire: `data.reason` if it is a kind with this code, else the kind of the code.
 *
 * @example
 * import { errorKindOf } from "@parley/acp/jsonrpc";
 *
 * console.log(errorKindOf(-32000));
 */
export function errorKindOf(code: number, data?: unknown): RequestErrorKind {
  const reason = isObject(data) ? data["reason"] : undefined;
  if (isErrorKind(reason) && reason !== "other" && errorCodes[reason] === code) return reason;
  return kindsByCode.get(code) ?? "other";
}
