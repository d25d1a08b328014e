// The options, limits, handlers, counters and logger of a connection.

import { checkOptions } from "../base/known-options.ts";
import type { NoPromise } from "../base/no-promise.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { RequestOptions } from "./pending-requests.ts";
import type { Fault } from "./transport.ts";

/** Handles the peer's messages, in the order in which they arrive. */
export interface Handlers {
  /** Returns the result or a promise of it. Throw a RequestError to answer with an error. `text` is the message as it came. */
  request(method: string, params: unknown, request: IncomingRequest, text: string): unknown;
  /** Not async, so that an update before a response is handled before that response. */
  notification(method: string, params: unknown, text: string): undefined;
}

/** The handlers and limits of a connection. */
export interface ConnectionOptions {
  /** Handle the requests and notifications of the peer. */
  readonly handlers: Handlers;
  /** Limits against a peer that sends too much. Each has a default. */
  readonly limits?: Partial<ConnectionLimits> | undefined;
  /** Receives errors and warnings. Silent by default. */
  readonly log?: Log | undefined;
  /**
   * Receives the text of every message in both directions, in order, and the head of every invalid frame. The text has all
   * secrets, credentials of logins included: pass it through a redactor of `@parley/acp/redact` before you keep it.
   */
  readonly tap?: ((direction: "in" | "out", text: string, fault?: Fault) => NoPromise) | undefined;
  /** Returns the scope that `maxInFlightPerScope` counts by; for ACP the session. */
  readonly scopeOf?: ((params: unknown) => string | undefined) | undefined;
  /** "accept" (default) handles JSON-RPC 2.0 arrays; "reject" answers each one with a single "invalid_request". */
  readonly batches?: "accept" | "reject" | undefined;
  /** Returns why these calls must not be sent as one batch, or undefined. */
  readonly refuseBatch?: ((calls: readonly BatchCall[]) => string | undefined) | undefined;
  /**
   * The treatment of lines that are not JSON. "answer" answers each with RequestError "parse_error". "skip" only counts
   * and logs lines that do not begin like a message, for clients that read an agent's stdout. Default: "answer" for a
   * plain connection and for agents, "skip" for clients.
   */
  readonly noise?: "answer" | "skip" | undefined;
  /**
   * Whether an Error that a handler throws is answered with its message. Default false: the peer gets "internal error".
   * Either way `log` receives the whole error, and both have the same `correlationId`.
   */
  readonly exposeErrors?: boolean | undefined;
  /** How long running handlers may take to answer after the connection ends, in milliseconds. Default 1,500. */
  readonly drainMs?: number | undefined;
}

/** One call of a batch. */
export interface BatchCall {
  /** The name of the method. */
  readonly method: string;
  /** Its params: an object or a list. */
  readonly params?: unknown;
  /** Sent without an id, never answered. Default false. */
  readonly notification?: boolean | undefined;
  /** For a request: its signal and time limits. */
  readonly options?: RequestOptions<unknown> | undefined;
}

/** Counts of messages that were ignored, refused or dropped. */
export interface ConnectionCounters {
  /** Answers with an unknown, late or repeated id. */
  strayAnswers: number;
  /** Invalid frames and messages, malformed answers included. */
  refused: number;
  /** Lines that were not messages at all. */
  noise: number;
  /** Errors with `id: null` above the limit per second, which were not sent. */
  unsentErrors: number;
  /** Messages sent after the connection ended. */
  dropped: number;
}

export function newCounters(): ConnectionCounters {
  return { strayAnswers: 0, refused: 0, noise: 0, unsentErrors: 0, dropped: 0 };
}

/** Limits against a peer that sends too much. Each must be above 0; Infinity means no limit. */
export interface ConnectionLimits {
  /** Requests of the peer that may run at once; a further one is answered with "rate_limited". Default 16,384. */
  readonly maxInFlight: number;
  /** Requests of one scope (for ACP: of one session) that may run at once. Default 256. */
  readonly maxInFlightPerScope: number;
  /** Characters of the peer's running requests together; a further one is answered with "rate_limited". Default 64 MiB. */
  readonly maxInFlightBytes: number;
  /** Characters of a string id. Default 1,024. */
  readonly maxIdLength: number;
  /** Entries of one batch. Default 10,000. */
  readonly maxBatchEntries: number;
  /** Characters of the answers to one batch; further answers become "limit_exceeded". Default 32 MiB. */
  readonly maxBatchAnswerBytes: number;
  /**
   * Characters of all answers that wait for the rest of their batches. Above it results become "limit_exceeded", and the
   * requests of a new batch "rate_limited". Default 32 MiB.
   */
  readonly maxHeldBatchBytes: number;
  /** Bytes of one message to the peer. A larger one is not sent: the call throws RequestError "limit_exceeded". Default 32 MiB. */
  readonly maxSentBytes: number;
  /** Errors with `id: null` per second; further ones are only counted. Default 10. */
  readonly maxNullIdErrorsPerSecond: number;
  /** Invalid frames and messages per second; above it the connection closes. Default 10,000. */
  readonly maxRefusedPerSecond: number;
  /** Lines that are not JSON before the first message; above it the connection closes. Default 100. */
  readonly maxNoiseLines: number;
}

export const defaultConnectionLimits: ConnectionLimits = {
  maxInFlight: 16_384,
  maxInFlightPerScope: 256,
  maxInFlightBytes: 64 * 1024 * 1024,
  maxIdLength: 1_024,
  maxBatchEntries: 10_000,
  maxBatchAnswerBytes: 32 * 1024 * 1024,
  maxHeldBatchBytes: 32 * 1024 * 1024,
  maxSentBytes: 32 * 1024 * 1024,
  maxNullIdErrorsPerSecond: 10,
  maxRefusedPerSecond: 10_000,
  maxNoiseLines: 100,
};

/** The limits of a connection. Throws a TypeError for an unknown limit, and one that is not above 0. */
export function connectionLimits(given: ConnectionOptions["limits"]): ConnectionLimits {
  checkOptions("limits", given ?? {}, { ...defaultConnectionLimits });
  return limitsFrom(defaultConnectionLimits, given);
}

/** Merges the given limits into the defaults. Throws a TypeError for a limit that is not above 0. */
export function limitsFrom<Limits extends { readonly [Name in keyof Limits]: number }>(
  defaults: Limits,
  given: { readonly [Name in keyof Limits]?: number | undefined } | undefined,
): Limits {
  const limits = { ...defaults };
  for (const name of Object.keys(defaults) as (keyof Limits & string)[]) {
    // JavaScript callers may pass anything
    const value: unknown = given?.[name];
    if (value === undefined) continue;
    if (typeof value !== "number" || !(value > 0)) {
      throw new TypeError(`limits.${name}: expected a number above 0 or Infinity, got ${String(value)}`);
    }
    Object.assign(limits, { [name]: value });
  }
  return limits;
}

/** How serious a line of the log is. */
export type LogLevel = "debug" | "info" | "warn" | "error";

/**
 * Receives what a library cannot throw: errors of callbacks, misuse, a peer that breaks the rules. `fields` hold methods,
 * ids, sizes and codes; never params, results or the text of a message. It must not be async: nothing awaits it.
 */
export type Log = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => NoPromise;
