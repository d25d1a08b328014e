// Implements a transport on a WebSocket of a browser, of Node or of the `ws` package: one message per text frame.

import { type Deadline, deadline, milliseconds } from "../base/deadline.ts";
import { limitsFrom } from "../jsonrpc/connection-options.ts";
import { closedHere, type EndReason, type Sink, type Transport } from "../jsonrpc/transport.ts";
import { defaultFrameLimits, type FrameLimits, overflow, webPlatform } from "./byte-channel.ts";
import { type FrameParser, frameParser } from "./frame-parser.ts";
import { isRefusedSocket } from "./refusal.ts";

/**
 * Registers or removes a listener.
 *
 * @inline
 */
interface Listening {
  (type: "open", listener: () => void): void;
  (type: "message", listener: (event: { readonly data: unknown }) => void): void;
  (type: "close", listener: (event: { readonly code: number; readonly reason: string }) => void): void;
  (type: "error", listener: (event: { readonly message?: string; readonly error?: unknown }) => void): void;
}

/** The parts of the standard WebSocket that the transport uses; `ws` sockets fit too. */
export interface WebSocketLike {
  /** 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Bytes that were sent and have not left yet. */
  readonly bufferedAmount: number;
  /** Set to "arraybuffer" by the transport. */
  binaryType: string;
  /** Sends one text frame. Only `ws` calls `sent`. */
  send(text: string, sent?: (error?: Error | null) => void): void;
  /** Begins to close. */
  close(code?: number, reason?: string): void;
  /** Drops a socket whose peer does not answer the close frame; `ws` only. */
  terminate?(): void;
  /** As in browsers. */
  readonly addEventListener: Listening;
  /** Without it the listeners stay for as long as the socket lives. */
  readonly removeEventListener?: Listening;
  /** Stops reading; `ws` only. */
  pause?(): void;
  /** Reads on; `ws` only. */
  resume?(): void;
  /** Asks the peer for an answer, which proves that it is there; `ws` only. */
  ping?(): void;
  /** Calls back for each answer to a ping; `ws` only. */
  on?(type: "pong", listener: () => void): unknown;
}

/** The options of one socket. */
export interface SocketOptions {
  /** The largest message, and how much output may wait. */
  readonly limits?: Partial<FrameLimits> | undefined;
  /** How long to wait for the peer's close frame before the socket is abandoned, in milliseconds. Default 1,000. */
  readonly closeTimeoutMs?: number | undefined;
}

const connecting = 0;
const open = 1;
const closing = 2;
const closedState = 3;
const maxReasonBytes = 123;
const encoder = new TextEncoder();
/** The standard socket has no drain event, so `bufferedAmount` is polled. */
const pollMs = 5;

export class SocketTransport implements Transport {
  /** The code with which the socket was closed; undefined before. */
  closeCode: number | undefined;
  /** Whether the socket was ever open. */
  wasOpen = false;
  readonly #socket: WebSocketLike;
  readonly #limits: FrameLimits;
  readonly #closeTimeoutMs: number;
  readonly #closed = Promise.withResolvers<void>();
  #sink: Sink | undefined;
  #parser: FrameParser | undefined;
  /** Messages from before `start`, which the standard socket cannot hold back; undefined afterwards. */
  #early: string[] | undefined = [];
  #earlyChars = 0;
  #endedEarly: EndReason | undefined;
  #failure: { readonly message: string; readonly cause: unknown } | undefined;
  #beforeOpen: string[] = [];
  #beforeOpenChars = 0;
  #room = true;
  /** Bytes that were ahead of the last ping; undefined when the peer was heard since. */
  #queuedAtPing: number | undefined;
  #closeDeadline: Deadline;
  #isWaitingForClose = false;

