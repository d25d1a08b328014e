// The client's side of Streamable HTTP: messages go out by POST, one after the other, and come in on event
// streams, one for the connection and one for each session. What is about which session is told from above.

import { deadline, milliseconds } from "../jsonrpc/deadline.ts";
import { limitsFrom } from "../jsonrpc/limits.ts";
import type { EndReason, Sink, Transport } from "../jsonrpc/transport.ts";
import { webPlatform } from "./byte-channel.ts";
import { defaultFrameLimits, type FrameLimits } from "./frame-limits.ts";
import { frameParser } from "./frame-parser.ts";
import { type EndpointOptions, HttpEndpoint } from "./http-endpoint.ts";
import { HttpFailure } from "./http-failure.ts";
import { openConnection, post } from "./http-post.ts";
import { HttpStream, type Pacing } from "./http-stream.ts";

/** What is known about messages above the transport, which looks into none. */
export interface HttpRouting {
  /** The session that a message to the server is about: its stream is opened first, and the POST names it (H8, H13). */
  sending(message: object): string | undefined;
  /** Handed on by `link.deliver`. It came on the stream of a session, or on that of the connection. */
  received(value: unknown, text: string, session: string | undefined, link: HttpLink): void;
  /** The server did not take this message, and takes others. False when nobody can be told: then the connection ends. */
  refused(message: object, session: string | undefined, failure: HttpFailure, link: HttpLink): boolean;
}

/** What routing can do. */
export interface HttpLink {
  deliver(value: unknown, text: string): void;
  send(message: object): void;
  openStream(session: string): void;
  closeStream(session: string): void;
}

export interface HttpClientOptions extends EndpointOptions {
  readonly limits?: Partial<FrameLimits>;
  /**
   * How long the server may take to accept a message, or to open a stream. Default 60,000 ms. The first message, which an
   * agent may have to be started for, has no limit here: whoever sends it has one.
   */
  readonly requestTimeoutMs?: number;
  /** How long `close` waits for what is queued to be sent, and for the server to hear of it. Default 1,000 ms. */
  readonly closeTimeoutMs?: number;
  /** How often in a row something is tried again that the server has no time for. Default 5. */
  readonly maxRetries?: number;
  /** The pause before the first of these, doubled each time. Default 100 ms. */
  readonly backoffMs?: number;
}

interface Queued {
  readonly message: object;
  readonly text: string;
  readonly session: string | undefined;
}

/** After these no other message will do better: there is no answer, we are not let in, or the connection is not known. */
const isFinal: ReadonlySet<number | undefined> = new Set([undefined, 401, 404, 410]);

