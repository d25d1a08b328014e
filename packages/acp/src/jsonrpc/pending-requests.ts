// Tracks our requests until they are answered, time out, are cancelled, or the connection ends.

import { backgroundDeadline, type Deadline, deadline, milliseconds } from "../base/deadline.ts";
import type { BatchCall, ConnectionOptions, Log } from "./connection-options.ts";
import { ConnectionError, RequestError, requestErrorFrom } from "./errors.ts";
import type { AnswerTaker, PassedAnswer } from "./passed-call.ts";
import type { Attachment } from "./transport.ts";

/** The signal and the time limits of one request. */
export interface RequestOptions<Result> {
  /**
   * Sends `$/cancel_request` when it aborts. The peer may still answer; without an answer after
   * `cancelGraceMs` the promise rejects with ConnectionError "aborted".
   */
  readonly signal?: AbortSignal | undefined;
  /** How long to wait for an answer to a cancelled request, in milliseconds. 0 rejects at once. Default 10,000. */
  readonly cancelGraceMs?: number | undefined;
  /**
   * How long to wait for the answer, in milliseconds. Then the request is cancelled at the peer, and the promise
   * rejects with ConnectionError "timeout". The time begins anew when a peer comes back that was away. Default: no limit.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Converts the raw result. Called synchronously when the answer arrives, before any later message of the peer.
   * If it throws, the promise rejects.
   */
  readonly receive?: ((result: unknown) => Result) | undefined;
}

/** For a relay, beside the options of a request. */
export interface SentHook {
  /** Called with the id of the request, before it is sent. */
  readonly sent?: ((id: number) => void) | undefined;
}

/** For a client, whose connection can be put down, beside the options of a request. */
export interface NoteHook {
  /** What the answer is for. It is kept with the request. */
  readonly note?: unknown;
  /** The request was sent before the connection was put down: its answer is awaited, and nothing is sent. */
  readonly resumed?: PendingState | undefined;
  /** Called with the error of an answer when it is dispatched, before any later message of the peer. The promise rejects too. */
  readonly refused?: ((error: Error) => void) | undefined;
}

/** A request that waits for its answer, as JSON. */
export interface PendingState {
  readonly id: number;
  readonly method: string;
  readonly isCancelled?: boolean;
  readonly timeoutMs?: number;
}

interface Pending {
  readonly method: string;
  readonly note: unknown;
  readonly refused: NoteHook["refused"];
  readonly timeoutMs: number | undefined;
  /** The peer has been told that nobody wants the answer. */
  isCancelled: boolean;
  /** Only of requests that are forwarded. */
  readonly taker?: AnswerTaker;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly receive: ((result: unknown) => unknown) | undefined;
  timer: Deadline;
  /** Begins its time limit anew, unless the peer is away. */
  startTimer: (() => void) | undefined;
  stopListening: (() => void) | undefined;
}

/** Throws a TypeError for invalid times, before anything has been sent. */
export function checkTimes({ timeoutMs, cancelGraceMs }: Omit<RequestOptions<never>, "receive">): void {
  if (timeoutMs !== undefined) milliseconds("timeoutMs", timeoutMs);
  if (cancelGraceMs !== undefined) milliseconds("cancelGraceMs", cancelGraceMs);
}

/** The same for calls that are sent as one array. */
export function checkBatch(calls: readonly BatchCall[], refuse: ConnectionOptions["refuseBatch"]): void {
  if (calls.length === 0) throw new TypeError("batch: expected at least one call, got none");
  const reason = refuse?.(calls);
  if (reason !== undefined) throw new TypeError(`batch: ${reason}`);
  for (const call of calls) checkTimes(call.options ?? {});
}

/** Why a request cannot be sent, or undefined. */
export function notSent(
  method: string,
  ended: ConnectionError | undefined,
  signal: AbortSignal | undefined,
): ConnectionError | undefined {
  if (ended !== undefined)
    return new ConnectionError(ended.kind, `${method}: not sent, ${ended.message}`, ended);
  if (!signal?.aborted) return undefined;
  return new ConnectionError("aborted", `${method}: cancelled before it was sent`, { cause: signal.reason });
}

/** The error of a request whose answer cannot come any more. */
export function unanswered(method: string, ended: ConnectionError): ConnectionError {
  return new ConnectionError(ended.kind, `${method}: no answer, ${ended.message}`, ended);
}

/** How many abandoned requests are remembered until their late answer arrives. */
const maxGivenUp = 1_024;

export class PendingRequests {
  #pending = new Map<unknown, Pending>();
  #givenUp = new Set<unknown>();
  readonly #sendCancel: (id: number) => void;
  readonly #log: Log;
  readonly #attachment: Attachment | undefined;
  #sawStringId = false;

