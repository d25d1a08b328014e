// A request of the peer while it is being answered.

import type { BatchReply } from "./batch-reply.ts";
import { callSafely } from "./callbacks.ts";
import type { Log } from "./connection-options.ts";
import { ConnectionError } from "./errors.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { RequestId } from "./message-id.ts";
import type { RequestOptions } from "./pending-requests.ts";

/** The connection that a request came on. */
export interface RequestOwner {
  readonly log: Log;
  request<Result>(method: string, params: unknown, options: RequestOptions<Result>): Promise<Result>;
}

/** A request of the peer with what the connection keeps about it. */
export class RunningRequest implements IncomingRequest {
  readonly id: RequestId;
  readonly method: string;
  readonly scope: string | undefined;
  readonly batch: BatchReply | undefined;
  /** Characters of its message. */
  readonly size: number;
  /** Its message; empty where it is not kept. */
  text = "";
  readonly #owner: RequestOwner;
  #controller: AbortController | undefined;
  #abortReason: Error | undefined;
  #afterReply: (() => void)[] | undefined;
  #replied = false;

  constructor(
    owner: RequestOwner,
    id: RequestId,
    method: string,
    details: Pick<RunningRequest, "scope" | "batch" | "size">,
  ) {
    this.#owner = owner;
    this.id = id;
    this.method = method;
    this.scope = details.scope;
    this.batch = details.batch;
    this.size = details.size;
  }

  /** Created on first use. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#abortReason !== undefined) this.#controller.abort(this.#abortReason);
    }
    return this.#controller.signal;
  }

  get isBatched(): boolean {
    return this.batch !== undefined;
  }

  get isCancelled(): boolean {
    return this.#abortReason !== undefined;
  }

  afterReply(callback: () => void): void {
    this.#afterReply ??= [];
    this.#afterReply.push(callback);
    if (this.#replied) this.runAfterReply();
  }

  request<Result = unknown>(
    method: string,
    params?: unknown,
    options: RequestOptions<Result> = {},
  ): Promise<Result> {
    const signal =
      options.signal === undefined ? this.signal : AbortSignal.any([this.signal, options.signal]);
    return this.#owner.request(method, params, { ...options, signal });
  }

  abort(reason: Error): void {
    if (this.#abortReason !== undefined) return;
    this.#abortReason = reason;
    this.#controller?.abort(reason);
  }

  /** Whether a thrown value is the result of a cancellation. */
  isCancellation(error: unknown): boolean {
    // a handler may also abort its own work (X14)
    if (error instanceof Error && error.name === "AbortError") return true;
    if (this.#abortReason === undefined) return false;
    if (error === this.#abortReason) return true;
    if (error instanceof ConnectionError) {
      // a nested request rejects with the reason of the connection's end
      const ended = this.#abortReason instanceof ConnectionError ? this.#abortReason.kind : undefined;
      return error.kind === "aborted" || error.kind === ended;
    }
    return false;
  }

  /** The reply has been queued. */
  runAfterReply(): void {
    this.#replied = true;
    const callbacks = this.#afterReply;
    if (callbacks === undefined) return;
    this.#afterReply = undefined;
    const failed = (error: unknown) =>
      this.#owner.log("error", "an afterReply callback threw", { method: this.method, error });
    for (const callback of callbacks) callSafely(callback, failed);
  }
}
