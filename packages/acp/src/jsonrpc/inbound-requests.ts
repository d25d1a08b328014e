// Runs the handlers of the peer's messages and answers each request exactly once.

import { isPromiseLike } from "../base/objects.ts";
import type { BatchReply } from "./batch-reply.ts";
import { callSafely, reportRejection } from "./callbacks.ts";
import type { ConnectionLimits, ConnectionOptions, Log } from "./connection-options.ts";
import { errorCodes } from "./error-kinds.ts";
import {
  closing,
  handlerFailure,
  isResultOf,
  RequestError,
  rateLimited,
  readableThrown,
  tooMany,
  type WireError,
  wireParts,
} from "./errors.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { vanishes, withMember } from "./json-text.ts";
import { exactRequestId, idToJson, isExact, type RequestId } from "./message-id.ts";
import { LateAnswer, type PassedAnswer } from "./passed-call.ts";
import type { RequestOptions } from "./pending-requests.ts";

/** For a client, whose connection can be put down, beside the options of a connection. */
export interface InputHook {
  /** Whether the texts of requests are kept until they are answered, to handle them again. */
  readonly keepsInput?: boolean | undefined;
}

type Options = Pick<ConnectionOptions, "handlers" | "scopeOf" | "exposeErrors"> & InputHook;

export const cancelMethod = "$/cancel_request";

export interface InboundHost extends RequestOwner {
  /** Queues an answer, whose text may be known. Throws when it cannot be serialised. */
  sendAnswer(message: object, text?: string): void;
  readonly limits: ConnectionLimits;
}

export class InboundRequests {
  readonly #host: InboundHost;
  readonly #options: Options;
  readonly #running = new Map<RequestId, RunningRequest>();
  readonly #scopes = new Map<string, number>();
  /** Characters of the messages whose handlers are running. */
  #bytes = 0;
  #onEmpty: (() => void) | undefined;

