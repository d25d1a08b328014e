// A client's connection over several WebSockets, one after the other: after a cut a new one goes on where the last one ended.

import { type Deadline, deadline, sleep } from "../base/deadline.ts";
import { limitsFrom } from "../jsonrpc/connection-options.ts";
import { closedHere, type EndReason, type Sink, type Transport } from "../jsonrpc/transport.ts";
import { defaultFrameLimits, type FrameLimits, overflow } from "./byte-channel.ts";
import {
  CountedFrames,
  connectionProtocol,
  readCount,
  resumeProtocol,
  unknownConnectionCode,
} from "./counted-frames.ts";
import { ReconnectPace } from "./reconnect-pace.ts";
import { defaultRingLimits } from "./sent-ring.ts";
import { SocketTransport, type WebSocketLike } from "./socket-transport.ts";

interface ResumingOptions {
  readonly limits?: Partial<FrameLimits> | undefined;
  readonly closeTimeoutMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  readonly silenceMs?: number | undefined;
  readonly backoffMs?: number | undefined;
}

/** The server closed it on purpose, or says that we broke the protocol. Everything else is a cut. */
const finalCodes: ReadonlySet<number | undefined> = new Set([
  1000,
  1002,
  1003,
  1005,
  1007,
  1008,
  1009,
  unknownConnectionCode,
]);

export class ResumingSocket implements Transport {
  readonly #open: (protocols: string[]) => WebSocketLike;
  readonly #options: ResumingOptions;
  readonly #limits: FrameLimits;
  readonly #silenceMs: number;
  readonly #frames = new CountedFrames();
  readonly #over = new AbortController();
  #sink: Sink | undefined;
  #link: SocketTransport | undefined;
  /** Whether messages may be sent: a socket that resumes must first tell what has arrived. */
  #isLive = false;
  /** Undefined until the server's first frame. */
  #canResume: boolean | undefined;
  #connectionId = "";
  #pace: ReconnectPace | undefined;
  /** Characters that wait for a socket. */
  #waitingChars = 0;
  #hasRoom = true;
  #isPaused = false;
  #heart: ReturnType<typeof setInterval> | undefined;
  #opening: Deadline;
  /** Why the last socket ended. */
  #cut: EndReason | undefined;