  constructor(sendCancel: (id: number) => void, log: Log, attachment: Attachment | undefined) {
    this.#sendCancel = sendCancel;
    this.#log = log;
    this.#attachment = attachment;
    attachment?.onChange(() => {
      for (const { startTimer } of this.#pending.values()) startTimer?.();
    });
  }

  /** Whether the peer still has to answer, requests that we have abandoned included. */
  get awaitsAnswers(): boolean {
    return this.#pending.size > 0 || this.#givenUp.size > 0;
  }

  get size(): number {
    return this.#pending.size;
  }

  has(id: unknown): boolean {
    return this.#pending.has(this.#known(id));
  }

  /** Our ids are numbers. Some peers repeat them as strings, which can mean nothing else. */
  #known(id: unknown): unknown {
    if (typeof id !== "string" || !/^[1-9]\d{0,15}$/.test(id)) return id;
    const number = Number(id);
    if (!this.#pending.has(number) && !this.#givenUp.has(number)) return id;
    if (!this.#sawStringId)
      this.#log("warn", "the peer repeats ids as strings: they are taken for the numbers that were sent", {
        id,
      });
    this.#sawStringId = true;
    return number;
  }

  /** All that wait, each with its note, in the order in which they were sent. */
  get list(): readonly (PendingState & { readonly note: unknown })[] {
    return [...this.#pending].map(([id, { method, note, isCancelled, timeoutMs }]) => ({
      id: id as number, // the key of `add`
      method,
      note,
      ...(isCancelled && { isCancelled }),
      ...(timeoutMs !== undefined && { timeoutMs }),
    }));
  }

  /** The ids of abandoned requests whose answer may still come. */
  get givenUp(): readonly number[] {
    return [...this.#givenUp] as number[]; // as above
  }

  /** Waits for the answers that another connection of the same peer has given up waiting for. */
  giveUpToo(ids: readonly number[]): void {
    for (const id of ids) this.#givenUp.add(id);
  }

  /** Waits for the answer to a request that was sent before. Its time limits begin anew. */
  adopt<Result>(
    { id, method, isCancelled = false, timeoutMs }: PendingState,
    options: RequestOptions<Result> & NoteHook,
  ): Promise<Result> {
    const answered = this.add(id, method, { ...options, timeoutMs });
    const entry = this.#pending.get(id);
    if (isCancelled && entry !== undefined) this.#awaitCancelled(id, entry, 10_000, undefined);
    return answered;
  }

  add<Result>(id: number, method: string, options: RequestOptions<Result> & NoteHook): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const entry: Pending = {
        method,
        note: options.note,
        refused: options.refused,
        timeoutMs: options.timeoutMs,
        isCancelled: false,
        // settle() passes what `receive` returned, which is a Result, or the raw result without it
        resolve: resolve as (value: unknown) => void,
        reject,
        receive: options.receive,
        timer: undefined,
        startTimer: undefined,
        stopListening: undefined,
      };
      this.#pending.set(id, entry);
      if (options.timeoutMs !== undefined) this.#startDeadline(id, entry, options.timeoutMs);
      if (options.signal !== undefined)
        this.#listen(id, entry, options.signal, options.cancelGraceMs ?? 10_000);
    });
  }

  /** The same for a request that is forwarded. It has no time limit: whoever asked has. */
  pass(id: number, method: string, taker: AnswerTaker): void {
    this.#pending.set(id, {
      method,
      note: undefined,
      refused: undefined,
      timeoutMs: undefined,
      isCancelled: false,
      taker,
      resolve: () => undefined,
      reject: (error) => taker.failed(error),
      receive: undefined,
      timer: undefined,
      startTimer: undefined,
      stopListening: undefined,
    });
  }

  /** Takes the peer's answer: "stray" for an unknown id, "malformed" for an answer without a valid outcome. */
  settle(id: unknown, message: PassedAnswer, text: string): "ok" | "malformed" | "stray" {
    const entry = this.#take(id);
    if (entry === undefined) {
      this.#givenUp.delete(this.#known(id));
      return "stray";
    }
    const hasResult = "result" in message;
    if (hasResult === "error" in message) {
      const what = hasResult ? "both a result and an error" : "neither a result nor an error";
      const message = `${entry.method}: the peer answered with ${what}`;
      refuse(entry, new ConnectionError("protocol", message));
      return "malformed";
    }
    if (entry.taker !== undefined) {
      entry.taker.answered(message, text);
      return "ok";
    }
    if (!hasResult) {
      const error = errorFromWire(entry.method, message.error);
      refuse(entry, error);
      return error instanceof RequestError ? "ok" : "malformed";
    }
    try {
      entry.resolve(entry.receive === undefined ? message.result : entry.receive(message.result));
    } catch (error) {
      refuse(entry, error instanceof Error ? error : new Error(String(error)));
    }
    return "ok";
  }

  fail(id: unknown, error: Error): boolean {
    const entry = this.#take(id);
    entry?.reject(error);
    return entry !== undefined;
  }

  failAll(makeError: (method: string) => Error): void {
    for (const [id, entry] of [...this.#pending]) this.fail(id, makeError(entry.method));
  }

  /** Rejects before the answer came: it may still come. */
  #giveUp(id: unknown, error: Error): boolean {
    if (!this.fail(id, error)) return false;
    this.#givenUp.add(id);
    if (this.#givenUp.size > maxGivenUp) this.#givenUp.delete(this.#givenUp.values().next().value);
    return true;
  }

  #take(given: unknown): Pending | undefined {
    const id = this.#known(given);
    const entry = this.#pending.get(id);
    if (entry === undefined) return undefined;
    this.#pending.delete(id);
    if (entry.timer !== undefined) clearTimeout(entry.timer);
    if (entry.stopListening !== undefined) entry.stopListening();
    return entry;
  }

  #startDeadline(id: number, entry: Pending, timeoutMs: number): void {
    const late = () => {
      const error = new ConnectionError("timeout", `${entry.method}: no answer within ${timeoutMs} ms`);
      if (this.#giveUp(id, error)) this.#sendCancel(id);
    };
    entry.startTimer = () => {
      clearTimeout(entry.timer);
      entry.timer = this.#attachment?.isAttached === false ? undefined : deadline(timeoutMs, late);
    };
    entry.startTimer();
  }

  #listen(id: number, entry: Pending, signal: AbortSignal, graceMs: number): void {
    const onAbort = () => {
      // a request that was taken up again may have been cancelled before
      if (!entry.isCancelled) this.#sendCancel(id);
      this.#awaitCancelled(id, entry, graceMs, signal);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    entry.stopListening = () => signal.removeEventListener("abort", onAbort);
  }

  /** The peer may still answer what it was told to cancel. */
  #awaitCancelled(id: number, entry: Pending, graceMs: number, signal: AbortSignal | undefined): void {
    const giveUp = () => {
      const error = new ConnectionError("aborted", `${entry.method}: cancelled`, { cause: signal?.reason });
      this.#giveUp(id, error);
    };
    entry.isCancelled = true;
    if (graceMs <= 0) return void giveUp();
    // the request's own deadline goes on
    const { timer } = entry;
    entry.startTimer = undefined;
    entry.stopListening = () => clearTimeout(timer);
    entry.timer = backgroundDeadline(graceMs, giveUp);
  }
}

