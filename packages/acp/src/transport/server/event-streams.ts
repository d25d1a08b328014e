// The output of one remote connection over HTTP: a stream for the connection and one for each session.

import { type FrameLimits, overflow } from "../byte-channel.ts";
import { overNotice } from "../over-notice.ts";
import { PeerSilence } from "../peer-silence.ts";
import type { RingLimits } from "../sent-ring.ts";
import { EventStream, type EventStreamHost, isEventId, nothingRead } from "./event-stream.ts";
import type { RemoteHost, RemoteWire } from "./remote-transport.ts";

/** More sessions at a time have no streams. */
const maxStreams = 1_024;

/** How often a client of the extension is heard, until it says otherwise. */
const firstPromiseMs = 15_000;

/** Why a stream cannot be opened. */
export type NoStream = "taken" | "ended" | "forgotten" | "bad id" | "too many";

export interface EventStreamsOptions {
  readonly limits: FrameLimits & RingLimits;
  readonly heartbeatMs: number;
  readonly closeTimeoutMs: number;
  /** Takes a message that belongs on no stream. */
  takes(message: object, text: string): boolean;
  /** The session whose stream a message belongs on. */
  streamOf(message: object): string | undefined;
  /** Whether nothing more comes on the stream of this session. */
  hasEnded(session: string | undefined): boolean;
}

