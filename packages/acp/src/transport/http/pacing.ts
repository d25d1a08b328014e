// Retry settings for HTTP requests and streams.

import { deadline } from "../../base/deadline.ts";

export interface Pacing {
  /**
   * When a stream is taken to be open without an answer. Some servers send the head of a stream together with its
   * first event, which may be the answer to a message that waits for the stream.
   */
  readonly openTimeoutMs: number;
  readonly maxRetries: number;
  /** Doubled with each attempt. */
  readonly backoffMs: number;
}

/** The longest pause that a server may ask for. */
export const longestPauseMs = 10_000;

export function backoff({ backoffMs }: Pacing, attempt: number): number {
  return backoffMs * 2 ** (attempt - 1);
}

/** Resolves after `ms`, or when the signal aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = deadline(ms, done);
    signal.addEventListener("abort", done, { once: true });
  });
}
