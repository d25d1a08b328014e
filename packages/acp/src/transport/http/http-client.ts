// Implements the client side of Streamable HTTP: POST to send, event streams to receive.

import { sleep, withTimeout } from "../../base/abortable.ts";
import { milliseconds } from "../../base/deadline.ts";
import { optional } from "../../base/objects.ts";
import { limitsFrom } from "../../jsonrpc/connection-options.ts";
import { closedHere, type EndReason, type Sink, type Transport } from "../../jsonrpc/transport.ts";
import { defaultFrameLimits, type FrameLimits, overflow, webPlatform } from "../byte-channel.ts";
import { frameParser } from "../frame-parser.ts";
import { readOverNotice } from "../over-notice.ts";
import { type Call, HttpEndpoint } from "./http-endpoint.ts";
import { asFailure, backoff, endOf, HttpFailure, type Pacing } from "./http-failure.ts";
import type { HttpClientOptions } from "./http-options.ts";
import { openConnection, type PostOptions, post } from "./http-post.ts";
import { HttpStreams } from "./http-stream.ts";

/** Decides which session a message belongs to; the transport itself does not read messages. */
export interface HttpRouting {
  /** The session of a message to the server: its stream is opened first, and the POST names it. */
  sending(message: object): string | undefined;
  /** Whether this message takes up a session that the server may not have before. */
  takesUp(message: object): boolean;
  /** Whether an answer to such a message of this session is still to come. */
  isTakingUp(session: string): boolean;
  /** Handles a message from the stream of a session or, without one, of the connection; pass it on by `connection.deliver`. */
  received(value: unknown, text: string, session: string | undefined, connection: HttpConnection): void;
  /** Reports that the server refused this message. Returns false when it cannot report it: then the connection ends. */
  refused(
    message: object,
    session: string | undefined,
    failure: HttpFailure,
    connection: HttpConnection,
  ): boolean;
}

/** The actions available to routing. */
export interface HttpConnection {
  deliver(value: unknown, text: string): void;
  send(message: object): void;
  openStream(session: string): void;
  closeStream(session: string): void;
  canResume(): boolean;
}

interface Queued {
  readonly message: object;
  readonly text: string;
  readonly session: string | undefined;
}

const longestHeartbeatMs = 9_999_999;
/** A server expects to hear of us so often until we tell it otherwise. */
const expectedHeartbeatMs = 15_000;
/** These end the connection: no answer, unauthorised, or unknown connection. */
const finalStatuses: ReadonlySet<number | undefined> = new Set([undefined, 401, 404, 410]);

export class HttpClientTransport implements Transport {
  readonly #endpoint: HttpEndpoint;
  readonly #routing: HttpRouting;
  readonly #limits: FrameLimits;
  readonly #post: PostOptions;
  readonly #closeTimeoutMs: number;
  readonly #streams: HttpStreams;
  readonly #connection: HttpConnection;
  /** Aborts at the end of the connection. */
  readonly #over = new AbortController();
  #sink: Sink | undefined;
  #connectionId: string | undefined;
  /** How long the server keeps the connection after a cut; undefined if it does not. */
  #resumeMs: number | undefined;
  /** The number of the last message, for a server that then takes it only once. */
  #number = 0;
  readonly #silenceMs: number;
  readonly #heartbeatMs: number;
  #heart: ReturnType<typeof setInterval> | undefined;
  #isConnected = false;
  #queue: Queued[] = [];
  #queuedChars = 0;
  #hasRoom = true;
  #sending: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** What cannot be done at the moment because the server is not reached: streams by their names, and sending. */
  readonly #cut = new Set<unknown>();
  readonly #onCut: HttpClientOptions["onCut"];

