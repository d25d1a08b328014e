// Retry settings for HTTP requests and streams.

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