  constructor(options: Options, host: InboundHost) {
    this.#options = options;
    this.#host = host;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Those whose handlers are running, in the order in which they came. */
  get list(): readonly RunningRequest[] {
    return [...this.#running.values()];
  }

  has(id: RequestId): boolean {
    return this.#running.size > 0 && this.#running.has(id);
  }

  /** `text` is the whole message. */
  start(
    id: RequestId,
    method: string,
    params: unknown,
    { batch, text }: { readonly batch: BatchReply | undefined; readonly text: string },
  ): void {
    if (method === cancelMethod) {
      const error = new RequestError("method_not_found", `${cancelMethod} is a notification`);
      return this.refuse(id, method, batch, error);
    }
    if (batch?.refusesRequests)
      return this.refuse(id, method, batch, rateLimited("too many batch answers are waiting"));
    const size = text.length;
    const scope = this.#scopeOf(method, params);
    const refusal = this.#overLimit(scope, size) ?? malformedName(id, method);
    if (refusal !== undefined) return this.refuse(id, method, batch, refusal);
    const request = new RunningRequest(this.#host, id, method, { scope, batch, size });
    if (this.#options.keepsInput) request.text = text;
    batch?.expect(request);
    try {
      const result = this.#options.handlers.request(method, params, request, text);
      if (result instanceof LateAnswer) return this.#await(request, result);
      if (isPromiseLike(result)) return this.#follow(request, result);
      // not tracked: nothing can cancel or repeat a request that is answered at once
      this.#answerResult(request, result);
    } catch (error) {
      this.#answerError(request, error);
    }
  }

  /** Answers a request with an error without calling its handler. */
  refuse(id: RequestId, method: string, batch: BatchReply | undefined, error: RequestError): void {
    const request = new RunningRequest(this.#host, id, method, { scope: undefined, batch, size: 0 });
    batch?.expect(request);
    this.#answerError(request, error);
  }

  /** Refuses a request that arrived while the connection closes, so that the peer does not wait for it. */
  refuseLate(message: unknown): void {
    const { id, method } = (message ?? {}) as { readonly id?: unknown; readonly method?: unknown };
    const isNamed = typeof id === "string" || (typeof id === "number" && Number.isSafeInteger(id));
    if (isNamed && typeof method === "string" && !this.has(id)) this.refuse(id, method, undefined, closing());
  }

  #follow(request: RunningRequest, result: PromiseLike<unknown>): void {
    this.#track(request);
    const failed = (error: unknown) => {
      if (this.#untrack(request)) this.#answerError(request, error);
      this.#noticeEmpty();
    };
    try {
      result.then((value) => {
        if (this.#untrack(request)) this.#answerResult(request, value);
        this.#noticeEmpty();
      }, failed);
    } catch (error) {
      // the `then` of a foreign promise may throw
      failed(error);
    }
  }

  /** A forwarded request is answered in the step in which its answer is known. */
  #await(request: RunningRequest, late: LateAnswer): void {
    this.#track(request);
    late.take((answer, text) => {
      if (this.#untrack(request)) this.#answerAs(request, answer, text);
      this.#noticeEmpty();
    });
  }

  #scopeOf(method: string, params: unknown): string | undefined {
    try {
      return this.#options.scopeOf?.(params);
    } catch (error) {
      this.#host.log("error", "scopeOf threw", { method, error });
      return undefined;
    }
  }

  notify(method: string, params: unknown, text: string): void {
    if (method === cancelMethod) {
      const requestId = (params as { requestId?: unknown } | null | undefined)?.requestId;
      if (typeof requestId !== "number" || isExact(requestId)) return this.cancel(requestId);
      return this.cancel(exactRequestId(text, requestId));
    }
    try {
      const returned: unknown = this.#options.handlers.notification(method, params, text);
      if (returned !== undefined)
        reportRejection(returned, (error) => this.#notificationFailed(method, error));
    } catch (error) {
      this.#notificationFailed(method, error);
    }
  }

  #notificationFailed(method: string, error: unknown): void {
    this.#host.log("error", "a notification handler threw", { method, error });
  }

  /** Unknown, answered and malformed ids are ignored. */
  cancel(id: unknown): void {
    // a value that is not an id is never found
    this.#running.get(id as RequestId)?.abort(new RequestError("cancelled", "cancelled by the peer"));
  }

  abortAll(reason: Error): void {
    for (const request of [...this.#running.values()]) request.abort(reason);
  }

  /** Answers every running request with RequestError "cancelled", so that none is left without an answer. */
  giveUpAll(): void {
    for (const request of [...this.#running.values()]) {
      if (this.#untrack(request)) {
        this.#answerError(request, closing());
      }
    }
    this.#noticeEmpty();
  }

  whenEmpty(callback: () => void): void {
    if (this.#running.size === 0) callback();
    else this.#onEmpty = callback;
  }

  #noticeEmpty(): void {
    if (this.#onEmpty === undefined || this.#running.size > 0) return;
    const callback = this.#onEmpty;
    this.#onEmpty = undefined;
    callback();
  }

  #overLimit(scope: string | undefined, size: number): RequestError | undefined {
    if (this.#running.size === 0) return undefined;
    const { maxInFlight, maxInFlightPerScope, maxInFlightBytes } = this.#host.limits;
    // a single request is always accepted: the transport has checked its size
    if (this.#bytes > 0 && this.#bytes + size > maxInFlightBytes) {
      return rateLimited(`too much at once: requests of ${this.#bytes} characters are running`);
    }
    if (this.#running.size >= maxInFlight) return tooMany(maxInFlight, "connection");
    if (scope !== undefined && (this.#scopes.get(scope) ?? 0) >= maxInFlightPerScope) {
      return tooMany(maxInFlightPerScope, "session");
    }
    return undefined;
  }

  #track(request: RunningRequest): void {
    this.#running.set(request.id, request);
    this.#bytes += request.size;
    if (request.scope !== undefined) {
      this.#scopes.set(request.scope, (this.#scopes.get(request.scope) ?? 0) + 1);
    }
  }

  /** False when the request has already been answered. */
  #untrack(request: RunningRequest): boolean {
    if (this.#running.get(request.id) !== request) return false;
    this.#running.delete(request.id);
    this.#bytes -= request.size;
    if (request.scope !== undefined) {
      const left = (this.#scopes.get(request.scope) ?? 1) - 1;
      if (left === 0) this.#scopes.delete(request.scope);
      else this.#scopes.set(request.scope, left);
    }
    return true;
  }

  #answerResult(request: RunningRequest, result: unknown): void {
    const id = idToJson(request.id);
    try {
      const written = result === undefined ? null : result;
      if (vanishes(written)) throw new TypeError(`JSON cannot hold a ${typeof written} as a result`);
      this.#deliver(request, { jsonrpc: "2.0", id, result: written });
    } catch (error) {
      const isTooLarge = error instanceof RequestError;
      const unsent = isTooLarge ? error : new TypeError("the result cannot be serialised", { cause: error });
      this.#answerError(request, unsent);
    }
  }

  /** `text` is the answer of another peer, with an id of its own. */
  #answerAs(request: RunningRequest, { result, error }: PassedAnswer, text: string | undefined): void {
    const id = idToJson(request.id);
    const outcome = error === undefined ? { result } : { error };
    try {
      const own = text === undefined ? undefined : withMember(text, "id", JSON.stringify(id));
      this.#deliver(request, { jsonrpc: "2.0", id, ...outcome }, own);
    } catch (problem) {
      this.#answerError(request, problem);
    }
  }

  #answerError(request: RunningRequest, thrown: unknown): void {
    const id = idToJson(request.id);
    const error = this.#wireError(request, thrown);
    try {
      this.#deliver(request, { jsonrpc: "2.0", id, error });
    } catch (problem) {
      // its data cannot be serialised, or it is too large
      const { method } = request;
      this.#host.log("error", "an error cannot be sent whole", { method, error: problem });
      const message = error.message.slice(0, 1_000);
      this.#deliver(request, { jsonrpc: "2.0", id, error: { code: error.code, message } });
    }
  }

  #deliver(request: RunningRequest, answer: object, text?: string): void {
    if (request.batch !== undefined) {
      request.batch.answer(request, answer, text);
      return;
    }
    this.#host.sendAnswer(answer, text);
    request.runAfterReply();
  }

  #wireError(request: RunningRequest, given: unknown): WireError {
    const thrown = readableThrown(given);
    if (thrown instanceof RequestError) return wireParts(thrown);
    if (request.isCancellation(thrown)) return { code: errorCodes.cancelled, message: "cancelled" };
    const correlationId = Math.random().toString(36).slice(2, 12);
    this.#host.log("error", "a request handler failed", {
      method: request.method,
      correlationId,
      error: thrown,
    });
    return wireParts(handlerFailure(thrown, correlationId, this.#options.exposeErrors === true));
  }
}

function malformedName(id: RequestId, method: string): RequestError | undefined {
  const where =
    typeof id === "string" && !id.isWellFormed() ? "id" : method.isWellFormed() ? undefined : "method";
  if (where === undefined) return undefined;
  return new RequestError("invalid_params", `${where} must be well-formed Unicode`, {
    data: { reason: "malformed_unicode", path: `/${where}` },
  });
}

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
    { scope, batch, size }: Pick<RunningRequest, "scope" | "batch" | "size">,
  ) {
    this.#owner = owner;
    this.id = id;
    this.method = method;
    this.scope = scope;
    this.batch = batch;
    this.size = size;
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
    return isResultOf(error, this.#abortReason);
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
