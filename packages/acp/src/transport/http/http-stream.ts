// Reads one event stream, and reopens it when no event can have been lost or the server sends lost ones again.

import { sleep } from "../../base/abortable.ts";
import { type Deadline, deadline } from "../../base/deadline.ts";
import type { Fault } from "../../jsonrpc/transport.ts";
import { type FrameLimits, webPlatform } from "../byte-channel.ts";
import { ReconnectPace } from "../reconnect-pace.ts";
import { EventDecoder } from "./event-decoder.ts";
import { type Answer, type HttpEndpoint, timeoutReason } from "./http-endpoint.ts";
import {
  asFailure,
  backoff,
  HttpFailure,
  longestPauseMs,
  networkWords,
  type Pacing,
} from "./http-failure.ts";
import { maxCutOff } from "./http-post.ts";

export interface StreamHost {
  readonly endpoint: HttpEndpoint;
  readonly limits: FrameLimits;
  readonly pacing: Pacing;
  /** The headers that name this stream. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long the server keeps the stream after a cut; undefined if it does not. */
  readonly resumeMs: number | undefined;
  /** How long a server that keeps it may be silent. */
  readonly silenceMs: number;
  /** For messages: "the connection", "the session". */
  readonly whose: string;
  message(value: unknown, text: string): void;
  reject(fault: Fault): void;
  idle(): void;
  /** Told after each attempt whether it was opened, and true at its end. */
  reached(is: boolean): void;
  /** Called when an open stream has ended for good. */
  lost(kind: "closed" | "too_large" | "protocol", message: string, cause?: unknown): void;
}

const wanted = "200 with content of type text/event-stream";
/** A stream that was open for so long counts as useful even without events. */
const usefulMs = 10_000;
/** Another reader is connected (maybe our previous stream), or the server is busy or restarting. */
const retryableStatuses: ReadonlySet<number | undefined> = new Set([undefined, 409, 429, 500, 502, 503, 504]);

class HttpStream {
  /** Resolves when the stream is open or assumed to be; rejects with HttpFailure when it cannot be opened. */
  readonly opened: Promise<void>;
  readonly #host: StreamHost;
  readonly #opening = Promise.withResolvers<void>();
  readonly #assumed: Deadline;
  #wasOpen = false;
  /** Aborts at the end of the stream. */
  readonly #over = new AbortController();
  #lastEventId: string;
  readonly #pace: ReconnectPace | undefined;
  /** Answers in a row to requests that may have been cut off. */
  #cutOffs = 0;
  #paused: PromiseWithResolvers<void> | undefined;

  /** `lastEventId` is that of an earlier stream of the same session. */
  constructor(host: StreamHost, isPaused: boolean, lastEventId: string | undefined) {
    this.#host = host;
    const { resumeMs, pacing } = host;
    this.#pace = resumeMs === undefined ? undefined : new ReconnectPace(pacing.backoffMs, resumeMs);
    // "0": nothing has been read. The server then sends again what an unread answer had
    this.#lastEventId = resumeMs === undefined ? "" : (lastEventId ?? "0");
    this.opened = this.#opening.promise;
    // only senders await it
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

  get lastEventId(): string {
    return this.#lastEventId;
  }

  get #closed(): boolean {
    return this.#over.signal.aborted;
  }

