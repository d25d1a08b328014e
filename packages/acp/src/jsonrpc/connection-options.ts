// The options, handlers and counters of a connection.

import type { IncomingRequest } from "./incoming-request.ts";
import type { ConnectionLimits } from "./limits.ts";
import type { Log } from "./log.ts";
import type { RequestOptions } from "./pending-requests.ts";
import type { Fault } from "./transport.ts";

/** Handles the peer's messages, called in arrival order. */
export interface Handlers {
  /** Returns the result or a promise of it. Throw or reject with RequestError to answer with an error. */
  request(method: string, params: unknown, request: IncomingRequest): unknown;
  /** Synchronous, so that an update before a response is handled before that response. */
  notification(method: string, params: unknown, text: string): undefined;
}

export interface ConnectionOptions {
  readonly handlers: Handlers;
  readonly limits?: Partial<ConnectionLimits>;
  /** Silent by default. */
  readonly log?: Log;
  /** Receives the text of every message in both directions, in order, and the head of every invalid frame. */
  readonly tap?: (direction: "in" | "out", text: string, fault?: Fault) => void;
  /** Returns the scope that `maxInFlightPerScope` counts by; for ACP the session. */
  readonly scopeOf?: (params: unknown) => string | undefined;
  /** "accept" (default) handles JSON-RPC 2.0 arrays; "reject" answers each one with a single -32600. */
  readonly batches?: "accept" | "reject";
  /** Returns why these calls must not be sent as one batch, or undefined. */
  readonly refuseBatch?: (calls: readonly BatchCall[]) => string | undefined;
  /**
   * How to treat lines that are not JSON. "answer" (default) answers each with -32700. "skip" counts and logs
   * lines that do not begin like a message, for clients that read an agent's stdout.
   */
  readonly noise?: "answer" | "skip";
  /** How long running handlers may take to answer after the connection ends. Default 1,500 ms. */
  readonly drainMs?: number;
}

export interface BatchCall {
  readonly method: string;
  readonly params?: unknown;
  /** Sent without an id, never answered. Default false. */
  readonly notification?: boolean;
  readonly options?: RequestOptions<unknown>;
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
