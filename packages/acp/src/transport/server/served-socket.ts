// The WebSockets of one remote connection, one after the other. A client that can resume gets what it missed.

import type { EndReason } from "../../jsonrpc/transport.ts";
import type { FrameLimits } from "../byte-channel.ts";
import { CountedFrames, readCount, unknownConnectionCode } from "../counted-frames.ts";
import type { RingLimits } from "../sent-ring.ts";
import { SocketTransport, type WebSocketLike } from "../socket-transport.ts";
import type { RemoteHost, RemoteWire } from "./remote-transport.ts";

export interface ServedSocketOptions {
  readonly connectionId: string;
  readonly canResume: boolean;
  readonly graceMs: number;
  readonly closeTimeoutMs: number;
  readonly limits: FrameLimits & RingLimits;
  /** Takes the first message; false if the connection cannot begin with it. */
  begin(value: unknown): boolean;
}

/** Codes of a cut. With every other one the client closed it on purpose, or because of a fault. 4001 is a browser's 1001. */
const cutCodes: ReadonlySet<number | undefined> = new Set([undefined, 1001, 1006, 1012, 1014, 1015, 4001]);

export class ServedSocket implements RemoteWire {
  readonly #host: RemoteHost;
  readonly #options: ServedSocketOptions;
  readonly #frames = new CountedFrames();
  #link: SocketTransport | undefined;
  /** Whether messages may be sent: a socket that resumes must first tell what has arrived. */
  #isLive = false;
  #hasBegun = false;
  #isPaused = false;
  /** Whether the host's socket can ask the client if it is there. */
  #isPinged = false;
  /** Whether an answer to a ping is late: the client counts as away until it is heard. */
  #isLate = false;
  /** Since when the socket has no room. */
  #fullAt: number | undefined;
  #isOver = false;
  /** Why the server closes it; undefined while it does not. */
  #why: string | undefined;

  constructor(host: RemoteHost, options: ServedSocketOptions) {
    this.#host = host;
    this.#options = options;
  }

  get canResume(): boolean {
    return this.#options.canResume && this.#hasBegun;
  }