  constructor(url: URL, routing: HttpRouting, options: HttpClientOptions = {}) {
    this.#endpoint = new HttpEndpoint(url, options);
    this.#routing = routing;
    this.#onCut = options.onCut;
    this.#limits = limitsFrom(defaultFrameLimits, options.limits);
    this.#closeTimeoutMs = milliseconds("closeTimeoutMs", options.closeTimeoutMs ?? 1_000);
    this.#silenceMs = milliseconds("silenceMs", options.silenceMs ?? 45_000);
    this.#heartbeatMs = milliseconds("heartbeatMs", options.heartbeatMs ?? 15_000);
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
    this.#streams = new HttpStreams((session) => ({
      endpoint: this.#endpoint,
      limits: this.#limits,
      pacing,
      headers: this.#names(session),
      resumeMs: this.#resumeMs,
      silenceMs: this.#silenceMs,
      whose: session === undefined ? "the connection" : "a session",
      ...this.#receiver(session),
      reached: (is) => this.#reached(`stream ${session}`, is),
      lost: (kind, message, cause) => this.#end({ kind, message, cause }),
    }));
    this.#connection = {
      deliver: (value, text) => this.#sink?.message(value, text),
      send: (message) => void this.send(message),
      openStream: (session) => void this.#streams.stream(session),
      closeStream: (session) => this.#streams.close(session),
      canResume: () => this.#resumeMs !== undefined,
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
      this.#end(overflow(this.#queuedChars));
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
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end(closedHere);
    const inTime = (work: Promise<void> | undefined) =>
      withTimeout(this.#closeTimeoutMs, work ?? Promise.resolve());
    // before the connection is open, queued messages are dropped
    if (reason === undefined && this.#isConnected) await inTime(this.#sending);
    this.#stop();
    // with a time of its own: otherwise the server would wait for a client that was slow to finish
    await inTime(this.#endConnection());
    this.#endpoint.abort();
  }

  /** Tells the server to free the connection; its answer does not matter. */
  async #endConnection(): Promise<void> {
    if (this.#connectionId === undefined) return;
    await this.#tell({ method: "DELETE", headers: this.#names(undefined), wanted: "202" });
  }

  /** Sends a request whose answer does not matter. */
  async #tell(call: Call, timeoutMs?: number): Promise<void> {
    const answer = await this.#endpoint.call(call, timeoutMs).catch(() => undefined);
    await answer?.response.body?.cancel().catch(() => undefined);
    answer?.release();
  }

  #stop(): void {
    this.#over.abort();
    clearInterval(this.#heart);
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

  /** The server has ended the connection. */
  #ended(why: string): void {
    this.#connectionId = undefined;
    this.#end({
      kind: "closed",
      message: `the server at ${this.#endpoint.shown} ended the connection: ${why}`,
    });
  }

  #fail(failure: HttpFailure): void {
    this.#end(endOf(failure));
  }

  // ---- output: one POST at a time keeps the order

  #sendNext(): void {
    if (this.#sink === undefined || this.#sending !== undefined || this.#queue.length === 0) return;
    // deferred, so that the sink is not called inside send()
    this.#sending = Promise.resolve().then(() => this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    // in batches, because removing the head of a long array costs its length
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
    // some servers have the stream of a session only when it is loaded
    const isEarly = opening !== undefined && hasNoStream(opening) && this.#routing.takesUp(message);
    const failure = (isEarly ? undefined : opening) ?? (await this.#postingFailure(text, session));
    if (this.#over.signal.aborted) return;
    if (failure === undefined) {
      if (isEarly && session !== undefined) void this.#openLater(session);
      return;
    }
    const { status } = failure;
    // 404 for a stream may concern the session alone (H10); an unknown connection ends its own stream
    const isFinal = finalStatuses.has(status) && !(status === 404 && opening !== undefined);
    if (!isFinal && this.#routing.refused(message, session, failure, this.#connection)) return;
    if (isFinal && status !== undefined && status !== 401) this.#connectionId = undefined;
    this.#fail(failure);
  }

  /** Opens the stream of a session; returns why it cannot be opened. */
  async #openingFailure(session: string): Promise<HttpFailure | undefined> {
    if (!isHeaderText(session)) {
      const message = "expected a session id of printable ASCII, because it is sent as a header";
      return new HttpFailure(message, { status: 400 });
    }
    return this.#streams.stream(session).opened.then(() => undefined, asFailure);
  }

  /** The answer opens it too; but a server may send the answer on the stream itself. */
  async #openLater(session: string): Promise<void> {
    const { pacing, signal } = this.#post;
    for (let attempt = 1; attempt <= pacing.maxRetries && !signal.aborted; attempt++) {
      if (!this.#routing.isTakingUp(session)) return;
      const failure = await this.#openingFailure(session);
      if (failure === undefined || !hasNoStream(failure)) return;
      await sleep(backoff(pacing, attempt), signal);
    }
  }

  async #postingFailure(text: string, session: string | undefined): Promise<HttpFailure | undefined> {
    try {
      const answer = await this.#postNumbered(text, session);
      if (answer !== undefined) this.#read(answer, session);
      return undefined;
    } catch (error) {
      return asFailure(error);
    }
  }

  #postNumbered(text: string, session: string | undefined): Promise<string | undefined> {
    const names = this.#names(session);
    const resumeMs = this.#resumeMs;
    if (resumeMs === undefined) return post(this.#endpoint, text, names, this.#post);
    const timeoutMs = Math.min(this.#post.timeoutMs, this.#silenceMs);
    const headers = { ...names, "Parley-Message": String(++this.#number) };
    const reached = (is: boolean) => this.#reached("sending", is);
    return post(this.#endpoint, text, headers, { ...this.#post, timeoutMs, resumeMs, reached });
  }

  #reached(what: string, is: boolean): void {
    const wasCut = this.#cut.size > 0;
    if (is) this.#cut.delete(what);
    else this.#cut.add(what);
    const isCut = this.#cut.size > 0;
    if (isCut !== wasCut && this.#resumeMs !== undefined && !this.#over.signal.aborted)
      this.#onCut?.(isCut, this.#resumeMs);
  }

  #sent({ text }: Queued): void {
    this.#queuedChars -= text.length;
    if (this.#hasRoom || this.#queuedChars > this.#limits.highWaterBytes) return;
    this.#hasRoom = true;
    this.#sink?.drain();
  }

  // ---- connection and input

  /** Opens the connection with the first message, which the POST answers. */
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
    this.#resumeMs = opened.resumeMs;
    if (this.#resumeMs !== undefined) this.#beginHeartbeat();
    // not awaited: the server keeps answers until the stream is open
    this.#streams.stream(undefined).opened.catch((error: unknown) => this.#fail(asFailure(error)));
    if (this.#read(opened.text, undefined)) return;
    this.#end({ kind: "protocol", message: `${shown} answered with something that is not a message` });
  }

  /** Tells the server now and then that we are there: it cannot see that from a stream that it only writes. */
  #beginHeartbeat(): void {
    const every = String(Math.min(Math.max(1, Math.round(this.#heartbeatMs)), longestHeartbeatMs));
    const promise = () => {
      const headers = {
        ...this.#names(undefined),
        "Content-Type": "application/json",
        "Parley-Heartbeat": every,
      };
      // what is wrong with the connection shows on its streams
      void this.#tell({ method: "POST", headers, body: "{}", wanted: "202" }, this.#silenceMs);
    };
    if (Number(every) > expectedHeartbeatMs) promise();
    let posted = -1;
    this.#heart = setInterval(() => {
      const isIdle = posted === this.#number || posted < 0;
      posted = this.#number;
      if (isIdle) promise();
    }, Number(every));
  }

  /** The headers that name the connection and the session. */
  #names(session: string | undefined): Readonly<Record<string, string>> {
    return optional({ "Acp-Connection-Id": this.#connectionId, "Acp-Session-Id": session });
  }

  #receiver(session: string | undefined): Pick<Sink, "message" | "reject" | "idle"> {
    return {
      message: (value, text) => {
        if (this.#sink === undefined) return;
        const why = this.#resumeMs === undefined ? undefined : readOverNotice(value);
        if (why === undefined) this.#routing.received(value, text, session, this.#connection);
        else this.#ended(why);
      },
      reject: (fault) => this.#sink?.reject(fault),
      idle: () => this.#sink?.idle(),
    };
  }

  /** Reads the body of a response. Returns whether it is a message. */
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
    frameParser(noticing, this.#limits, webPlatform).frame(text);
    receiver.idle();
    return isMessage;
  }
}

function hasNoStream({ status }: HttpFailure): boolean {
  return status === 403 || status === 404;
}

/** Whether the text can be sent unchanged as a header value. */
function isHeaderText(text: string): boolean {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text);
}
