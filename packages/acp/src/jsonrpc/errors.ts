// The errors: RequestError is sent to the peer, ConnectionError never is; and how messages show wrong arguments.

import { nearestWord } from "../base/nearest-word.ts";
import { optional } from "../base/objects.ts";
import { errorCodes, errorKindOf, isErrorKind, type RequestErrorKind } from "./error-kinds.ts";

/** Options of a `RequestError`. */
export interface RequestErrorOptions {
  /** JSON for the peer. `reason`, `path` and `retryAfter` (in seconds) are common fields. */
  readonly data?: unknown;
  /** The code on the wire. Default: the code of the kind. Required for the kind "other". */
  readonly code?: number | undefined;
  /** The error behind this one. It is never sent. */
  readonly cause?: unknown;
}

/**
 * An error that is sent to the peer. Throw it in a handler to answer with it. Requests that the peer refuses reject with
 * it. Check `kind` to distinguish errors.
 *
 * @example
 * import { agent, RequestError } from "@parley/acp";
 *
 * export const careful = agent({
 *   name: "my-agent",
 *   version: "1.0.0",
 *   prompt(turn) {
 *     if (turn.text.length > 10_000) throw new RequestError("limit_exceeded", "at most 10,000 characters, please");
 *   },
 * });
 */
export class RequestError extends Error {
  /** Always "RequestError". */
  override readonly name = "RequestError";
  /** The kind of error, the same in every version of the protocol. Give a `switch` over it a `default:`. */
  readonly kind: RequestErrorKind;
  /** The code on the wire. Prefer `kind`: codes differ between versions of the protocol. */
  readonly code: number;
  /** More about the error, as JSON. `reason`, `path` and `retryAfter` (in seconds) are common fields. */
  readonly data: unknown;
  /**
   * The method on the wire that the peer answered with this error, such as "session/resume" for `loadSession` on v2. Absent
   * from errors that you create; never sent.
   */
  declare readonly method?: string;

  /**
   * Creates an error that the peer sees.
   *
   * @param kind The kind of error. It determines the code on the wire.
   * @param message One sentence for a person. The peer sees it, so do not include secrets.
   * @throws {TypeError} When the kind is unknown, or is "other" and has no code.
   */
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

  /** The agent needs a login. Clients show the login methods, then try again. */
  static authRequired<Method extends { readonly methodId: string; readonly name: string }>(
    authMethods: readonly Method[] = [],
  ): RequestError {
    const message = "authentication required: log in with one of the agent's methods";
    const data = { reason: "auth_required", ...(authMethods.length === 0 ? {} : { authMethods }) };
    return new RequestError("auth_required", message, { data });
  }

  /** There is no session with this id. */
  static sessionNotFound(sessionId: string): RequestError {
    const shown = JSON.stringify(sessionId.slice(0, 80));
    const message = `there is no session ${shown}: open a new one, or load one that session/list shows`;
    const data = { reason: "session_not_found", sessionId: sessionId.slice(0, 200) };
    return new RequestError("session_not_found", message, { data });
  }

  /** The params are wrong. `path` is the JSON pointer of the wrong value, such as `/cwd`. */
  static invalidParams(message: string, path?: string): RequestError {
    return new RequestError("invalid_params", message, {
      data: { reason: "invalid_params", ...optional({ path }) },
    });
  }

  /** This side has no such method. */
  static methodNotFound(method: string): RequestError {
    // the name is the peer's, and error data is at most 1 KiB
    const shown = method.length > 200 ? `${method.slice(0, 200)}…` : method;
    return new RequestError("method_not_found", "method not found", {
      data: { reason: "method_not_found", method: shown },
    });
  }

