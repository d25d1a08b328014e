// One event stream of a connection, opened again where that loses nothing (H12): when the server has ended it in
// order, or gave its events ids. A stream that was cut without ids may have lost events, and nobody would know
// which: that ends the connection, and the client comes back with a new one (H18).

import { type Deadline, deadline } from "../../base/deadline.ts";
import type { Fault } from "../../jsonrpc/transport.ts";
import { webPlatform } from "../byte-channel.ts";
import type { FrameLimits } from "../frame-limits.ts";
import { EventDecoder } from "./event-decoder.ts";
import type { Answer, HttpEndpoint } from "./http-endpoint.ts";
import { HttpFailure, networkWords } from "./http-failure.ts";

export interface StreamHost {
  readonly endpoint: HttpEndpoint;
  readonly limits: FrameLimits;
  readonly pacing: Pacing;
  /** What names this stream to the server. */
  readonly headers: Readonly<Record<string, string>>;
  /** For messages: "the connection", "the session". */
  readonly whose: string;
  message(value: unknown, text: string): void;
  reject(fault: Fault): void;
  idle(): void;
  /** It was open and is gone for good, or cannot be followed. */
  lost(kind: "closed" | "too_large" | "protocol", message: string, cause?: unknown): void;
}

/** How often and how fast something is tried again. */
export interface Pacing {
  /**
   * When a stream is taken to be open. Some servers send the head of a stream together with its first event, and a message
   * that waits for the head of a stream whose first event is the answer to the message would wait for ever.
   */
  readonly openTimeoutMs: number;
  readonly maxRetries: number;
  /** Doubled each time. */
  readonly backoffMs: number;
}

const wanted = "200 with content of type text/event-stream";
/** A stream that lived so long was worth opening, even if nothing was said. */
const usefulMs = 10_000;
/** Nobody waits longer than this because a server says so. */
const longestPauseMs = 10_000;
/** The server has another reader (maybe our last one, which it does not know to be gone), is busy or restarts. */
const passing: ReadonlySet<number | undefined> = new Set([undefined, 409, 429, 500, 502, 503, 504]);

export class HttpStream {
  /** Resolves when the stream is open, as far as one knows; rejects with HttpFailure when it cannot be opened. */
  readonly opened: Promise<void>;
  readonly #host: StreamHost;
  readonly #opening = Promise.withResolvers<void>();
  readonly #assumed: Deadline;
  #wasOpen = false;
  #closed = false;
  /** Aborts when nobody wants it any more, be it open or about to be. */
  readonly #over = new AbortController();
  #lastEventId = "";
  /** Set while nobody wants to read. */
  #paused: PromiseWithResolvers<void> | undefined;
  #wake: (() => void) | undefined;

  constructor(host: StreamHost, isPaused: boolean) {
    this.#host = host;
    this.opened = this.#opening.promise;
    // whoever sends waits for it; a stream that nobody waits for may fail unheard
    this.opened.catch(() => undefined);
    if (isPaused) this.pause();
    this.#assumed = deadline(host.pacing.openTimeoutMs, () => this.#isOpen());
    void this.#run();
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#assumed);
    this.resume();
    this.#wake?.();
    this.#over.abort();
    this.#opening.reject(new HttpFailure("the stream was closed"));
  }

  async #run(): Promise<void> {
    let fruitless = 0;
    while (!this.#closed) {
      const ending = await this.#once();
      if (this.#closed) return;
      fruitless = ending.wasUseful ? 0 : fruitless + 1;
      if (!ending.mayReopen || fruitless > this.#host.pacing.maxRetries) return this.#giveUp(ending);
      if (fruitless > 0) await this.#pause(ending.retryAfterMs, fruitless);
    }
  }

  #isOpen(): void {
    clearTimeout(this.#assumed);
    this.#wasOpen = true;
    this.#opening.resolve();
  }

  /** Opens the stream and reads it to its end. */
  async #once(): Promise<Ending> {
    let answer: Answer;
    try {
      answer = await this.#open();
    } catch (error) {
      const failure =
        error instanceof HttpFailure ? error : new HttpFailure(networkWords(error), { cause: error });
      const { status, retryAfterMs, message } = failure;
      const mayReopen = passing.has(status);
      return { kind: "closed", wasUseful: false, mayReopen, message, failure, retryAfterMs };
    }
    this.#isOpen();
    try {
      return this.#closed ? closed : await this.#read(answer);
    } finally {
      answer.release();
    }
  }