  constructor(open: (protocols: string[]) => WebSocketLike, options: ResumingOptions) {
    this.#open = open;
    this.#options = options;
    this.#limits = limitsFrom(defaultFrameLimits, options.limits);
    this.#silenceMs = options.silenceMs ?? 45_000;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#isLive = true;
    // deferred, because a socket that cannot be made ends it
    queueMicrotask(() => this.#attach([resumeProtocol]));
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    if (this.#over.signal.aborted) return true;
    if (this.#canResume === false && this.#link !== undefined) return this.#link.send(message, text);
    this.#frames.sent.push(text);
    if (this.#isLive && this.#link !== undefined) {
      // until the server has said that it can resume, everything is kept
      if (this.#canResume) this.#frames.sent.keepWithin(defaultRingLimits);
      return this.#link.send(message, text);
    }
    this.#waitingChars += text.length;
    const { highWaterBytes, maxQueuedBytes } = this.#limits;
    if (this.#waitingChars > maxQueuedBytes) this.#end(overflow(this.#waitingChars));
    if (this.#waitingChars > highWaterBytes) this.#hasRoom = false;
    return this.#hasRoom;
  }

  pause(): void {
    this.#isPaused = true;
    this.#link?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#frames.heardAt = performance.now();
    this.#link?.resume();
  }

  async close(reason?: Error): Promise<void> {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#stop();
    sink?.end(closedHere);
    await this.#link?.close(reason);
  }

  #attach(protocols: string[]): void {
    if (this.#over.signal.aborted) return;
    const { limits, closeTimeoutMs } = this.#options;
    let link: SocketTransport;
    try {
      link = new SocketTransport(this.#open(protocols), { limits, closeTimeoutMs });
    } catch (cause) {
      // its own words may quote a header, which is a secret
      return this.#end({ kind: "closed", message: "the WebSocket could not be opened", cause });
    }
    this.#link = link;
    const isCurrent = () => this.#link === link && !this.#over.signal.aborted;
    link.start({
      message: (value, text) => {
        if (isCurrent()) this.#message(value, text);
      },
      reject: (fault) => {
        if (!isCurrent()) return;
        this.#count(fault.bytes);
        this.#sink?.reject(fault);
      },
      idle: () => this.#sink?.idle(),
      drain: () => {
        if (isCurrent() && this.#isLive) this.#sink?.drain();
      },
      end: (reason) => {
        if (isCurrent()) this.#ended(link, reason);
      },
    });
    if (this.#isPaused) link.pause();
    if (this.#isLive) this.#sendAll(0);
    else link.send({}, this.#frames.count());
  }

  #message(value: unknown, text: string): void {
    const count = this.#canResume === false ? undefined : readCount(value);
    if (this.#canResume === undefined) {
      this.#canResume = count?.connectionId !== undefined;
      if (!this.#canResume) this.#frames.sent.forgetTo(this.#frames.sent.last);
      else this.#begin(count?.connectionId ?? "", count?.graceMs ?? 0);
    }
    if (!this.#canResume) return this.#sink?.message(value, text);
    if (count !== undefined) return this.#counted(count);
    if (!this.#isLive)
      return this.#end({ kind: "protocol", message: "the server does not say what it has received" });
    this.#count(text.length);
    this.#sink?.message(value, text);
  }

  /** The server can resume the connection. */
  #begin(connectionId: string, graceMs: number): void {
    const { heartbeatMs = 15_000, backoffMs = 100 } = this.#options;
    this.#connectionId = connectionId;
    this.#pace = new ReconnectPace(backoffMs, graceMs);
    if (heartbeatMs !== Number.POSITIVE_INFINITY) this.#heart = setInterval(() => this.#beat(), heartbeatMs);
  }

  #count(chars: number): void {
    if (this.#canResume && this.#frames.take(chars)) this.#link?.send({}, this.#frames.count());
  }

  #counted(count: { readonly received: number }): void {
    const { sent } = this.#frames;
    const hasAll = this.#isLive || sent.hasAllAfter(count.received);
    if (!hasAll || !this.#frames.acknowledged(count))
      return this.#end({ kind: "closed", message: "the server missed more messages than are kept for it" });
    if (this.#isLive) return;
    clearTimeout(this.#opening);
    this.#isLive = true;
    this.#pace?.reset();
    this.#waitingChars = 0;
    const hasRoom = this.#sendAll(count.received);
    if (this.#hasRoom) return;
    this.#hasRoom = true;
    // where it has none, the socket says itself when there is
    if (hasRoom) this.#sink?.drain();
  }

  /** Sends everything behind this number. */
  #sendAll(received: number): boolean {
    const { sent } = this.#frames;
    let hasRoom = true;
    for (let n = received + 1; n <= sent.last; n++) hasRoom = this.#link?.send({}, sent.at(n) ?? "") ?? true;
    return hasRoom;
  }

  #beat(): void {
    if (!this.#isLive) return;
    const isSilent = performance.now() - this.#frames.heardAt > this.#silenceMs;
    if (!isSilent || this.#isPaused) return void this.#link?.send({}, this.#frames.count());
    this.#lost({ kind: "closed", message: `the server was silent for ${this.#silenceMs / 1_000} s` });
  }

  #ended(link: SocketTransport, reason: EndReason): void {
    if (this.#canResume === undefined && !link.wasOpen && !this.#cut && reason.kind !== "overflow") {
      // some servers refuse a socket whose subprotocol they do not know
      this.#cut = reason;
      this.#canResume = false;
      this.#attach([]);
      // what is sent from now on is not kept
      this.#frames.sent.forgetTo(this.#frames.sent.last);
      return;
    }
    const isFinal = finalCodes.has(link.closeCode) || reason.kind === "overflow";
    if (this.#canResume && !isFinal) return this.#lost(reason);
    const forgot = link.closeCode === unknownConnectionCode;
    const before = forgot ? this.#cut?.message : undefined;
    this.#end(before === undefined ? reason : { ...reason, message: `${reason.message} (${before})` });
  }

  /** Goes on with a new socket. */
  #lost(reason: EndReason): void {
    clearTimeout(this.#opening);
    const link = this.#link;
    this.#link = undefined;
    this.#isLive = false;
    this.#cut = reason;
    link?.drop(1001, "the connection goes on elsewhere");
    const ms = this.#pace?.next();
    if (ms === undefined) return this.#end(reason);
    void sleep(ms, this.#over.signal).then(() => {
      if (this.#over.signal.aborted) return;
      this.#opening = deadline(this.#silenceMs, () => this.#lost(reason));
      this.#attach([resumeProtocol, `${connectionProtocol}${this.#connectionId}`]);
    });
  }

  #stop(): void {
    this.#over.abort();
    clearTimeout(this.#opening);
    clearInterval(this.#heart);
  }

  #end(reason: EndReason): void {
    if (this.#over.signal.aborted) return;
    const sink = this.#sink;
    this.#sink = undefined;
    this.#stop();
    this.#link?.drop(1001, "the connection is over");
    sink?.end(reason);
  }
}
