// Translates the numbers of errors (section 15 of the document). The kinds are the same on both sides.

import type { Lost } from "../exchange/exchange.ts";
import {
  encodingKey,
  errorCodes,
  errorKindOf,
  isErrorKind,
  isObject,
  type RequestErrorKind,
} from "../exchange/library.ts";
import { type DialectError, inWordsOf } from "../exchange/refusals.ts";
import { methods } from "../wire/scoped/methods.gen.ts";

/** The kind that a number of the dialect means when its data gives no other reason. */
const kinds: ReadonlyMap<number, RequestErrorKind> = new Map<number, RequestErrorKind>([
  [-32000, "session_not_found"],
  [-32001, "auth_required"],
  [-32002, "permission_denied"],
  [-32003, "cancelled"],
  [-32004, "not_found"],
  [-32005, "outside_workspace"],
  [-32006, "conflict"],
  [-32007, "method_not_found"],
  [-32008, "rate_limited"],
  [-32009, "timeout"],
]);

const numbers = new Map<RequestErrorKind, number>(Array.from(kinds, ([code, kind]) => [kind, code]));
numbers.set("turn_in_progress", -32006);
numbers.set("not_text", -32005);

/** A file that exists and must not be replaced: its number is not that of a session in the wrong state. */
const fileIsThere = -32005;

/** The fields of version 1 that the document calls otherwise. */
const names = new Map([
  ["/modeId", "/mode"],
  ["/configId", "/key"],
  ["/prompt", "/content"],
  ["/cwd", "/workingDirectory"],
  ["/methodId", "/method"],
  ["/line", "/startLine"],
  ["/limit", "/endLine"],
  [`/_meta/${encodingKey.replace("/", "~1")}`, "/encoding"],
]);

const known = new Set(methods.map(({ method }) => method));

/** A method that is not of the document stays one that is not found; of the document it is a missing capability. */
export function errorToScoped(given: DialectError, method: string, lost: Lost): DialectError {
  const error = inWordsOf(names, given);
  const kind = errorKindOf(error.code, error.data);
  if (kind === "other" && kinds.has(error.code)) {
    lost(`the error number ${error.code}, which means something else to the peer`);
    return { ...error, code: errorCodes.internal_error };
  }
  // how the other dialect's errors say it in version 1
  if (isObject(error.data) && error.data["reason"] === "invalid_session_state")
    return { ...error, code: -32006 };
  const isCustom = !known.has(method);
  const own = kind === "conflict" && method === "fs/write_text_file" ? fileIsThere : numbers.get(kind);
  const code = kind === "method_not_found" && isCustom ? error.code : (own ?? error.code);
  const { data } = error;
  const { code: _, data: __, ...rest } = error;
  // the number says the reason already
  if (isObject(data) && data["reason"] === kind && kinds.get(code) === kind) {
    const { reason: _reason, ...more } = data;
    return { ...rest, code, ...(Object.keys(more).length === 0 ? {} : { data: more }) };
  }
  return { ...rest, code, ...(data === undefined ? {} : { data }) };
}

/** The kind is `data.reason` if that kind has this number. */
export function errorFromScoped(error: DialectError): DialectError {
  const { code, data } = error;
  const reason = isObject(data) ? data["reason"] : undefined;
  const isTheirs =
    isErrorKind(reason) && (numbers.get(reason) === code || (reason === "conflict" && code === fileIsThere));
  const given = isTheirs ? reason : undefined;
  const kind = given ?? kinds.get(code);
  if (kind === undefined || kind === "other") return error;
  const { data: _, ...rest } = error;
  const more = isObject(data) ? data : data === undefined ? {} : { details: data };
  return { ...rest, code: errorCodes[kind], data: { ...more, reason: kind } };
}