function refuse({ refused, reject }: Pick<Pending, "refused" | "reject">, error: Error): void {
  refused?.(error);
  reject(error);
}

/** The error of an answer to a request of this method. */
export function errorFromWire(method: string, error: unknown): Error {
  if (typeof error === "object" && error !== null) {
    const { code, message, data } = error as { code?: unknown; message?: unknown; data?: unknown };
    if (typeof code === "number" && Number.isInteger(code)) {
      const text = typeof message === "string" ? message : "the peer gave no message";
      return requestErrorFrom({ code, message: text, data }, method);
    }
  }
  return new ConnectionError(
    "protocol",
    `${method}: the peer answered with an error that has no integer code`,
  );
}

/** Fails the requests of a batch that the peer refused as a whole, with one error without an id. */
export class SentBatches {
  readonly #pending: PendingRequests;
  /** The ids of each batch, oldest first. */
  #batches: (readonly number[])[] = [];

  constructor(pending: PendingRequests) {
    this.#pending = pending;
  }

  add(ids: readonly (number | undefined)[]): void {
    this.#batches = this.#batches.filter((batch) => batch.some((id) => this.#pending.has(id)));
    const requests = ids.filter((id) => id !== undefined);
    if (requests.length > 0) this.#batches.push(requests);
  }

  /** Fails the oldest batch that waits for answers. False when there is none. */
  failOldest(): boolean {
    for (let batch = this.#batches.shift(); batch !== undefined; batch = this.#batches.shift()) {
      const reason = new ConnectionError(
        "protocol",
        "the peer does not accept batches: send the calls one by one",
      );
      if (batch.map((id) => this.#pending.fail(id, reason)).includes(true)) return true;
    }
    return false;
  }
}
