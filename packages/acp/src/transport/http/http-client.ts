// The client's side of Streamable HTTP: messages go out by POST, one after the other, and come in on event
// streams, one for the connection and one for each session. What is about which session is told from above.

import { deadline, milliseconds } from "../../base/deadline.ts";
import { limitsFrom } from "../../jsonrpc/limits.ts";
import type { EndReason, Sink, Transport } from "../../jsonrpc/transport.ts";
import { webPlatform } from "../byte-channel.ts";
import { defaultFrameLimits, type FrameLimits } from "../frame-limits.ts";
import { frameParser } from "../frame-parser.ts";
import { type EndpointOptions, HttpEndpoint } from "./http-endpoint.ts";
import { HttpFailure } from "./http-failure.ts";
import { openConnection, type PostOptions, post } from "./http-post.ts";
import type { Pacing } from "./http-stream.ts";
import { HttpStreams } from "./http-streams.ts";

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
   * How long the server may take to accept a message. Default 60,000 ms. The first one, which an agent may have to be
   * started for, has no limit here: whoever sends it has one.
   */
  readonly requestTimeoutMs?: number;
  /** How long a message waits for the stream of its session to be open. Default 5,000 ms; then it is sent all the same. */
  readonly openTimeoutMs?: number;
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
const finalStatuses: ReadonlySet<number | undefined> = new Set([undefined, 401, 404, 410]);