  constructor(socket: WebSocketLike, options: SocketOptions) {
    this.#socket = socket;
    this.wasOpen = socket.readyState === open;
    this.#limits = limitsFrom(defaultFrameLimits, options.limits);
    this.#closeTimeoutMs = milliseconds("closeTimeoutMs", options.closeTimeoutMs ?? 1_000);
    // binary frames are ignored, so do not make Blobs of them
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", this.#onOpen);
    socket.addEventListener("message", this.#onMessage);
    socket.addEventListener("error", this.#onError);
    socket.addEventListener("close", this.#onClose);
    // `ws` ignores this while it connects; messages are then kept in #early
    socket.pause?.();
  }

  start(sink: Sink): void {
    this.#sink = sink;
    this.#parser = frameParser(sink, this.#limits, webPlatform);
    queueMicrotask(() => {
      const early = this.#early ?? [];
      this.#early = undefined;
      for (const text of early) this.#read(text);
      this.#socket.resume?.();
      if (this.#endedEarly !== undefined) this.#ended(this.#endedEarly);
      else if (this.#socket.readyState === closedState) this.#ended(endReason(1006, ""));
    });
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    const socket = this.#socket;
    if (socket.readyState === connecting) {
      this.#beforeOpen.push(text);
      this.#beforeOpenChars += text.length;
      return this.#hasRoomFor(this.#beforeOpenChars);
    }
    if (socket.readyState !== open) {
      // closed by somebody else: the peer may never answer
      if (socket.readyState === closing) this.#waitForClose();
      return true;
    }
    // only `ws` takes a callback
    if (socket.pause === undefined) socket.send(text);
    else socket.send(text, this.#onSent);
    return this.#hasRoomFor(socket.bufferedAmount);
  }

  pause(): void {
    this.#socket.pause?.();
  }

  resume(): void {
    this.#socket.resume?.();
  }

  async close(reason?: Error, code = reason === undefined ? 1000 : 1011, why?: string): Promise<void> {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#early = undefined;
    sink?.end(closedHere);
    if (this.#socket.readyState === closedState) return;
    this.#closeWith(code, why);
    // a paused socket would never see the peer's close frame
    this.#socket.resume?.();
    await this.#closed.promise;
  }

  /** Calls back whenever the peer answers a ping. Returns false where the socket cannot send any. */
  onPong(answered: () => void): boolean {
    const socket = this.#socket;
    if (socket.ping === undefined || socket.on === undefined) return false;
    socket.on("pong", () => {
      this.#queuedAtPing = undefined;
      answered();
    });
    return true;
  }

  ping(): void {
    if (this.#socket.readyState !== open) return;
    this.#queuedAtPing = this.#socket.bufferedAmount;
    this.#socket.ping?.();
  }

  /** Whether nothing has come since the ping. One that waits behind a queue which gets shorter is not late. */
  get isPingOpen(): boolean {
    const queued = this.#queuedAtPing;
    return queued !== undefined && (queued === 0 || this.#socket.bufferedAmount >= queued);
  }

  /** Leaves the socket at once, without a word to the sink. What was sent may be lost. */
  drop(code: number, why: string): void {
    this.#sink = undefined;
    this.#early = undefined;
    this.#beforeOpen = [];
    this.#leave();
    if (this.#socket.readyState === closedState) return;
    try {
      this.#closeWith(code, why);
      // a paused socket would never see the peer's close frame
      this.#socket.resume?.();
    } catch {
      // one that is still connecting may throw
    }
  }

  /** Maps the code for standard sockets, which throw for codes other than 1000 and 3000-4999. */
  #closeWith(code: number, reason = ""): void {
    const isStandard = this.#socket.terminate === undefined;
    // a socket throws for more than a close frame holds
    const { read } = encoder.encodeInto(reason, new Uint8Array(maxReasonBytes));
    const said = reason.slice(0, read);
    this.#socket.close(isStandard && code > 1000 && code < 3_000 ? code + 3_000 : code, said);
    this.#waitForClose();
  }

  /** Abandons the socket when the peer does not answer in time. */
  #waitForClose(): void {
    if (this.#isWaitingForClose) return;
    this.#isWaitingForClose = true;
    this.#closeDeadline = deadline(this.#closeTimeoutMs, () => {
      this.#socket.terminate?.();
      this.#leave();
      this.#ended(endReason(1006, "the peer does not answer the close"));
    });
  }

  /** Detaches from a socket that is closed or abandoned. */
  #leave(): void {
    clearTimeout(this.#closeDeadline);
    this.#isWaitingForClose = false;
    const socket = this.#socket;
    // `ws` throws errors without a listener, and a dropped socket may still emit one
    socket.addEventListener("error", ignore);
    socket.removeEventListener?.("open", this.#onOpen);
    socket.removeEventListener?.("message", this.#onMessage);
    socket.removeEventListener?.("error", this.#onError);
    socket.removeEventListener?.("close", this.#onClose);
    this.#closed.resolve();
  }

  readonly #onOpen = () => {
    this.wasOpen = true;
    this.#flushBeforeOpen();
  };

  readonly #onMessage = ({ data }: { readonly data: unknown }) => {
    this.#queuedAtPing = undefined;
    if (typeof data !== "string") return;
    if (this.#early === undefined) this.#read(data);
    else this.#keep(this.#early, data);
  };

  /** Remembers the error for the "close" event that follows. */
  readonly #onError = ({ message = "", error }: { readonly message?: string; readonly error?: unknown }) => {
    this.#failure ??= { message, cause: error };
  };

  readonly #onClose = ({ code, reason }: { readonly code: number; readonly reason: string }) => {
    this.#leave();
    this.closeCode = code;
    const said = reason === "" ? (this.#failure?.message ?? "") : reason;
    this.#ended(endReason(code, said, this.#failure?.cause));
  };

  readonly #onSent = () => this.#checkRoom();

  #read(text: string): void {
    if (this.#sink === undefined) return;
    this.#parser?.frame(text);
    this.#sink?.idle();
  }

  #keep(early: string[], text: string): void {
    early.push(text);
    this.#earlyChars += text.length;
    if (this.#earlyChars <= this.#limits.maxQueuedBytes) return;
    early.length = 0;
    this.#closeWith(1008, "not started");
    this.#ended({ kind: "overflow", message: "too much arrived before the transport was started" });
  }

  #hasRoomFor(queued: number): boolean {
    if (queued <= this.#limits.highWaterBytes) return true;
    if (queued > this.#limits.maxQueuedBytes) this.#overflow(queued);
    else if (this.#room) {
      this.#room = false;
      if (this.#socket.pause === undefined) this.#poll();
    }
    return false;
  }

  #checkRoom(): void {
    if (this.#socket.readyState === connecting) return;
    if (this.#room || this.#socket.bufferedAmount > this.#limits.highWaterBytes) return;
    this.#room = true;
    this.#sink?.drain();
  }

  #poll(): void {
    setTimeout(() => {
      this.#checkRoom();
      if (!this.#room && this.#sink !== undefined) this.#poll();
    }, pollMs);
  }

  #flushBeforeOpen(): void {
    const texts = this.#beforeOpen;
    this.#beforeOpen = [];
    this.#beforeOpenChars = 0;
    for (const text of texts) {
      if (this.#socket.pause === undefined) this.#socket.send(text);
      else this.#socket.send(text, this.#onSent);
    }
    this.#checkRoom();
  }

  #overflow(queued: number): void {
    this.#beforeOpen = [];
    this.#closeWith(1013, "the peer does not read");
    this.#ended(overflow(queued));
  }

  #ended(reason: EndReason): void {
    if (this.#early !== undefined) {
      this.#endedEarly ??= reason;
      return;
    }
    const sink = this.#sink;
    this.#sink = undefined;
    sink?.end(reason);
  }
}

function ignore(): void {
  // see #leave
}

function endReason(code: number, reason: string, cause?: unknown): EndReason {
  const said = reason === "" ? "" : `: ${reason}`;
  if (code === 1000 || code === 1001 || code === 1005) {
    return { kind: "closed", message: `the peer closed the WebSocket${said}` };
  }
  if (isRefusedSocket(cause)) return { kind: "refused", message: "the server does not let us in", cause };
  const kind =
    code === 1002 || code === 1003 || code === 1007 ? "protocol" : code === 1009 ? "too_large" : "closed";
  const message = `the WebSocket closed with code ${code}${said}`;
  return cause === undefined ? { kind, message } : { kind, message, cause };
}
