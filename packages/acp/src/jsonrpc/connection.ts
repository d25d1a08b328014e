// Implements a JSON-RPC 2.0 connection between two peers.

import { type Deadline, deadline, milliseconds } from "../base/deadline.ts";
import { type BatchHost, BatchReply } from "./batch-reply.ts";
import { guardedLog, guardedTap } from "./callbacks.ts";
import {
  type BatchCall,
  type ConnectionCounters,
  type ConnectionLimits,
  type ConnectionOptions,
  connectionLimits,
  type Log,
  newCounters,
} from "./connection-options.ts";
import type { ConnectionParts } from "./connection-state.ts";
import { ConnectionError } from "./errors.ts";
import { cancelMethod, InboundRequests } from "./inbound-requests.ts";
import { batchProblem, InvalidInput, invalidRequest } from "./invalid-input.ts";
import { batchEntryTexts } from "./json-text.ts";
import { type Envelope, exactId, idProblem, isExact, type RequestId } from "./message-id.ts";
import { Output } from "./output.ts";
import type { AnswerTaker, ForwardHooks, PassedCall } from "./passed-call.ts";
import {
  checkBatch,
  checkTimes,
  notSent,
  PendingRequests,
  type RequestOptions,
  SentBatches,
  type SentHook,
  unanswered,
} from "./pending-requests.ts";
import { claimTransport, type EndReason, type Sink, type Transport } from "./transport.ts";

/** The output of a connection, for callers that have messages as text. */
export let outputOf: (connection: Connection) => Output;
/** The parts of a connection, to put it down and take it up again. */
export let partsOf: (connection: Connection) => ConnectionParts;
/** Sets which ids the peer may use: "any" takes null and fractions, as v1 does; "strict" takes strings and integers, as v2 does. */
export let setIdPolicy: (connection: Connection, policy: "any" | "strict") => void;

/**
 * A JSON-RPC connection. Handlers start in the order of the wire: nothing is awaited before they start.
 *
 * @example
 * import { Connection } from "@parley/acp/jsonrpc";
 * import { memoryPair } from "@parley/acp/transport";
 *
 * const [near, far] = memoryPair();
 * const handlers = { request: (method: string) => `${method} was called`, notification: () => undefined };
 * const server = new Connection(far, { handlers });
 * const caller = new Connection(near, { handlers });
 * console.log(await caller.request("hello", {}, { timeoutMs: 5_000 }), server.inFlight);
 * await caller.close();
 */
export class Connection {
  /** Resolves with the reason when the connection has closed; never rejects. */
  readonly closed: Promise<ConnectionError>;
  readonly #closed: PromiseWithResolvers<ConnectionError>;
  /** Counts of messages that were ignored, refused or dropped. */
  readonly counters: ConnectionCounters = newCounters();
  readonly #transport: Transport;
  readonly #output: Output;
  readonly #options: ConnectionOptions;
  readonly #limits: ConnectionLimits;
  readonly #log: Log;
  readonly #inbound: InboundRequests;
  readonly #pending: PendingRequests;
  readonly #invalidInput: InvalidInput;
  readonly #batchHost: BatchHost;
  readonly #sentBatches: SentBatches;
  readonly #drainMs: number;
  #idPolicy: "any" | "strict" = "any";
  #nextId = 1;
  #phase: "open" | "draining" | "closed" = "open";
  #endReason: ConnectionError | undefined;
  #lingers = false;

