// The errors: RequestError is sent to the peer, ConnectionError never is; and how messages show wrong arguments.

import { nearestWord } from "../base/nearest-word.ts";
import { optional } from "../base/objects.ts";
import { errorCodes, errorKindOf, isErrorKind, type RequestErrorKind } from "./error-kinds.ts";

/** Details of an error that the peer sees. */
export interface RequestErrorOptions {
  /** JSON for the peer. `reason`, `path` and `retryAfter` (in seconds) are common fields. */
  readonly data?: unknown;
  /** The code on the wire. Default: the code of the kind. Required for the kind "other". */
  readonly code?: number | undefined;
  /** Stays on this side. */
  readonly cause?: unknown;
}

/** An error that the peer sees: throw it in a handler to answer with it. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly kind: RequestErrorKind;
  /** The code on the wire. Prefer `kind`: codes differ between versions of the protocol. */
  readonly code: number;
  readonly data: unknown;
  /** The method that the peer answered with this error. Absent from errors of our own; never sent. */
  declare readonly method?: string;

  constructor(kind: RequestErrorKind, message: string, options: RequestErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    if (!isErrorKind(kind)) throw new TypeError(wrongKind(kind, message));
    const code = options.code ?? (kind === "other" ? undefined : errorCodes[kind]);
    if (!Number.isInteger(code)) {
      const which = `RequestError ${argumentText(message)}`;
      const hint = kind === "other" ? ': the kind "other" needs one' : "";
      throw new TypeError(`${which}: expected an integer as code, got ${argumentText(code)}${hint}`);
    }
    this.kind = kind;
    this.code = code as number; // checked above
    this.data = options.data;
  }

  /** The agent needs a login. Clients show the ways to log in, and try again. */
  static authRequired<Method extends { readonly methodId: string; readonly name: string }>(
    authMethods: readonly Method[] = [],
  ): RequestError {
    const message = "authentication required: log in with one of the agent's methods";
    const data = { reason: "auth_required", ...(authMethods.length === 0 ? {} : { authMethods }) };
    return new RequestError("auth_required", message, { data });
  }

  static sessionNotFound(sessionId: string): RequestError {
    const shown = JSON.stringify(sessionId.slice(0, 80));
    const message = `there is no session ${shown}: open a new one, or load one that session/list shows`;
    const data = { reason: "session_not_found", sessionId: sessionId.slice(0, 200) };
    return new RequestError("session_not_found", message, { data });
  }

  /** `path` is the JSON pointer of the wrong value in the params. */
  static invalidParams(message: string, path?: string): RequestError {
    return new RequestError("invalid_params", message, {
      data: { reason: "invalid_params", ...optional({ path }) },
    });
  }

  static methodNotFound(method: string): RequestError {
    // the name is the peer's, and error data is at most 1 KiB
    const shown = method.length > 200 ? `${method.slice(0, 200)}…` : method;
    return new RequestError("method_not_found", "method not found", {
      data: { reason: "method_not_found", method: shown },
    });
  }

  static permissionDenied(message = "permission denied"): RequestError {
    return new RequestError("permission_denied", message, { data: { reason: "permission_denied" } });
  }
}

function wrongKind(kind: unknown, message: unknown): string {
  const which = `RequestError ${argumentText(message)}`;
  const got = `${which}: expected a kind such as "invalid_params", got ${argumentText(kind)}`;
  if (typeof kind === "number") {
    const known = errorKindOf(kind);
    return known === "other"
      ? `${got}: use the kind "other" with { code: ${kind} }`
      : `${got}: use "${known}"`;
  }
  const near = typeof kind === "string" ? nearestWord(kind, Object.keys(errorCodes)) : undefined;
  return near === undefined ? got : `${got}: did you mean "${near}"?`;
}

/** The error that a code from the wire or from a scenario stands for. `method` was answered with it. */
export function requestErrorFrom(
  { code, message, data }: { readonly code: number; readonly message: string; readonly data?: unknown },
  method?: string,
): RequestError {
  const error = new RequestError(errorKindOf(code, data), message, { code, data });
  return method === undefined ? error : Object.assign(error, { method });
}

export type ConnectionErrorKind =
  | "closed"
  | "exited"
  | "spawn_failed"
  | "handshake_timeout"
  | "timeout"
  | "aborted"
  | "overflow"
  | "too_large"
  | "protocol";

/** Facts about the peer's process, if it has one. */
export interface ErrorDetails {
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly stderr?: string | undefined;
  readonly cause?: unknown;
}

/** A local failure: the peer disconnected, timed out or broke the protocol. Never sent to the peer. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly kind: ConnectionErrorKind;
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  /** The last lines that the peer's process wrote to stderr. */
  readonly stderr: string | undefined;

  constructor(kind: ConnectionErrorKind, message: string, reason: ErrorDetails = {}) {
    super(message, reason.cause === undefined ? undefined : { cause: reason.cause });
    this.kind = kind;
    this.exitCode = reason.exitCode;
    this.signal = reason.signal;
    this.stderr = reason.stderr;
  }
}

const literalLength = 40;

/** `42`, `"ls"`, `nothing`, `a list`, `an object`: short, and never the contents of an object. */
export function argumentText(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") {
    const short = value.length > literalLength ? `${value.slice(0, literalLength)}…` : value;
    return JSON.stringify(short.toWellFormed());
  }
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "a list" : "an object";
}