export class HttpClientTransport implements Transport {
  readonly #endpoint: HttpEndpoint;
  readonly #routing: HttpRouting;
  readonly #limits: FrameLimits;
  readonly #post: PostOptions;
  readonly #closeTimeoutMs: number;
  readonly #streams: HttpStreams;
  readonly #link: HttpLink;
  /** Aborts when nothing more is sent or read. */
  readonly #over = new AbortController();
  #sink: Sink | undefined;
  #connectionId: string | undefined;
  #isConnected = false;
  #queue: Queued[] = [];
  #queuedChars = 0;
  #hasRoom = true;
  #sending: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(url: URL, routing: HttpRouting, options: HttpClientOptions = {}) {
    this.#endpoint = new HttpEndpoint(url, options);
    this.#routing = routing;
    this.#limits = limitsFrom(defaultFrameLimits, options.limits);
    this.#closeTimeoutMs = milliseconds("closeTimeoutMs", options.closeTimeoutMs ?? 1_000);
    const pacing: Pacing = {
      openTimeoutMs: milliseconds("openTimeoutMs", options.openTimeoutMs ?? 5_000),
      maxRetries: options.maxRetries ?? 5,
      backoffMs: milliseconds("backoffMs", options.backoffMs ?? 100),
    };
    this.#post = {
      pacing,
      timeoutMs: milliseconds("requestTimeoutMs", options.requestTimeoutMs ?? 60_000),
      maxBytes: this.#limits.maxMessageBytes,
      signal: this.#over.signal,
    };
    this.#streams = new HttpStreams({
      endpoint: this.#endpoint,
      limits: this.#limits,
      pacing,
      headers: (session) => this.#names(session),
      receiver: (session) => this.#receiver(session),
      lost: (kind, message, cause) => this.#end({ kind, message, cause }),
    });
    this.#link = {
      deliver: (value, text) => this.#sink?.message(value, text),
      send: (message) => void this.send(message),
      openStream: (session) => void this.#streams.stream(session),
      closeStream: (session) => this.#streams.close(session),
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
    this.#streams.pause();
  }

  resume(): void {
    this.#streams.resume();
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
    if (reason === undefined && this.#isConnected) await Promise.race([this.#sending, late.promise]);
    this.#stop();
    await Promise.race([this.#endConnection(), late.promise]);
    this.#endpoint.abort();
    clearTimeout(timer);
  }

  /** The server may free what it holds for us (H14). One that does not answer finds out by itself. */
  async #endConnection(): Promise<void> {
    if (this.#connectionId === undefined) return;
    const call = { method: "DELETE", headers: this.#names(undefined), wanted: "202" } as const;
    const answer = await this.#endpoint.call(call).catch(() => undefined);
    await answer?.response.body?.cancel().catch(() => undefined);
    answer?.release();
  }

  #stop(): void {
    this.#over.abort();
    this.#queue = [];
    this.#streams.closeAll();
    this.#endpoint.abort();
  }

  #end(reason: EndReason): void {
    if (this.#over.signal.aborted) return;
    const sink = this.#sink;
    this.#sink = undefined;
    this.#stop();
    sink?.end(reason);
  }

  #fail(failure: HttpFailure): void {
    // a status of success with the wrong content is no server of this protocol
    const isWrong = failure.status !== undefined && failure.status < 300;
    this.#end({ kind: isWrong ? "protocol" : "closed", message: failure.message, cause: failure });
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
        if (this.#isConnected) await this.#sendOne(queued);
        else await this.#open(queued.text).catch((error: unknown) => this.#fail(asFailure(error)));
        this.#sent(queued);
      }
    }
    this.#sending = undefined;
  }

  async #sendOne({ message, text, session }: Queued): Promise<void> {
    const opening = session === undefined ? undefined : await this.#openingFailure(session);
    const failure = opening ?? (await this.#postingFailure(text, session));
    if (failure === undefined || this.#over.signal.aborted) return;
    const { status } = failure;
    // a server that knows no such stream may mean the session (H10); if it means the connection, the stream of that ends
    const isFinal = finalStatuses.has(status) && !(status === 404 && opening !== undefined);
    if (!isFinal && this.#routing.refused(message, session, failure, this.#link)) return;
    if (isFinal && status !== undefined && status !== 401) this.#connectionId = undefined;
    this.#fail(failure);
  }

  /** Why the stream of a session is not open. */
  async #openingFailure(session: string): Promise<HttpFailure | undefined> {
    if (!isHeaderText(session)) {
      const message = "the session id cannot be the value of a header: printable ASCII is wanted";
      return new HttpFailure(message, { status: 400 });
    }
    return this.#streams.stream(session).opened.then(() => undefined, asFailure);
  }

  async #postingFailure(text: string, session: string | undefined): Promise<HttpFailure | undefined> {
    try {
      const answer = await post(this.#endpoint, text, this.#names(session), this.#post);
      if (answer !== undefined) this.#read(answer, session);
      return undefined;
    } catch (error) {
      return asFailure(error);
    }
  }

  #sent({ text }: Queued): void {
    this.#queuedChars -= text.length;
    if (this.#hasRoom || this.#queuedChars > this.#limits.highWaterBytes) return;
    this.#hasRoom = true;
    this.#sink?.drain();
  }

  // ---- the connection, and what comes in

  /** The first message opens the connection, and its answer is that of the POST (H5). */
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
    this.#isConnected = true;
    // nobody waits for its stream: what is answered before that is open waits at the server
    this.#streams.stream(undefined).opened.catch((error: unknown) => this.#fail(asFailure(error)));
    if (this.#read(opened.text, undefined)) return;
    this.#end({ kind: "protocol", message: `${shown} answered with something that is no message` });
  }

  /** The headers that say what a request is about. */
  #names(session: string | undefined): Readonly<Record<string, string>> {
    return {
      ...(this.#connectionId === undefined ? {} : { "Acp-Connection-Id": this.#connectionId }),
      ...(session === undefined ? {} : { "Acp-Session-Id": session }),
    };
  }

  #receiver(session: string | undefined): Pick<Sink, "message" | "reject" | "idle"> {
    return {
      message: (value, text) => {
        if (this.#sink !== undefined) this.#routing.received(value, text, session, this.#link);
      },
      reject: (fault) => this.#sink?.reject(fault),
      idle: () => this.#sink?.idle(),
    };
  }

  /** The body of a response. Whether it is a message. */
  #read(text: string, session: string | undefined): boolean {
    const receiver = this.#receiver(session);
    let isMessage = false;
    const noticing = {
      reject: receiver.reject,
      message(value: unknown, source: string) {
        isMessage = true;
        receiver.message(value, source);
      },
    };
    frameParser(noticing, this.#limits, webPlatform.byteLength).frame(text);
    receiver.idle();
    return isMessage;
  }
}

/** Whether it arrives as it is when it is the value of a header. */
function isHeaderText(text: string): boolean {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text);
}

function asFailure(error: unknown): HttpFailure {
  if (error instanceof HttpFailure) return error;
  return new HttpFailure(error instanceof Error ? error.message : String(error), { cause: error });
}
