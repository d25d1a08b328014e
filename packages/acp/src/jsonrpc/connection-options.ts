// What the owner of a connection brings, and what a connection counts.

import type { IncomingRequest } from "./incoming-request.ts";
import type { ConnectionLimits } from "./limits.ts";
import type { Log } from "./log.ts";
import type { RequestOptions } from "./pending-requests.ts";
import type { Fault } from "./transport.ts";

/** What the owner of a connection does with the peer's messages. Both start in arrival order. */
export interface Handlers {
  /** Returns the result or a promise of it; throws or rejects with RequestError to answer with an error. */
  request(method: string, params: unknown, request: IncomingRequest): unknown;
  /** Synchronous by type, so that an update that precedes a response is seen before that response. */
  notification(method: string, params: unknown, text: string): undefined;
}

export interface ConnectionOptions {
  readonly handlers: Handlers;
  readonly limits?: Partial<ConnectionLimits>;
  /** Silent by default. */
  readonly log?: Log;
  /** Sees the text of every message in both directions, in order, and the head of every refused frame. */
  readonly tap?: (direction: "in" | "out", text: string, fault?: Fault) => void;
  /** What `maxInFlightPerScope` counts by; for ACP the session. */
  readonly scopeOf?: (params: unknown) => string | undefined;
  /** Default "accept": the arrays of JSON-RPC 2.0. "reject" answers each one with a single -32600 (B9). */
  readonly batches?: "accept" | "reject";
  /** Says why these calls may not travel in one batch, or nothing. */
  readonly refuseBatch?: (calls: readonly BatchCall[]) => string | undefined;
  /**
   * What to do with lines that are not JSON. "answer" (default): -32700 each. "skip": a line that does
   * not begin like a message is counted and logged, for clients that read an agent's stdout.
   */
  readonly noise?: "answer" | "skip";
  /** How long running handlers may go on to their answer when the connection ends. Default 1,500 ms. */
  readonly drainMs?: number;
}

export interface BatchCall {
  readonly method: string;
  readonly params?: unknown;
  /** Sent without an id, never answered. Default false. */
  readonly notification?: boolean;
  readonly options?: RequestOptions<unknown>;
}

/** What was counted instead of answered. */
export interface ConnectionCounters {
  /** Answers that nobody waited for: unknown, late or repeated ids (N053, N054, N057, N059). */
  strayAnswers: number;
  /** Frames and messages that could not be read, malformed answers included (N055, N056, N058). */
  refused: number;
  /** Lines on the wire that were no messages at all. */
  noise: number;
  /** Errors with `id: null` that were not sent because there were too many. */
  unsentErrors: number;
  /** Messages that were not sent because the connection had ended. */
  dropped: number;
}

export function newCounters(): ConnectionCounters {
  return { strayAnswers: 0, refused: 0, noise: 0, unsentErrors: 0, dropped: 0 };
}