  /** Goes on with this socket. */
  attach(socket: WebSocketLike): void {
    const { limits, closeTimeoutMs, canResume, connectionId } = this.#options;
    // JSON has no Infinity
    const graceMs = Math.min(this.#options.graceMs, Number.MAX_SAFE_INTEGER);
    this.#leave(1001, "the client has another socket");
    const link = new SocketTransport(socket, { limits, closeTimeoutMs });
    this.#link = link;
    this.#frames.silence.heard();
    this.#isLate = false;
    this.#isPinged = link.onPong(() => {
      if (this.#link === link) this.#heard();
    });
    const ifCurrent = (act: () => void) => () => {
      if (this.#link === link) act();
    };
    link.start({
      message: (value, text) => {
        if (this.#link !== link) return;
        this.#heard();
        this.#message(value, text);
      },
      reject: (fault) => {
        if (this.#link !== link) return;
        this.#heard();
        if (!this.#hasBegun) return this.#refuse();
        this.#count(fault.bytes);
        this.#host.reject(fault);
      },
      idle: () => undefined,
      drain: ifCurrent(() => {
        this.#fullAt = undefined;
        this.#host.drained();
      }),
      end: (reason) => {
        if (this.#link === link) this.#ended(link, reason);
      },
    });
    if (this.#isPaused) link.pause();
    const isNew = !this.#hasBegun;
    this.#isLive = isNew;
    if (canResume) link.send({}, this.#frames.count(isNew ? { connectionId, graceMs } : {}));
    if (isNew) this.#host.attached(true);
  }

  send(message: object, text: string): boolean {
    if (this.#isOver) return true;
    if (this.#options.canResume) this.#frames.keep(text, this.#options.limits);
    if (this.#link === undefined || !this.#isLive) return true;
    const hasRoom = this.#link.send(message, text);
    if (!hasRoom) this.#fullAt ??= performance.now();
    return hasRoom || this.#isOver;
  }

  pause(): void {
    this.#isPaused = true;
    this.#link?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#link?.resume();
  }

  beat(stallMs: number): void {
    if (this.#link === undefined) return;
    if (this.#fullAt !== undefined && performance.now() - this.#fullAt > stallMs)
      return this.#detach(1013, "the reader is too slow");
    const { canResume } = this.#options;
    if (!canResume && !this.#isPinged) return;
    const { silence } = this.#frames;
    // while nothing is read, nothing can be heard
    if (this.#isPaused) silence.heard();
    if (silence.beat()) return this.#detach(1001, "the client is silent");
    this.#link.ping();
    if (canResume && this.#isLive) this.#link.send({}, this.#frames.count());
  }

  checkPing(): void {
    // while nothing is read, no answer can be heard
    if (!this.#isPinged || this.#isPaused || this.#link?.isPingOpen !== true) return;
    this.#isLate = true;
    this.#host.attached(false);
  }

  async close(reason: Error | undefined): Promise<void> {
    this.#isOver = true;
    const isExpected = this.#why === undefined && reason === undefined;
    const code = isExpected ? 1000 : this.#overCode(reason);
    await this.#link?.close(reason, code, this.#why ?? reason?.message);
  }

  leaving(why: string): void {
    this.#why = why;
  }

  drop(why = "the connection is over"): void {
    this.#isOver = true;
    this.#leave(this.#overCode(), why);
  }

  /** A client that can resume would come back after another code. */
  #overCode(reason?: Error): number {
    if (this.canResume) return unknownConnectionCode;
    return reason === undefined || this.#why !== undefined ? 1001 : 1011;
  }

  #message(value: unknown, text: string): void {
    const count = this.#options.canResume ? readCount(value) : undefined;
    if (count !== undefined) return this.#counted(count);
    if (!this.#isLive) return this.#detach(1002, "expected the count of messages first");
    if (!this.#hasBegun) {
      this.#hasBegun = this.#options.begin(value);
      if (!this.#hasBegun) return this.#refuse();
    }
    this.#count(text.length);
    this.#host.message(value, text);
  }

  #heard(): void {
    this.#frames.silence.heard();
    if (!this.#isLate) return;
    this.#isLate = false;
    if (this.#isLive) this.#host.attached(true);
  }

  #count(chars: number): void {
    if (this.#frames.take(chars) && this.#options.canResume) this.#link?.send({}, this.#frames.count());
  }

  #counted(count: { readonly received: number }): void {
    const missing = this.#isLive ? [] : this.#frames.missing(count);
    if (missing === undefined) {
      this.#leave(unknownConnectionCode, "what was missed is forgotten");
      return this.#host.ended({ kind: "closed", message: "the client missed more than is kept for it" });
    }
    if (!this.#frames.acknowledged(count)) return this.#detach(1002, "the count is too large");
    if (this.#isLive) return;
    this.#isLive = true;
    for (const text of missing) if (this.#link?.send({}, text) === false) this.#fullAt ??= performance.now();
    this.#host.attached(true);
  }

  #refuse(): void {
    this.#leave(1002, "expected initialize first");
    this.#host.ended({ kind: "protocol", message: "the first message was not initialize" });
  }

  #ended(link: SocketTransport, reason: EndReason): void {
    this.#link = undefined;
    // it was closed here
    if (this.#isOver) return;
    const isCut = this.#hasBegun && reason.kind !== "overflow" && cutCodes.has(link.closeCode);
    if (isCut) this.#detach();
    else this.#host.ended(reason);
  }

  #detach(code = 1001, why = ""): void {
    this.#leave(code, why);
    if (!this.#hasBegun) return this.#host.ended({ kind: "closed", message: why });
    // who waits for room need not wait for a client that has gone
    this.#host.drained();
    this.#host.attached(false);
  }

  #leave(code: number, why: string): void {
    const link = this.#link;
    this.#link = undefined;
    this.#isLive = false;
    this.#fullAt = undefined;
    link?.drop(code, why);
  }
}