export class HttpClientTransport implements Transport {
  readonly #endpoint: HttpEndpoint;
  readonly #routing: HttpRouting;
  readonly #limits: FrameLimits;
  readonly #pacing: Pacing;
  readonly #closeTimeoutMs: number;
  readonly #link: HttpLink;
  /** Aborts when nothing more is sent. */
  readonly #over = new AbortController();
  #sink: Sink | undefined;
  #connectionId: string | undefined;
  #stream: HttpStream | undefined;
  readonly #sessions = new Map<string, HttpStream>();
  #queue: Queued[] = [];
  #queuedChars = 0;
  #hasRoom = true;
  #isPaused = false;
  #sending: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(url: URL, routing: HttpRouting, options: HttpClientOptions = {}) {
    this.#endpoint = new HttpEndpoint(url, options);
    this.#routing = routing;
    this.#limits = limitsFrom(defaultFrameLimits, options.limits);
    this.#closeTimeoutMs = milliseconds("closeTimeoutMs", options.closeTimeoutMs ?? 1_000);
    this.#pacing = {
      timeoutMs: milliseconds("requestTimeoutMs", options.requestTimeoutMs ?? 60_000),
      maxRetries: options.maxRetries ?? 5,
      backoffMs: milliseconds("backoffMs", options.backoffMs ?? 100),
    };
    this.#link = {
      deliver: (value, text) => this.#sink?.message(value, text),
      send: (message) => void this.send(message),
      openStream: (session) => void this.#sessionStream(session),
      closeStream: (session) => {
        this.#sessions.get(session)?.close();
        this.#sessions.delete(session);
      },
    };
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#sendNext();
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    if (this.#over.signal.aborted) return true;
    this.#queue.push({ message, text, session: this.#routing.sending(message) });
    this.#queuedChars += text.length;
    const { highWaterBytes, maxQueuedBytes } = this.#limits;
    if (this.#queuedChars > maxQueuedBytes) {
      const queued = this.#queuedChars;
      this.#end({
        kind: "overflow",
        message: `the peer does not read: ${queued} bytes of output are queued`,
      });
      return false;
    }
    if (this.#queuedChars > highWaterBytes) this.#hasRoom = false;
    this.#sendNext();
    return this.#hasRoom;
  }

  pause(): void {
    this.#isPaused = true;
    for (const stream of this.#streams()) stream.pause();
  }

  resume(): void {
    this.#isPaused = false;
    for (const stream of this.#streams()) stream.resume();
  }

  async close(reason?: Error): Promise<void> {
    this.#closing ??= this.#shut(reason);
    await this.#closing;
  }

  async #shut(reason: Error | undefined): Promise<void> {
    this.#sink = undefined;
    const late = Promise.withResolvers<void>();
    const timer = deadline(this.#closeTimeoutMs, late.resolve);
    // before there is a connection nobody waits for what is queued
    const isFlushed = reason === undefined && this.#connectionId !== undefined;
    if (isFlushed) await Promise.race([this.#sending, late.promise]);
    this.#stop();
    await Promise.race([this.#endConnection(), late.promise]);
    this.#endpoint.abort();
    clearTimeout(timer);
  }

  /** The server may free what it holds for us (H14). One that does not answer finds out by itself. */
  async #endConnection(): Promise<void> {
    if (this.#connectionId === undefined) return;
    const call = { method: "DELETE", headers: this.#named(undefined), wanted: "202" } as const;
    const answer = await this.#endpoint.call(call, this.#closeTimeoutMs).catch(() => undefined);
    await answer?.response.body?.cancel().catch(() => undefined);
    answer?.release();
  }

  /** Nothing more is sent or read. */
  #stop(): void {
    this.#over.abort();
    this.#queue = [];
    for (const stream of this.#streams()) stream.close();
    this.#sessions.clear();
    this.#endpoint.abort();
  }

  #end(reason: EndReason): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#stop();
    sink?.end(reason);
  }

  // ---- output: one POST at a time, which is the order of the messages

  #sendNext(): void {
    if (this.#sink === undefined || this.#sending !== undefined || this.#queue.length === 0) return;
    // later, since whoever sends is not yet ready to be told what became of it
    this.#sending = Promise.resolve().then(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    // a batch at a time: taking messages one by one off a long array would cost its length each time
    for (let batch = this.#queue; batch.length > 0; batch = this.#queue) {
      this.#queue = [];
      for (const queued of batch) {
        if (this.#over.signal.aborted) break;
        await this.#sendOne(queued);
        this.#sent(queued);
      }
    }
    this.#sending = undefined;
  }

  async #sendOne(queued: Queued): Promise<void> {
    const { message, text, session } = queued;
    try {
      if (this.#connectionId === undefined) return await this.#open(text);
      if (session !== undefined && !isHeaderText(session)) throw unsendable();
      if (session !== undefined && !(await this.#isOpen(queued, session))) return;
      const options = {
        pacing: this.#pacing,
        maxBytes: this.#limits.maxMessageBytes,
        signal: this.#over.signal,
      };
      const answer = await post(this.#endpoint, text, this.#named(session), options);
      if (answer !== undefined) this.#read(answer, session);
    } catch (error) {
      const failure = asFailure(error);
      if (this.#over.signal.aborted) return;
      if (failure.status === 404 || failure.status === 410) this.#connectionId = undefined;
      // without an answer to the first message there is no connection
      const isOver = this.#stream === undefined || isFinal.has(failure.status);
      if (isOver || !this.#routing.refused(message, session, failure, this.#link)) this.#fail(failure);
    }
  }

  /** Whether the stream of the session is open, so that the message can be sent. */
  async #isOpen({ message }: Queued, session: string): Promise<boolean> {
    try {
      await this.#sessionStream(session).opened;
      return true;
    } catch (error) {
      const failure = asFailure(error);
      this.#sessions.delete(session);
      if (this.#over.signal.aborted) return false;
      // 404: a server may also mean the session (H10); where it means the connection, its stream ends as well
      const isOver = failure.status !== 404 && isFinal.has(failure.status);
      if (isOver || !this.#routing.refused(message, session, failure, this.#link)) this.#fail(failure);
      return false;
    }
  }

  #sent({ text }: Queued): void {
    this.#queuedChars -= text.length;
    if (this.#hasRoom || this.#queuedChars > this.#limits.highWaterBytes) return;
    this.#hasRoom = true;
    this.#sink?.drain();
  }

  #fail(failure: HttpFailure): void {
    // a status of success with the wrong content is no server of this protocol
    const isWrong = failure.status !== undefined && failure.status < 300;
    this.#end({ kind: isWrong ? "protocol" : "closed", message: failure.message, cause: failure });
  }

  // ---- the connection and its streams

  async #open(text: string): Promise<void> {
    const { maxMessageBytes } = this.#limits;
    const named = (id: string) => {
      this.#connectionId = id;
    };
    const opened = await openConnection(this.#endpoint, text, maxMessageBytes, named);
    if (this.#over.signal.aborted) return;
    const { shown } = this.#endpoint;
    if (opened.connectionId === undefined) {
      this.#connectionId = undefined;
      this.#read(opened.text, undefined);
      return this.#end({ kind: "closed", message: `${shown} refused the connection` });
    }
    this.#stream = this.#newStream(undefined);
    // nobody waits for this one: what is answered before it is open waits at the server
    this.#stream.opened.catch((error: unknown) => this.#fail(asFailure(error)));
    const isMessage = this.#read(opened.text, undefined);
    if (!isMessage)
      this.#end({ kind: "protocol", message: `${shown} answered with something that is no message` });
  }

  #named(session: string | undefined): Readonly<Record<string, string>> {
    return {
      ...(this.#connectionId === undefined ? {} : { "Acp-Connection-Id": this.#connectionId }),
      ...(session === undefined ? {} : { "Acp-Session-Id": session }),
    };
  }

  #streams(): readonly HttpStream[] {
    return [...(this.#stream === undefined ? [] : [this.#stream]), ...this.#sessions.values()];
  }

  #sessionStream(session: string): HttpStream {
    const known = this.#sessions.get(session);
    if (known !== undefined) return known;
    const stream = this.#newStream(session);
    this.#sessions.set(session, stream);
    // the next message about the session tries again
    stream.opened.catch(() => {
      if (this.#sessions.get(session) === stream) this.#sessions.delete(session);
    });
    return stream;
  }

  #newStream(session: string | undefined): HttpStream {
    const host = {
      endpoint: this.#endpoint,
      limits: this.#limits,
      pacing: this.#pacing,
      headers: this.#named(session),
      whose: session === undefined ? "the connection" : "a session",
      ...this.#receiver(session),
      idle: () => this.#sink?.idle(),
      lost: (kind: "closed" | "too_large" | "protocol", message: string, cause?: unknown) =>
        this.#end({ kind, message, cause }),
    };
    return new HttpStream(host, this.#isPaused);
  }

  #receiver(session: string | undefined): Pick<Sink, "message" | "reject"> {
    return {
      message: (value, text) => {
        if (this.#sink !== undefined) this.#routing.received(value, text, session, this.#link);
      },
      reject: (fault) => this.#sink?.reject(fault),
    };
  }

  /** The body of a response. Whether it is a message. */
  #read(text: string, session: string | undefined): boolean {
    const { message, reject } = this.#receiver(session);
    let isMessage = false;
    const receiver = {
      reject,
      message(value: unknown, source: string) {
        isMessage = true;
        message(value, source);
      },
    };
    frameParser(receiver, this.#limits, webPlatform.byteLength).frame(text);
    this.#sink?.idle();
    return isMessage;
  }
}

/** Whether it arrives as it is when it is the value of a header. */
function isHeaderText(text: string): boolean {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text);
}

function unsendable(): HttpFailure {
  const message = "the session id cannot be the value of a header: printable ASCII is wanted";
  return new HttpFailure(message, { status: 400 });
}

function asFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  return new HttpFailure(error instanceof Error ? error.message : String(error), { cause: error });
}
