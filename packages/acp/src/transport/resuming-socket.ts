// A client's connection over several WebSockets, one after the other: after a cut a new one goes on where the last one ended.

import { sleep, withTimeout } from "../base/abortable.ts";
import { type Deadline, deadline } from "../base/deadline.ts";
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
import { isRefusedSocket } from "./refusal.ts";
import { defaultRingLimits } from "./sent-ring.ts";
import { SocketTransport, type WebSocketLike } from "./socket-transport.ts";

/** Opens a WebSocket that offers these subprotocols, beside your own. Called again after each cut. */
export type OpenWebSocket = (protocols: string[]) => WebSocketLike | Promise<WebSocketLike>;

interface ResumingOptions {
  readonly limits?: Partial<FrameLimits> | undefined;
  readonly closeTimeoutMs?: number | undefined;
  readonly heartbeatMs?: number | undefined;
  readonly silenceMs?: number | undefined;
  readonly backoffMs?: number | undefined;
  readonly onCut?: ((isCut: boolean, keptMs: number) => void) | undefined;
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
  readonly #open: OpenWebSocket;
  readonly #options: ResumingOptions;
  readonly #limits: FrameLimits;
  readonly #silenceMs: number;
  readonly #heartbeatMs: number;
  readonly #frames: CountedFrames;
  readonly #over = new AbortController();
  #sink: Sink | undefined;
  #link: SocketTransport | undefined;
  /** Counts the sockets that were asked for: one that comes too late is not used. */
  #attempts = 0;
  /** Whether messages may be sent: a socket that resumes must first tell what has arrived. */
  #isLive = false;
  /** Undefined until the server's first frame. */
  #canResume: boolean | undefined;
  #connectionId = "";
  #keptMs = 0;
  #isCut = false;
  #pace: ReconnectPace | undefined;
  /** Characters that wait for a socket. */
  #waitingChars = 0;
  #hasRoom = true;
  #isPaused = false;
  #heart: ReturnType<typeof setInterval> | undefined;
  #opening: Deadline;
  /** Why the last socket ended. */
  #cut: EndReason | undefined;