export class EventStreams implements RemoteWire {
  /** Whether a stream was ever opened. */
  wasRead = false;
  readonly #host: RemoteHost;
  readonly #options: EventStreamsOptions;
  readonly #streams = new Map<string | undefined, EventStream>();
  /** The streams whose oldest events may be forgotten, in order, and how many of them in a row. */
  #forgettable: { readonly stream: EventStream; events: number }[] = [];
  #forgettableEvents = 0;
  #forgettableChars = 0;
  #waitingChars = 0;
  #hasRoom = true;
  /** Requests that are being answered. */
  #requests = 0;
  /** Whether the client has named an event: then it would come back after a cut. */
  #canResume = false;
  /** Only for a client that has promised to be heard. */
  #silence: PeerSilence | undefined;
  /** Why the server closes it; undefined while it does not. */
  #why: string | undefined;
  #isEnding = false;
  #isOver = false;
  readonly #ended = Promise.withResolvers<void>();
  readonly #streamHost: EventStreamHost = {
    mayForget: (stream, events, chars) => this.#mayForget(stream, events, chars),
    waits: (chars) => this.#waits(chars),
    moved: () => this.#moved(),
  };

  constructor(host: RemoteHost, options: EventStreamsOptions) {
    this.#host = host;
    this.#options = options;
  }

  send(message: object, text: string): boolean {
    if (this.#isEnding || this.#isOver || this.#options.takes(message, text)) return true;
    const session = this.#options.streamOf(message);
    const stream = this.#stream(session);
    stream.send(text);
    if (this.#options.hasEnded(session)) stream.end();
    return this.#hasRoom || this.#isOver;
  }

  /** The body of an event stream, behind the event with this id. */
  open(session: string | undefined, lastEventId: string | null): ReadableStream<Uint8Array> | NoStream {
    const isNew = !this.#streams.has(session);
    if (this.#isOver || (isNew && this.#isEnding)) return "forgotten";
    if (isNew && this.#streams.size >= maxStreams) return "too many";
    if (lastEventId !== null && !isEventId(lastEventId)) return "bad id";
    const stream = this.#stream(session);
    // who names an event is the reader whose stream was cut, which may still look open here
    if (lastEventId === null && stream.isRead) return "taken";
    const since = lastEventId === null ? undefined : stream.numberOf(lastEventId);
    if (lastEventId !== null && since === undefined) return "forgotten";
    const hasEnded = this.#options.hasEnded(session);
    // who was away reads the rest first
    if (hasEnded && stream.isAtEnd(since)) return "ended";
    const body = stream.open(since);
    if (body === undefined) return "forgotten";
    this.wasRead = true;
    this.#silence?.heard();
    if (lastEventId !== null) this.#canResume = true;
    if (lastEventId === nothingRead) this.usesExtension();
    if (this.#isEnding || hasEnded) stream.end();
    return body;
  }

  /** Counts as attached until the request is answered. Returns a function that ends it. */
  hold(): () => void {
    this.#requests++;
    this.#silence?.heard();
    this.#moved();
    let isHeld = true;
    return () => {
      if (isHeld) this.#requests--;
      isHeld = false;
      this.#moved();
    };
  }

  /** Only clients of the extension number their messages, and name an event before they have read one. */
  usesExtension(): void {
    if (this.#silence === undefined) this.promised(firstPromiseMs);
  }

  /** The client will send something at least as often. */
  promised(everyMs: number): void {
    this.#silence = new PeerSilence(Math.ceil((3 * everyMs) / this.#options.heartbeatMs));
  }

  beat(stallMs: number): void {
    if (this.#requests === 0 && this.#silence?.beat())
      for (const stream of this.#streams.values()) stream.cut("the client is silent");
    for (const stream of this.#streams.values()) stream.beat(stallMs);
  }

  checkPing(): void {
    // a stream is only written; clients tell by requests that they are there
  }

  pause(): void {
    // the host holds back what is posted
  }

  resume(): void {
    // as above
  }

  leaving(why: string): void {
    this.#why = why;
  }

  async close(reason: Error | undefined): Promise<void> {
    this.#isEnding = true;
    const why = this.#why ?? reason?.message ?? "the agent ended it";
    const own = this.#streams.get(undefined);
    // who is not here gets 404 later, and other clients end with their streams
    if (this.#canResume && own?.isRead) own.send(overNotice(why));
    const timer = setTimeout(this.#ended.resolve, this.#options.closeTimeoutMs);
    for (const stream of this.#streams.values()) stream.end();
    this.#checkEnded();
    await this.#ended.promise;
    clearTimeout(timer);
    this.drop();
  }

  drop(): void {
    this.#isOver = true;
    for (const stream of this.#streams.values()) {
      stream.end();
      stream.cut("the connection is over");
    }
    this.#ended.resolve();
  }

  #stream(session: string | undefined): EventStream {
    const known = this.#streams.get(session);
    if (known !== undefined) return known;
    const stream = new EventStream(this.#streamHost);
    this.#streams.set(session, stream);
    return stream;
  }

  #moved(): void {
    if (this.#isOver) return;
    let isRead = false;
    for (const [session, stream] of this.#streams) {
      if (stream.isRead) isRead = true;
      else if (stream.isUnused && session !== undefined) this.#streams.delete(session);
    }
    this.#host.attached(isRead || this.#requests > 0);
    this.#checkEnded();
  }

  #checkEnded(): void {
    if (!this.#isEnding) return;
    for (const stream of this.#streams.values()) if (stream.isRead || stream.hasUnread) return;
    this.#ended.resolve();
  }

  #mayForget(stream: EventStream, events: number, chars: number): void {
    const last = this.#forgettable.at(-1);
    if (last?.stream === stream) last.events += events;
    else this.#forgettable.push({ stream, events });
    this.#forgettableEvents += events;
    this.#forgettableChars += chars;
    const { ringEvents, ringBytes } = this.#options.limits;
    while (
      this.#forgettableEvents > 1 &&
      (this.#forgettableEvents > ringEvents || this.#forgettableChars > ringBytes)
    )
      this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [oldest] = this.#forgettable;
    this.#forgettableEvents--;
    this.#forgettableChars -= oldest?.stream.forget() ?? 0;
    // sessions take turns now and then, so that there are few runs
    if (oldest !== undefined && --oldest.events === 0) this.#forgettable.shift();
  }

  #waits(chars: number): void {
    this.#waitingChars += chars;
    const { highWaterBytes, maxQueuedBytes } = this.#options.limits;
    if (this.#waitingChars > maxQueuedBytes) return this.#host.ended(overflow(this.#waitingChars));
    if (this.#waitingChars > highWaterBytes) this.#hasRoom = false;
    else if (!this.#hasRoom) {
      this.#hasRoom = true;
      this.#host.drained();
    }
  }
}
