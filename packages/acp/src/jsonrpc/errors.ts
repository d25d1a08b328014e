// The errors: RequestError is sent to the peer, ConnectionError never is; and how messages show wrong arguments.

import { optional } from "../base/objects.ts";

/** The error codes of JSON-RPC, of cancellation and of our limits. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  cancelled: -32800,
  limitExceeded: -32063,
  rateLimited: -32065,
} as const;

/** An error that the peer sees: throw it in a handler to answer with it. */
export class RequestError extends Error {
  override readonly name = "RequestError";
  readonly code: number;
  readonly data: unknown;
  /** The method that the peer answered with this error. Absent from errors of our own; never sent. */
  declare readonly method?: string;

  /** `method` is set by the library. */
  constructor(code: number, message: string, data?: unknown, method?: string) {
    super(message);
    this.code = code;
    this.data = data;
    if (method !== undefined) this.method = method;
  }
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

/** -32602. `path` is the JSON pointer of the wrong value in the params. */
export function invalidParams(message: string, path?: string): RequestError {
  return new RequestError(rpcCodes.invalidParams, message, {
    reason: "invalid_params",
    ...optional({ path }),
  });
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