  constructor(open: OpenWebSocket, options: ResumingOptions) {
    this.#open = open;
    this.#options = options;
    this.#limits = limitsFrom(defaultFrameLimits, options.limits);
    this.#silenceMs = options.silenceMs ?? 45_000;
    this.#heartbeatMs = options.heartbeatMs ?? 15_000;
    this.#frames = new CountedFrames(1 + Math.ceil(this.#silenceMs / this.#heartbeatMs));
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#isLive = true;
    // deferred, because a socket that cannot be made ends it
    queueMicrotask(() => void this.#attach([resumeProtocol]));
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
    this.#link?.resume();
  }

  async close(reason?: Error): Promise<void> {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#stop();
    sink?.end(closedHere);
    if (this.#canResume && !this.#isLive) await this.#closeElsewhere(reason);
    else await this.#link?.close(reason);
  }

  /** Closes a connection that was just cut: otherwise the server would wait for us. One attempt, within a short time. */
  async #closeElsewhere(reason: Error | undefined): Promise<void> {
    this.#link?.drop(1001, "the connection goes on elsewhere");
    const { limits, closeTimeoutMs = 1_000 } = this.#options;
    const answered = Promise.withResolvers<void>();
    try {
      const opened = Promise.resolve(this.#open(this.#resumeProtocols()));
      const socket = await withTimeout(closeTimeoutMs, opened);
      if (socket === undefined) return void opened.then((late) => late.close(), ignore);
      const link = new SocketTransport(socket, { limits, closeTimeoutMs });
      const heard = () => answered.resolve();
      link.start({ message: heard, reject: heard, idle: heard, drain: () => undefined, end: heard });
      await withTimeout(closeTimeoutMs, answered.promise);
      await link.close(reason);
    } catch {
      // the server cannot be reached; it ends the connection after its grace time
    }
  }

  #resumeProtocols(): string[] {
    return [resumeProtocol, `${connectionProtocol}${this.#connectionId}`];
  }

  /** Never rejects. */
  async #attach(protocols: string[]): Promise<void> {
    if (this.#over.signal.aborted) return;
    const attempt = ++this.#attempts;
    const isTooLate = () => attempt !== this.#attempts || this.#over.signal.aborted;
    const { limits, closeTimeoutMs } = this.#options;
    let link: SocketTransport;
    try {
      const opening = this.#open(protocols);
      const socket = opening instanceof Promise ? await opening : opening;
      link = new SocketTransport(socket, { limits, closeTimeoutMs });
    } catch (cause) {
      if (isTooLate()) return;
      // its own words may quote a header, which is a secret
      const isRefused = isRefusedSocket(cause);
      const message = `the WebSocket could not be opened${isRefused ? ": the server does not let us in" : ""}`;
      const reason: EndReason = { kind: isRefused ? "refused" : "closed", message, cause };
      return this.#canResume ? this.#lost(reason) : this.#end(reason);
    }
    if (isTooLate()) return link.drop(1001, "the connection goes on elsewhere");
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
    if (!this.#isLive) return void link.send({}, this.#frames.count());
    this.#sendAll(0);
    // what is sent from now on is not kept
    if (this.#canResume === false) this.#frames.sent.forgetTo(this.#frames.sent.last);
  }

  #message(value: unknown, text: string): void {
    const count = this.#canResume === false ? undefined : readCount(value);
    this.#frames.silence.heard();
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
    const { backoffMs = 100 } = this.#options;
    this.#connectionId = connectionId;
    this.#keptMs = graceMs;
    this.#pace = new ReconnectPace(backoffMs, graceMs);
    if (this.#heartbeatMs !== Number.POSITIVE_INFINITY)
      this.#heart = setInterval(() => this.#beat(), this.#heartbeatMs);
  }

  #count(chars: number): void {
    if (this.#canResume && this.#frames.take(chars)) this.#link?.send({}, this.#frames.count());
  }

  #counted(count: { readonly received: number }): void {
    const { sent } = this.#frames;
    const hasAll = this.#isLive || sent.hasAllAfter(count.received);
    if (!hasAll || !this.#frames.acknowledged(count))
      return this.#end({ kind: "closed", message: "the server missed more messages than are kept for it" });
    if (this.#isLive) return this.#answerCount();
    clearTimeout(this.#opening);
    this.#isLive = true;
    this.#cut = undefined;
    this.#pace?.reset();
    this.#reportCut(false);
    this.#sendAll(count.received);
  }

  /** Browsers slow down the timers of hidden pages; what arrives is not slowed down. */
  #answerCount(): void {
    if (performance.now() - this.#frames.countedAt >= this.#heartbeatMs / 2)
      this.#link?.send({}, this.#frames.count());
  }

  /** Sends everything behind this number. */
  #sendAll(received: number): void {
    const { sent } = this.#frames;
    let hasRoom = true;
    for (let n = received + 1; n <= sent.last; n++) hasRoom = this.#link?.send({}, sent.at(n) ?? "") ?? true;
    this.#waitingChars = 0;
    if (this.#hasRoom) return;
    this.#hasRoom = true;
    // where it has none, the socket says itself when there is
    if (hasRoom) this.#sink?.drain();
  }

  #beat(): void {
    if (!this.#isLive) return;
    // while nothing is read, nothing can be heard
    if (this.#isPaused) this.#frames.silence.heard();
    if (!this.#frames.silence.beat()) return void this.#link?.send({}, this.#frames.count());
    this.#lost({ kind: "closed", message: `the server was silent for ${this.#silenceMs / 1_000} s` });
  }

  #ended(link: SocketTransport, reason: EndReason): void {
    if (this.#canResume === undefined && !link.wasOpen && !this.#cut && reason.kind !== "overflow") {
      // some servers refuse a socket whose subprotocol they do not know
      this.#cut = reason;
      this.#canResume = false;
      this.#link = undefined;
      return void this.#attach([]);
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
    this.#attempts++;
    const link = this.#link;
    this.#link = undefined;
    this.#isLive = false;
    this.#cut = reason;
    link?.drop(1001, "the connection goes on elsewhere");
    const ms = this.#pace?.next();
    if (ms === undefined) {
      const { message = "the connection was cut" } = reason;
      return this.#end({ ...reason, message: this.#pace?.gaveUp(message) ?? message });
    }
    this.#reportCut(true);
    void sleep(ms, this.#over.signal).then(() => {
      if (this.#over.signal.aborted) return;
      this.#opening = deadline(this.#silenceMs, () => this.#lost(reason));
      void this.#attach(this.#resumeProtocols());
    });
  }

  #reportCut(isCut: boolean): void {
    if (this.#isCut === isCut) return;
    this.#isCut = isCut;
    this.#options.onCut?.(isCut, this.#keptMs);
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

function ignore(): void {
  // it could not be opened, and nobody needs it any more
}