  /** The user or a policy denied the request. Default message: "permission denied". */
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

const longestMessage = 1_000;

/**
 * The thrown value in a form that is safe to read. A revoked proxy, or an Error whose message or name is no text, becomes an
 * Error of its own: reading it must not cost a request its answer.
 */
export function readableThrown(thrown: unknown): unknown {
  let why: string;
  try {
    if (!(thrown instanceof Error)) return thrown;
    if (typeof thrown.message === "string" && typeof thrown.name === "string") return thrown;
    why = "its message or its name is not text";
  } catch {
    why = "reading it throws";
  }
  return new Error("internal error", { cause: `a handler threw a value that cannot be shown: ${why}` });
}

/**
 * The answer to a request whose handler threw something that is no RequestError. An exposed message is the Error's own,
 * shortened, and without a stack that it may contain.
 */
export function handlerFailure(thrown: unknown, correlationId: string, exposes: boolean): RequestError {
  const [said = ""] = exposes && thrown instanceof Error ? thrown.message.split(/\n\s*at /) : [];
  const text = said.trim().toWellFormed();
  const message = text.length > longestMessage ? `${text.slice(0, longestMessage)}…`.toWellFormed() : text;
  return new RequestError("internal_error", message || "internal error", {
    data: { reason: "internal_error", correlationId },
  });
}

/** The error that a code from the wire or from a scenario stands for. `method` was answered with it. */
export function requestErrorFrom(
  { code, message, data }: { readonly code: number; readonly message: string; readonly data?: unknown },
  method?: string,
): RequestError {
  const error = new RequestError(errorKindOf(code, data), message, { code, data });
  return method === undefined ? error : Object.assign(error, { method });
}

/**
 * The cause of a `ConnectionError`:
 *
 * - "closed": one side closed the connection.
 * - "exited", "spawn_failed": the agent's process ended, or could not be started.
 * - "refused": the server did not let us in (401 or 403): the token is missing or wrong.
 * - "handshake_timeout", "timeout": there was no answer in time.
 * - "aborted": an AbortSignal of this side aborted.
 * - "overflow": too much data was waiting to be read or sent.
 * - "too_large": a message exceeded the limit.
 * - "protocol": the peer violated the protocol.
 * - "session_taken": another client has taken the session.
 *
 * More kinds will be added: give a `switch` over it a `default:`.
 */
export type ConnectionErrorKind =
  | "closed"
  | "refused"
  | "exited"
  | "spawn_failed"
  | "handshake_timeout"
  | "timeout"
  | "aborted"
  | "overflow"
  | "too_large"
  | "protocol"
  | "session_taken";

/** Facts about the peer's process, if it has one. */
export interface ErrorDetails {
  /** The exit code of the process. */
  readonly exitCode?: number | undefined;
  /** The signal that ended the process, such as "SIGKILL". */
  readonly signal?: string | undefined;
  /** The last lines that the process wrote to stderr. */
  readonly stderr?: string | undefined;
  /** The error behind this one. */
  readonly cause?: unknown;
}

/**
 * A local failure: the peer disconnected, did not answer in time or violated the protocol. It is never sent to the peer.
 *
 * @example
 * import { type ClientSession, ConnectionError } from "@parley/acp";
 *
 * export async function ask(session: ClientSession, question: string): Promise<void> {
 *   try {
 *     await session.prompt(question);
 *   } catch (error) {
 *     if (!(error instanceof ConnectionError)) throw error;
 *     console.error(`${error.kind}: ${error.message}`, error.stderr ?? "");
 *   }
 * }
 */
export class ConnectionError extends Error {
  /** Always "ConnectionError". */
  override readonly name = "ConnectionError";
  /** The cause. Give a `switch` over it a `default:`. */
  readonly kind: ConnectionErrorKind;
  /** The exit code of the agent's process, with kind "exited". */
  readonly exitCode: number | undefined;
  /** The signal that ended the agent's process, such as "SIGKILL". */
  readonly signal: string | undefined;
  /** The last lines that the agent's process wrote to stderr. */
  readonly stderr: string | undefined;

  /** Creates an error, for your own transports. */
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

/** An error as it is on the wire. */
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export function wireParts({ code, message, data }: RequestError): WireError {
  return data === undefined ? { code, message } : { code, message, data };
}

export function closing(): RequestError {
  return new RequestError("cancelled", "cancelled: the connection is closing");
}

export function rateLimited(message: string, scope: "connection" | "session" = "connection"): RequestError {
  return new RequestError("rate_limited", message, { data: { reason: "rate_limited", scope } });
}

export function tooMany(limit: number, scope: "connection" | "session"): RequestError {
  return rateLimited(`too many requests at once: ${limit} of this ${scope} are running`, scope);
}

/** Refuses lone surrogates, which cannot be written as UTF-8. */

/** Whether a thrown value is the result of an abort with this reason. */
export function isResultOf(error: unknown, reason: Error | undefined): boolean {
  // a handler may also abort its own work (X14)
  if (error instanceof Error && error.name === "AbortError") return true;
  if (reason === undefined) return false;
  if (error === reason) return true;
  if (!(error instanceof ConnectionError)) return false;
  // a nested request rejects with the reason of the connection's end
  return (
    error.kind === "aborted" || error.kind === (reason instanceof ConnectionError ? reason.kind : undefined)
  );
}
