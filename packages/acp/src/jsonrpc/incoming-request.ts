// A request of the peer, as its handler sees it.

import type { RequestId } from "./message-id.ts";
import type { RequestOptions } from "./pending-requests.ts";

/** A request of the peer while its handler runs. */
export interface IncomingRequest {
  /** The id that the peer gave it. */
  readonly id: RequestId;
  /** The name of the method. */
  readonly method: string;
  /** Aborts when the peer cancels this request or the connection closes. Pass it to everything that takes one. */
  readonly signal: AbortSignal;
  /** Whether the peer has cancelled this request or the connection is closing. */
  readonly isCancelled: boolean;
  /** Whether it is part of a batch. Its answer is then sent together with the others of the batch. */
  readonly isBatched: boolean;
  /** Runs the callback right after the reply has been queued, before anything later; at once if it already was. */
  afterReply(callback: () => void): void;
  /** Sends a request to the peer that is cancelled together with this one. */
  request<Result = unknown>(
    method: string,
    params?: unknown,
    options?: RequestOptions<Result>,
  ): Promise<Result>;
}