  close(): void {
    clearTimeout(this.#assumed);
    this.resume();
    this.#over.abort();
    this.#host.reached(true);
    this.#opening.reject(new HttpFailure("the stream was closed"));
  }

  async #run(): Promise<void> {
    let fruitless = 0;
    while (!this.#closed) {
      const ending = await this.#once();
      if (this.#closed) return;
      fruitless = ending.wasUseful ? 0 : fruitless + 1;
      if (ending.wasUseful) this.#pace?.reset();
      const pause = this.#pause(fruitless);
      if (!ending.mayReopen) return this.#giveUp(ending);
      if (pause === undefined)
        return this.#giveUp({ ...ending, message: this.#pace?.gaveUp(ending.message) ?? ending.message });
      if (ending.failure !== undefined) this.#host.reached(false);
      const ms = ending.retryAfterMs ?? pause;
      if (fruitless > 0) await sleep(Math.min(ms, longestPauseMs), this.#over.signal);
    }
  }

  /** How long to wait before the next attempt; undefined after too many. */
  #pause(fruitless: number): number | undefined {
    if (this.#pace !== undefined) return fruitless === 0 ? 0 : this.#pace.next();
    const { pacing } = this.#host;
    return fruitless > pacing.maxRetries ? undefined : backoff(pacing, fruitless);
  }

  #isOpen(): void {
    clearTimeout(this.#assumed);
    this.#wasOpen = true;
    this.#opening.resolve();
  }

  /** Opens the stream and reads it to the end. */
  async #once(): Promise<Ending> {
    let answer: Answer;
    const silence = new Silence(this.#pace === undefined ? Number.POSITIVE_INFINITY : this.#host.silenceMs);
    const stop = () => silence.abort();
    this.#over.signal.addEventListener("abort", stop);
    try {
      answer = await this.#open(silence.signal);
    } catch (error) {
      this.#over.signal.removeEventListener("abort", stop);
      silence.end();
      const failure = asFailure(error);
      const { status, retryAfterMs, message } = failure;
      const mayReopen = retryableStatuses.has(status) || this.#wasCutOff(status);
      return { kind: "closed", wasUseful: false, mayReopen, message, failure, retryAfterMs };
    }
    this.#isOpen();
    this.#host.reached(true);
    this.#cutOffs = 0;
    try {
      return this.#closed ? closed : await this.#read(answer, silence);
    } finally {
      this.#over.signal.removeEventListener("abort", stop);
      silence.end();
      answer.release();
    }
  }

  /** Whether the request may have been cut off on its way: then this is the server's answer to the half of it. */
  #wasCutOff(status: number | undefined): boolean {
    if (this.#pace === undefined || (status !== 400 && status !== 408)) return false;
    this.#cutOffs++;
    return this.#cutOffs <= maxCutOff;
  }

  async #open(signal: AbortSignal): Promise<Answer> {
    const { endpoint, headers } = this.#host;
    const since = this.#lastEventId === "" ? {} : { "Last-Event-ID": this.#lastEventId };
    const call = {
      method: "GET",
      headers: { Accept: "text/event-stream", ...headers, ...since },
      wanted,
      signal,
    } as const;
    const answer = await endpoint.call(call);
    const type = answer.response.headers.get("content-type") ?? "";
    if (answer.response.status !== 200 || !/^text\/event-stream\b/i.test(type)) {
      throw await endpoint.failure(call, answer);
    }
    return answer;
  }

  async #read({ response }: Answer, silence: Silence): Promise<Ending> {
    const host = this.#host;
    let fatal: Ending | undefined;
    const decoder = new EventDecoder(
      {
        message: (value, text) => {
          // the message may close the stream
          this.#lastEventId = decoder.lastEventId;
          host.message(value, text);
        },
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
        if (this.#paused !== undefined) {
          silence.end();
          await this.#paused.promise;
        }
        silence.begin();
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
    const mayReopen = isWhole || this.#lastEventId !== "";
    // otherwise the rest comes again
    if (!mayReopen) decoder.end();
    const how = error === undefined ? "the server ended it" : networkWords(error);
    const message = `the event stream of ${this.#host.whose} at ${this.#host.endpoint.shown} was cut: ${how}`;
    return { kind: "closed", mayReopen, message, cause: error };
  }

  #giveUp({ kind, message, failure, cause }: Ending): void {
    this.#over.abort();
    this.#host.reached(true);
    clearTimeout(this.#assumed);
    if (this.#wasOpen) this.#host.lost(kind, message, failure ?? cause);
    else this.#opening.reject(failure ?? new HttpFailure(message, { cause }));
  }
}

/** Aborts when nothing has come for so long. */
class Silence {
  readonly #ms: number;
  readonly #controller = new AbortController();
  #timer: Deadline;

  constructor(ms: number) {
    this.#ms = ms;
    this.begin();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  begin(): void {
    this.end();
    this.#timer = deadline(this.#ms, () => this.#controller.abort(timeoutReason()));
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  abort(): void {
    this.#controller.abort();
  }
}

interface Ending {
  readonly kind: "closed" | "too_large" | "protocol";
  readonly message: string;
  /** Events arrived, or it was open for long: reopen it at once. */
  readonly wasUseful: boolean;
  readonly mayReopen: boolean;
  readonly failure?: HttpFailure;
  readonly retryAfterMs?: number | undefined;
  readonly cause?: unknown;
}

const closed: Ending = { kind: "closed", message: "", wasUseful: false, mayReopen: false };

/** Whether Node's fetch ended a body that was silent for five minutes: then no event was lost. */
function wasIdle(error: unknown): boolean {
  const { cause } = error as { cause?: { code?: unknown } };
  return cause?.code === "UND_ERR_BODY_TIMEOUT";
}

/** Manages the event streams of one connection: its own and one for each session. */
export class HttpStreams {
  readonly #hostFor: (session: string | undefined) => StreamHost;
  readonly #streams = new Map<string | undefined, HttpStream>();
  /** Where the closed streams of sessions ended: one that is opened again goes on there. */
  readonly #ends = new Map<string, string>();
  #isPaused = false;

  /** `hostFor` gives the host of a session's stream or, for undefined, of the connection's. */
  constructor(hostFor: (session: string | undefined) => StreamHost) {
    this.#hostFor = hostFor;
  }

  /** Returns the stream of a session, opened on first use. One that cannot be opened is forgotten, to be tried again. */
  stream(session: string | undefined): HttpStream {
    const known = this.#streams.get(session);
    if (known !== undefined) return known;
    const stream = new HttpStream(this.#hostFor(session), this.#isPaused, this.#ends.get(session ?? ""));
    this.#streams.set(session, stream);
    stream.opened.catch(() => {
      if (this.#streams.get(session) === stream) this.#streams.delete(session);
    });
    return stream;
  }

  pause(): void {
    this.#isPaused = true;
    for (const stream of this.#streams.values()) stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const stream of this.#streams.values()) stream.resume();
  }

  close(session: string): void {
    const stream = this.#streams.get(session);
    if (stream !== undefined) this.#ends.set(session, stream.lastEventId);
    stream?.close();
    this.#streams.delete(session);
  }

  closeAll(): void {
    for (const stream of this.#streams.values()) stream.close();
    this.#streams.clear();
  }
}
