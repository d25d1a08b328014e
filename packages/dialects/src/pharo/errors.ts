// The error numbers of the dialect. Version 1 uses some of the same numbers for other errors, so no number passes as it is.

import type { Lost } from "../exchange/exchange.ts";
import {
  errorCodes,
  errorKindOf,
  isErrorKind,
  isObject,
  type RequestErrorKind,
} from "../exchange/library.ts";
import { type DialectError, inWordsOf } from "../exchange/refusals.ts";
import { methods } from "../wire/pharo/methods.gen.ts";

const pharoCodes = {
  authenticationFailed: -32001,
  invalidMethodId: -32002,
  resourceNotFound: -32003,
  permissionDenied: -32004,
  sessionNotFound: -32005,
  invalidSessionState: -32006,
  capabilityNotSupported: -32007,
} as const;

/** The reason of an error that version 1 has no number for. */
const badState = "invalid_session_state";

const codesByKind: Partial<Record<RequestErrorKind, number>> = {
  auth_required: pharoCodes.authenticationFailed,
  not_found: pharoCodes.resourceNotFound,
  session_not_found: pharoCodes.sessionNotFound,
  permission_denied: pharoCodes.permissionDenied,
  outside_workspace: pharoCodes.permissionDenied,
  turn_in_progress: pharoCodes.invalidSessionState,
  conflict: pharoCodes.invalidSessionState,
  // the dialect has no number for it: a cancelled turn is a result
  cancelled: errorCodes.internal_error,
};

const codesOfV1: Readonly<Record<number, number>> = {
  [pharoCodes.authenticationFailed]: errorCodes.auth_required,
  [pharoCodes.invalidMethodId]: errorCodes.invalid_params,
  [pharoCodes.resourceNotFound]: errorCodes.not_found,
  [pharoCodes.permissionDenied]: errorCodes.permission_denied,
  [pharoCodes.sessionNotFound]: errorCodes.session_not_found,
  [pharoCodes.invalidSessionState]: errorCodes.invalid_request,
  [pharoCodes.capabilityNotSupported]: errorCodes.method_not_found,
};

/** The fields of version 1 that the document calls otherwise. */
const names = new Map([
  ["/configId", "/option"],
  ["/line", "/startLine"],
  ["/limit", "/lineLimit"],
]);

const known = new Set(methods.map(({ method }) => method));

/** An error of version 1, as the dialect writes it. */
export function errorToPharo(given: DialectError, method: string, lost: Lost): DialectError {
  const error = inWordsOf(names, given);
  const { code, message, data } = error;
  const kind = errorKindOf(code, data);
  // a file that is in the way is no session in a wrong state
  const own = kind === "conflict" && method.startsWith("fs/") ? undefined : codesByKind[kind];
  if (own !== undefined) return withReason({ code: own, message, data }, kind);
  if (kind === "method_not_found" && known.has(method))
    return { ...error, code: pharoCodes.capabilityNotSupported };
  if (kind === "invalid_params" && method === "authenticate" && !isElsewhere(data))
    return { ...error, code: pharoCodes.invalidMethodId };
  if (kind === "invalid_request" && reasonOf(data) === badState)
    return { ...error, code: pharoCodes.invalidSessionState };
  if (!(code in codesOfV1)) return error;
  lost(`the error number ${code}, which means something else to the peer`);
  return { ...error, code: errorCodes.internal_error };
}

/** An error of the dialect, in the numbers of version 1. */
export function errorFromPharo(error: DialectError, _method: string, lost: Lost): DialectError {
  const { code, data } = error;
  const reason = reasonOf(data);
  // several kinds have one number here: the reason tells which
  if (isErrorKind(reason) && reason !== "other" && codesByKind[reason] === code)
    return { ...error, code: errorCodes[reason] };
  const translated = codesOfV1[code];
  if (translated !== undefined) {
    const next = { ...error, code: translated };
    if (code === pharoCodes.sessionNotFound) return withReason(next, "session_not_found");
    return code === pharoCodes.invalidSessionState ? withReason(next, badState) : next;
  }
  if (code !== errorCodes.auth_required && code !== errorCodes.unsupported_version) return error;
  lost(`the error number ${code}, which the dialect does not have`);
  return { ...error, code: errorCodes.internal_error };
}

function reasonOf(data: unknown): unknown {
  return isObject(data) ? data["reason"] : undefined;
}

/** Whether something else than the method id is wrong. */
function isElsewhere(data: unknown): boolean {
  return isObject(data) && data["path"] !== undefined && data["path"] !== "/methodId";
}

/** Names the kind where the number does not, and the peer has given no reason of its own. */
function withReason({ code, message, data }: DialectError, reason: string): DialectError {
  if (data === undefined || data === null) return { code, message, data: { reason } };
  if (isObject(data) && data["reason"] === undefined) return { code, message, data: { ...data, reason } };
  return { code, message, data };
}
