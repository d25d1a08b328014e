// The seam between JSON-RPC and whatever moves the bytes. A transport knows frames and JSON text;
// it has never heard of methods, ids or sessions. A push callback reaches the raw floor, web
// streams reach a third of it, which is why this is not `{ readable, writable }`.

/** Moves JSON-RPC messages to and from one peer. */
export interface Transport {
  /** Called once; nothing is read before it. The sink is not called before `start` has returned. */
  start(sink: Sink): void;
  /**
   * Queues one message, in order. `text` is the message already serialised (pass-through, taps).
   * `false` means that the peer is slow: the message is queued all the same, wait for `sink.drain`.
   */
  send(message: object, text?: string): boolean;
  /** For somebody who only passes messages on; undefined where frames are not lines of text. */
  lines?(): LineAccess | undefined;
  /** Stops reading; a message that was already read may still arrive. */
  pause(): void;
  resume(): void;
  /** Tells the peer that nothing more will be sent; what it still says is read. Nothing where that cannot be told. */
  endOutput?(): void;
  /** Flushes what is queued, then closes both directions. Idempotent. The sink is not called any more. */
  close(reason?: Error): Promise<void>;
}

/** The lines of a transport, without looking into them. */
export interface LineAccess {
  /** From now on whole lines go there, several at a time, instead of to the sink's `message`. */
  receive(receiver: (lines: string) => void): void;
  /** Queues whole lines. `false` as for `send`. */
  send(lines: string): boolean;
}

/** What a transport tells its owner. Every call is synchronous and in the order of the wire. */
export interface Sink {
  /** One decoded message and the text that it came from. */
  message(value: unknown, text: string): void;
  /** The end of a chunk of input: queued output is flushed when this returns. */
  idle(): void;
  /** One frame that could not be read. The transport goes on with the next one. */
  reject(fault: Fault): void;
  /** After `send` returned false: there is room again. */
  drain(): void;
  /** Nothing more will arrive. Called once. */
  end(reason: EndReason): void;
}

/** Why a frame could not be read. */
export interface Fault {
  readonly kind: "parse" | "utf8" | "too_large" | "too_deep";
  /** Size of the frame, as far as it is known. */
  readonly bytes: number;
  /** How the frame begins: at most 64 KiB, so that an id can be found in it. */
  readonly head: string;
  /** How a frame that is longer than its head ends: at most 2 KiB, for an id that was written last. */
  readonly tail?: string;
  /** Input ended in the middle of the frame: it is counted, not answered. */
  readonly cutOff?: boolean;
}

/** Why a transport ended. `eof` means that output may still be written, every other kind that it may not. */
export interface EndReason {
  readonly kind: "eof" | "closed" | "exited" | "spawn_failed" | "overflow" | "too_large" | "protocol";
  /** One sentence for a person, without a full stop. */
  readonly message?: string;
  readonly exitCode?: number;
  readonly signal?: string;
  /** The last lines that a child process wrote to stderr. */
  readonly stderr?: string;
  readonly cause?: unknown;
}
