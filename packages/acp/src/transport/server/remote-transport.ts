// The transport of a remote connection, as the agent sees it. It outlives the sockets and streams of the client: a cut
// only detaches it, and it ends when the client stays away.

import { backgroundDeadline, type Deadline } from "../../base/deadline.ts";
import {
  type Attachment,
  closedHere,
  type EndReason,
  type Fault,
  type Sink,
  type Transport,
} from "../../jsonrpc/transport.ts";

/** Carries the messages of a remote connection: event streams or WebSockets. */
export interface RemoteWire {
  send(message: object, text: string): boolean;
  pause(): void;
  resume(): void;
  /** Keeps the connection alive, and leaves a reader that has taken nothing for so long. */
  beat(stallMs: number): void;
  /** Called when the answer to the ping of a heartbeat should have come: without it the client counts as away. */
  checkPing(): void;
  /** Why it will be closed, for the client. */
  leaving(why: string): void;
  /** Closes it at this end, behind what was sent, and tells the client not to come back. */
  close(reason: Error | undefined): Promise<void>;
  /** The connection is over, for this reason. */
  drop(why?: string): void;
}

/** Takes the reports of a wire. */
export interface RemoteHost {
  message(value: unknown, text: string): void;
  reject(fault: Fault): void;
  drained(): void;
  /** The client is there, or has gone. */
  attached(isAttached: boolean): void;
  /** The connection is over. */
  ended(reason: EndReason): void;
}

export class RemoteTransport<Wire extends RemoteWire = RemoteWire> implements Transport {
  readonly wire: Wire;
  readonly attachment: Attachment;
  readonly #graceMs: number;
  readonly #over: () => void;
  readonly #listeners = new Set<() => void>();
  #isAttached = true;
  #grace: Deadline;
  #detachedAt: number | undefined;
  #sink: Sink | undefined;
  /** Messages that arrived before the start or during a pause. */
  #held: { readonly chars: number; deliver(sink: Sink): void }[] = [];
  #heldChars = 0;
  #isHolding = true;
  #isPaused = false;
  #end: EndReason | undefined;
  #closedFor: string | undefined;
  #closing: Promise<void> | undefined;

  /** `over` is called once, at the end. */
  constructor(makeWire: (host: RemoteHost) => Wire, graceMs: number, over: () => void) {
    this.#graceMs = graceMs;
    this.#over = over;
    const isAttached = () => this.#isAttached;
    this.attachment = {
      get isAttached() {
        return isAttached();
      },
      onChange: (listener) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
    };
    this.wire = makeWire({
      message: (value, text) => this.take(text.length, (sink) => sink.message(value, text)),
      reject: (fault) => this.take(fault.bytes, (sink) => sink.reject(fault)),
      drained: () => this.#sink?.drain(),
      attached: (is) => this.#attached(is),
      ended: (reason) => this.end(reason),
    });
  }

  /** Since when the client is away; undefined while it is there. */
  get detachedAt(): number | undefined {
    return this.#detachedAt;
  }

  /** Characters that arrived and are not read yet. */
  get heldChars(): number {
    return this.#heldChars;
  }

  get isOver(): boolean {
    return this.#end !== undefined || this.#closing !== undefined;
  }

  /** Why it is over, as far as somebody said so. */
  get overFor(): string | undefined {
    return this.#closedFor ?? this.#end?.message;
  }

  start(sink: Sink): void {
    this.#sink = sink;
    queueMicrotask(() => this.#release());
  }

  send(message: object, text: string = JSON.stringify(message)): boolean {
    return this.isOver || this.wire.send(message, text);
  }

  pause(): void {
    this.#isPaused = true;
    this.#isHolding = true;
    this.wire.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.wire.resume();
    if (this.#sink !== undefined) queueMicrotask(() => this.#release());
  }

  close(reason?: Error): Promise<void> {
    if (this.#closing !== undefined) return this.#closing;
    const wasOver = this.#end !== undefined;
    this.#closedFor = reason?.message;
    this.#closing = wasOver ? Promise.resolve() : this.wire.close(reason).then(this.#over);
    const sink = this.#sink;
    this.#sink = undefined;
    this.#stop();
    if (!wasOver) sink?.end(closedHere);
    return this.#closing;
  }

  /** Delivers now or, when nothing is read, later and in order. */
  take(chars: number, deliver: (sink: Sink) => void): void {
    if (this.isOver) return;
    if (this.#isHolding || this.#sink === undefined) {
      this.#held.push({ chars, deliver });
      this.#heldChars += chars;
    } else {
      deliver(this.#sink);
      this.#sink?.idle();
    }
  }

  /** The connection is over, by the client or because of it. Behind everything that was read. */
  end(reason: EndReason): void {
    if (this.isOver) return;
    this.#end = reason;
    this.wire.drop(reason.message);
    this.#over();
    if (this.#sink === undefined || this.#isHolding) return;
    this.#finish();
  }

  #release(): void {
    if (this.#isPaused || this.#sink === undefined) return;
    let next = 0;
    const held = this.#held;
    for (; next < held.length && !this.#isPaused && this.#sink !== undefined; next++) {
      this.#heldChars -= held[next]?.chars ?? 0;
      held[next]?.deliver(this.#sink);
    }
    held.splice(0, next);
    this.#sink?.idle();
    if (this.#isPaused) return;
    this.#isHolding = false;
    if (this.#end !== undefined) this.#finish();
  }

  #finish(): void {
    const sink = this.#sink;
    this.#sink = undefined;
    this.#stop();
    if (this.#end !== undefined) sink?.end(this.#end);
  }

  #stop(): void {
    clearTimeout(this.#grace);
    this.#held = [];
    this.#listeners.clear();
  }

  #attached(is: boolean): void {
    if (this.isOver || this.#isAttached === is) return;
    this.#isAttached = is;
    clearTimeout(this.#grace);
    this.#detachedAt = is ? undefined : Date.now();
    if (!is) {
      const message = `the client was away for more than ${this.#graceMs / 1_000} s`;
      this.#grace = backgroundDeadline(this.#graceMs, () => this.end({ kind: "closed", message }));
    }
    for (const listener of [...this.#listeners]) listener();
  }
}