  /**
   * Starts the transport and reads from it.
   *
   * @throws {TypeError} When the transport has a connection already, or when a limit or time is not a number above 0.
   */
  constructor(transport: Transport, options: ConnectionOptions) {
    this.#transport = transport;
    this.#options = options;
    this.#limits = connectionLimits(options.limits);
    this.#drainMs = milliseconds("drainMs", options.drainMs ?? 1_500);
    claimTransport(transport);
    this.#closed = Promise.withResolvers();
    this.closed = this.#closed.promise;
    this.#log = guardedLog(options.log);
    this.#pending = new PendingRequests((id) => this.#sendCancel(id), this.#log, transport.attachment);
    this.#sentBatches = new SentBatches(this.#pending);
    const tap = guardedTap(options.tap, this.#log);
    this.#output = new Output(transport, {
      counters: this.counters,
      tap,
      maxSentBytes: this.#limits.maxSentBytes,
      awaitsAnswers: () => this.#pending.awaitsAnswers,
    });
    this.#invalidInput = new InvalidInput({
      counters: this.counters,
      limits: this.#limits,
      log: this.#log,
      skipNoise: options.noise === "skip",
      send: (message) => this.#output.sendAnswer(message),
      isRunning: (id) => this.#inbound.has(id),
      awaitsAnswers: () => this.#pending.size > 0,
      failPending: (id, error) => this.#pending.fail(id, error),
      giveUp: (error) => this.#end(error),
    });
    this.#inbound = new InboundRequests(options, {
      sendAnswer: (message, text) => this.#output.sendAnswer(message, text),
      request: (method, params, more) => this.request(method, params, more),
      limits: this.#limits,
      log: this.#log,
    });
    const send: BatchHost["send"] = (replies, text) => this.#output.sendAnswer(replies, text);
    this.#batchHost = { limits: this.#limits, log: this.#log, heldSize: 0, send };
    transport.start(this.#sink(tap));
  }

  /** Whether it can send. False as soon as either side has begun to close. */
  get isOpen(): boolean {
    return this.#phase === "open";
  }

  /** How many handlers of the peer's requests are running. */
  get inFlight(): number {
    return this.#inbound.size;
  }

  /** Sends a request. Rejects with RequestError (the peer's answer) or ConnectionError (no answer). */
  request<Result = unknown>(
    method: string,
    params?: unknown,
    options: RequestOptions<Result> = {},
  ): Promise<Result> {
    checkTimes(options);
    const refusal = notSent(method, this.#endReason, options.signal);
    if (refusal !== undefined) return Promise.reject(refusal);
    const id = this.#nextId++;
    (options as SentHook).sent?.(id); // not a public option: only a relay gives it
    // sent first: a message that cannot be serialised throws here, before it is registered
    this.#output.send({ jsonrpc: "2.0", id, method, params });
    return this.#expect(id, method, options);
  }

  /** Forwards a request of another peer. Returns its id, or undefined when nothing can be sent: the taker has been told. */
  pass(call: PassedCall, taker: AnswerTaker): number | undefined {
    const { method, params, text } = call;
    const refusal = notSent(method, this.#endReason, undefined);
    if (refusal !== undefined) {
      taker.failed(refusal);
      return undefined;
    }
    const id = this.#nextId++;
    this.#output.send({ jsonrpc: "2.0", id, method, params }, text(id));
    this.#pending.pass(id, method, taker);
    this.#afterSending(id, method);
    return id;
  }

  /** Tells the peer that nobody waits for the answer to a forwarded request any more. The peer answers all the same. */
  cancel(id: number): void {
    if (this.#pending.has(id)) this.#sendCancel(id);
  }

  /** A cancel of the peer that came in another message. */
  cancelled(requestId: unknown): void {
    this.#inbound.cancel(requestId);
  }

  /** Resolves when there is room for output again; undefined while there is. */
  get room(): Promise<void> | undefined {
    return this.#output.room;
  }

  /**
   * Sends a notification. Returns a promise only when the peer is slow; await it before sending more. After the
   * connection has ended it never throws, and its promise resolves in a later turn of the event loop, so that a
   * loop that awaits it does not block timers.
   */
  notify(method: string, params?: unknown): Promise<void> | undefined {
    return this.#output.notify({ jsonrpc: "2.0", method, params });
  }

  static {
    outputOf = (connection) => connection.#output;
    partsOf = (connection) => ({
      pending: connection.#pending,
      inbound: connection.#inbound,
      batchHost: connection.#batchHost,
      nextId: connection.#nextId,
      continueAt: (nextId) => {
        connection.#nextId = nextId;
        connection.#invalidInput.sawGoodMessage = true;
      },
      handle: (message, text, batch) => connection.#entry(message, text, batch),
    });
    setIdPolicy = (connection, policy) => {
      connection.#idPolicy = policy;
    };
  }

  /** Sends calls as one array, for peers that accept batches. Returns one promise per call, `undefined` for notifications. */
  batch(calls: readonly BatchCall[]): (Promise<unknown> | undefined)[] {
    checkBatch(calls, this.#options.refuseBatch);
    const refusals = calls.map((call) => notSent(call.method, this.#endReason, call.options?.signal));
    const ids = calls.map((call, i) => (call.notification || refusals[i] ? undefined : this.#nextId++));
    const entries = calls.map(({ method, params }, i) => ({ jsonrpc: "2.0", id: ids[i], method, params }));
    const sent = entries.filter((_, i) => refusals[i] === undefined);
    if (sent.length > 0) this.#output.send(sent);
    this.#sentBatches.add(ids);
    return calls.map(({ method, notification, options }, i) => {
      const id = ids[i];
      if (id !== undefined) return this.#expect(id, method, options ?? {});
      return notification ? undefined : Promise.reject(refusals[i]);
    });
  }

  /** Rejects pending requests, lets running handlers answer (`drainMs`), flushes and closes. Further calls do nothing. */
  async close(reason = "the connection was closed by this side"): Promise<void> {
    this.#end(new ConnectionError("closed", reason));
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #expect<Result>(id: number, method: string, options: RequestOptions<Result>): Promise<Result> {
    const promise = this.#pending.add(id, method, options);
    this.#afterSending(id, method);
    return promise;
  }

  #afterSending(id: number, method: string): void {
    // it may have ended the connection (overflow)
    if (this.#endReason !== undefined) this.#pending.fail(id, unanswered(method, this.#endReason));
    this.#output.resumeInput();
  }

  #sendCancel(requestId: number): void {
    if (this.#phase !== "open") return;
    this.#output.send({ jsonrpc: "2.0", method: cancelMethod, params: { requestId } });
  }

  #sink(tap: ConnectionOptions["tap"]): Sink {
    const { unread } = this.#options as ForwardHooks; // not a public option: only a forwarder gives it
    return {
      message:
        tap === undefined
          ? (value, text) => this.#message(value, text)
          : (value, text) => {
              tap("in", text);
              this.#message(value, text);
            },
      idle: () => undefined,
      reject: (fault) => {
        tap?.("in", fault.head, fault);
        if (this.#phase === "open") this.#invalidInput.frame(fault);
      },
      drain: () => this.#output.drained(),
      end: (reason) => this.#transportEnded(reason),
      ...(tap === undefined && unread && { unread: (...at) => (this.isOpen ? unread(...at) : at[1]) }),
    };
  }

  #message(value: unknown, text: string): void {
    if (this.#phase === "draining") return this.#inbound.refuseLate(value);
    if (this.#phase !== "open") return;
    if (Array.isArray(value)) this.#batch(value, text);
    else this.#entry(value, text, undefined);
  }

  #entry(value: unknown, text: string, batch: BatchReply | undefined): void {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      return this.#invalidInput.notAnObject(text, batch);
    }
    const message: Envelope = value;
    const { method } = message;
    if (message.jsonrpc !== "2.0") {
      if (method === undefined) this.#failAnswered(message.id, "without jsonrpc 2.0");
      return this.#invalidInput.message(invalidRequest('jsonrpc must be "2.0"', "/jsonrpc"), batch);
    }
    if (method === undefined) return this.#answer(message, text, batch);
    if (typeof method !== "string")
      return this.#invalidInput.message(invalidRequest("method must be a string", "/method"), batch);
    if (message.result !== undefined || message.error !== undefined) {
      return this.#invalidInput.callWithOutcome(batch);
    }
    this.#invalidInput.sawGoodMessage = true;
    if (message.id === undefined) this.#inbound.notify(method, message.params, text);
    else this.#request(message, method, text, batch);
  }

  #request(message: Envelope, method: string, text: string, batch: BatchReply | undefined): void {
    let { id } = message;
    if (typeof id === "number" && !isExact(id)) id = exactId(text, id);
    const problem = idProblem(id, this.#idPolicy, this.#limits.maxIdLength);
    if (problem !== undefined) return this.#invalidInput.message(invalidRequest(problem, "/id"), batch);
    // idProblem accepts request ids only
    const known = id as RequestId;
    if (this.#inbound.has(known)) return this.#invalidInput.duplicateId(batch);
    this.#inbound.start(known, method, message.params, { batch, text });
  }

  #answer(message: Envelope, text: string, batch: BatchReply | undefined): void {
    const { id } = message;
    const hasOutcome = "result" in message || "error" in message;
    // params are of a request, and an answer has none
    if (!hasOutcome && (id === undefined || "params" in message)) {
      return this.#invalidInput.emptyMessage(batch);
    }
    this.#invalidInput.sawGoodMessage = true;
    const outcome = this.#pending.settle(id, message, text);
    if (outcome === "malformed") this.counters.refused++;
    if (outcome !== "stray") return;
    const namesNothing = (id === null || id === undefined) && "error" in message && batch === undefined;
    if (!namesNothing || !this.#sentBatches.failOldest()) this.counters.strayAnswers++;
  }

  #failAnswered(id: unknown, what: string): void {
    // creating an error is expensive, so only for a pending request
    if (!this.#pending.has(id)) return;
    this.#pending.fail(id, new ConnectionError("protocol", `the peer answered ${what}`));
  }

  #batch(entries: readonly unknown[], text: string): void {
    if (this.#options.noise === "skip" && !entries.some((entry) => typeof entry === "object" && entry)) {
      return this.#invalidInput.notAnObject(text, undefined);
    }
    const problem = batchProblem(entries, this.#options.batches, this.#limits);
    if (problem !== undefined) return this.#invalidInput.message(problem);
    const reply = new BatchReply(this.#batchHost);
    const texts = batchEntryTexts(text);
    for (const [i, entry] of entries.entries()) this.#entry(entry, texts[i] ?? "", reply);
    reply.seal();
  }

  #transportEnded(reason: EndReason): void {
    const hooks = this.#options as ForwardHooks; // as for `unread`
    hooks.ended?.(reason);
    this.#lingers = hooks.lingers === true && reason.kind === "eof";
    // after the end of input, running handlers can still answer
    if (reason.kind !== "eof") this.#output.shut();
    const kind = reason.kind === "eof" ? "closed" : reason.kind;
    this.#end(new ConnectionError(kind, reason.message ?? "the peer closed the connection", reason));
  }

  #end(reason: ConnectionError): void {
    if (this.#phase === "open") {
      this.#phase = "draining";
      this.#endReason = reason;
      this.#output.hasEnded = true;
      this.#log(reason.kind === "closed" ? "debug" : "warn", "connection ends", { kind: reason.kind });
      this.#pending.failAll((method) => unanswered(method, reason));
      this.#inbound.abortAll(reason);
      if (!this.#lingers) this.#waitForHandlers();
    } else if (this.#lingers || !this.#output.isOpen) {
      this.#lingers = false;
      this.#waitForHandlers();
    }
    this.#output.releaseWaiters();
  }

  #waitForHandlers(): void {
    if (!this.#output.isOpen) this.#inbound.giveUpAll();
    let timer: Deadline;
    this.#inbound.whenEmpty(() => {
      clearTimeout(timer);
      this.#finish();
    });
    if (this.#phase === "draining" && this.#inbound.size > 0) {
      timer = deadline(this.#drainMs, () => this.#inbound.giveUpAll());
    }
  }

  #finish(): void {
    if (this.#phase === "closed") return;
    this.#phase = "closed";
    const reason = this.#endReason ?? new ConnectionError("closed", "closed");
    this.#transport.close(this.#output.isOpen ? undefined : reason).then(
      () => this.#closed.resolve(reason),
      (error: unknown) => {
        this.#log("warn", "closing the transport failed", { error });
        this.#closed.resolve(reason);
      },
    );
    this.#output.shut();
  }
}