  async #open(): Promise<Answer> {
    const { endpoint, headers } = this.#host;
    const since = this.#lastEventId === "" ? {} : { "Last-Event-ID": this.#lastEventId };
    const call = {
      method: "GET",
      headers: { Accept: "text/event-stream", ...headers, ...since },
      wanted,
      signal: this.#over.signal,
    } as const;
    const answer = await endpoint.call(call);
    const type = answer.response.headers.get("content-type") ?? "";
    if (answer.response.status !== 200 || !/^text\/event-stream\b/i.test(type)) {
      throw await endpoint.failure(call, answer);
    }
    return answer;
  }

  async #read({ response }: Answer): Promise<Ending> {
    const host = this.#host;
    let fatal: Ending | undefined;
    const decoder = new EventDecoder(
      {
        message: (value, text) => host.message(value, text),
        reject: (fault) => host.reject(fault),
        fatal: (kind, message) => {
          fatal = { kind, message, wasUseful: false, mayReopen: false };
        },
      },
      host.limits,
      webPlatform,
    );
    decoder.lastEventId = this.#lastEventId;
    const began = performance.now();
    const reader = response.body?.getReader();
    let error: unknown;
    try {
      while (reader !== undefined && fatal === undefined) {
        if (this.#paused !== undefined) await this.#paused.promise;
        const { done, value } = await reader.read();
        if (this.#closed || done) break;
        decoder.push(value);
        this.#lastEventId = decoder.lastEventId;
        host.idle();
      }
    } catch (cause) {
      error = cause;
    }
    if (fatal !== undefined || this.#closed) return fatal ?? closed;
    const wasUseful = decoder.events > 0 || performance.now() - began > usefulMs;
    return { ...this.#ending(decoder, error), wasUseful };
  }

  #ending(decoder: EventDecoder, error: unknown): Omit<Ending, "wasUseful"> {
    const { isInsideEvent } = decoder;
    const isWhole = (error === undefined || wasIdle(error)) && !isInsideEvent;
    decoder.end();
    const how = error === undefined ? "the server ended it" : networkWords(error);
    const message = `the event stream of ${this.#host.whose} at ${this.#host.endpoint.shown} was cut: ${how}`;
    const mayReopen = isWhole || this.#lastEventId !== "";
    return { kind: "closed", mayReopen, message, cause: error };
  }

  #giveUp({ kind, message, failure, cause }: Ending): void {
    this.#closed = true;
    clearTimeout(this.#assumed);
    if (this.#wasOpen) this.#host.lost(kind, message, failure ?? cause);
    else this.#opening.reject(failure ?? new HttpFailure(message, { cause }));
  }

  async #pause(wantedMs: number | undefined, attempt: number): Promise<void> {
    const ms = Math.min(wantedMs ?? this.#host.pacing.backoffMs * 2 ** (attempt - 1), longestPauseMs);
    await new Promise<void>((resolve) => {
      const timer = deadline(ms, resolve);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}

interface Ending {
  readonly kind: "closed" | "too_large" | "protocol";
  readonly message: string;
  /** Events came, or it lived long: the next one need not wait. */
  readonly wasUseful: boolean;
  readonly mayReopen: boolean;
  readonly failure?: HttpFailure;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const closed: Ending = { kind: "closed", message: "", wasUseful: false, mayReopen: false };

/** Node's fetch gives up a body that says nothing for five minutes: nothing was on its way then. */
function wasIdle(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return cause?.code === "UND_ERR_BODY_TIMEOUT";
}
