// The interface between a connection and its transport, which knows frames and JSON but no methods or ids.

import { checkPlatform } from "../base/platform.ts";
import { argumentText } from "./errors.ts";

/**
 * Moves JSON-RPC messages to and from one peer. Each connection needs a transport of its own. Make one with
 * `spawnTransport`, `stdioTransport` (`@parley/acp/node`), `httpTransport`, `webSocketTransport` or, from bytes,
 * `byteTransport` (`@parley/acp/transport`). It has callbacks, because web streams reach a third of the throughput.
 */
export interface Transport {
  /** Called once by the connection; nothing is read before. The sink is not called before `start` has returned. */
  start(sink: Sink): void;
  /**
   * Queues one message, in order. `text` is the same message as JSON, if the caller has it, as for a message that is passed on.
   * `false` means that the peer is slow: the message is queued all the same, wait for `sink.drain`.
   */
  send(message: object, text?: string): boolean;
  /** Stops reading; a message that was already read may still arrive. */
  pause(): void;
  /** Reads on after `pause`. */
  resume(): void;
  /** Ends output, where the transport can; input is still read. */
  endOutput?(): void;
  /** Queues messages as text, for transports that send only the text and do not look at messages. Returns what `send` returns. */
  sendLines?(lines: Lines): boolean;
  /** Only where a connection outlives its sockets (`@parley/acp/server`): whether the peer is there at the moment. */
  readonly attachment?: Attachment | undefined;
  /**
   * Flushes, then closes both directions. Idempotent. A sink that has had no end gets one of kind "closed", so that a
   * connection learns of it; otherwise the sink is not called any more.
   */
  close(reason?: Error): Promise<void>;
}

/** Whether the peer of a remote connection can be reached at the moment. Without it, the peer is there until the end. */
export interface Attachment {
  /** False after a cut, until the peer is back or the connection ends. */
  readonly isAttached: boolean;
  /** Calls the listener after each change. Returns a function that stops it. */
  onChange(listener: () => void): () => void;
}

/** Whole lines: each is one message and its line end. */
export interface Lines {
  /** The lines. The last one has its line end too. */
  readonly text: string;
  /** The same as bytes, if each character is one byte. They are reused after the call. */
  readonly bytes?: DataView | undefined;
  /** The places of the line ends, if they are known. */
  readonly ends?: readonly number[] | undefined;
}

/** Receives the events of a transport, synchronously and in the order of the wire. */
export interface Sink {
  /** One decoded message and the text that it came from. */
  message(value: unknown, text: string): void;
  /**
   * Called before lines are decoded, from the one that begins at `from`. They may be anything. Takes some of the first ones as
   * they are, none with more than `longest` characters: the size and depth of longer ones have not been checked. Returns where
   * the first line begins that it has not taken.
   */
  unread?(lines: Lines, from: number, longest: number): number;
  /** The end of a chunk of input: queued output is flushed when this returns. */
  idle(): void;
  /** One invalid frame. The transport continues with the next one. */
  reject(fault: Fault): void;
  /** After `send` returned false: there is room again. */
  drain(): void;
  /** Nothing more will arrive. Called once. */
  end(reason: EndReason): void;
}

/** Why a frame could not be read. */
export interface Fault {
  /** The frame is not JSON, is not UTF-8, is over the size limit, or is nested too deeply. */
  readonly kind: "parse" | "utf8" | "too_large" | "too_deep";
  /** The size of the frame, as far as it is known. */
  readonly bytes: number;
  /** The beginning of the frame, or its root without what is nested in it, at most 64 KiB, to find its id. */
  readonly head: string;
  /** The end of a frame that is longer than its head, at most 2 KiB, to find an id at the end. */
  readonly tail?: string;
  /** Input ended in the middle of the frame: it is counted but not answered. */
  readonly isCutOff?: boolean;
}

/** Why a transport ended. After `eof` output can still be written, after every other kind it cannot. */
export interface EndReason {
  /** "eof" is the end of input; the others are those of a ConnectionError. */
  readonly kind:
    | "eof"
    | "closed"
    | "refused"
    | "exited"
    | "spawn_failed"
    | "overflow"
    | "too_large"
    | "protocol";
  /** One sentence without a full stop. */
  readonly message?: string;
  /** The exit code of the peer's process. */
  readonly exitCode?: number;
  /** The signal that ended the peer's process. */
  readonly signal?: string;
  /** The last lines that a child process wrote to stderr. */
  readonly stderr?: string;
  /** The error behind it. */
  readonly cause?: unknown;
}

/** The end of a transport that was closed at this end. */
export const closedHere: EndReason = { kind: "closed", message: "the transport was closed" };

const claimed = new WeakSet<Transport>();

/** Throws for what is no transport, and for one that has a connection. */
export function claimTransport(transport: Transport): void {
  checkPlatform();
  // only the compiler knows that it is one
  const methods: Partial<Transport> | null | undefined = transport;
  if (typeof methods?.start !== "function" || typeof methods.send !== "function") {
    const got = `connect: expected a transport (start, send, close), got ${argumentText(transport)}`;
    throw new TypeError(`${got}; create one, for example with spawnTransport("my-agent")`);
  }
  if (claimed.has(transport))
    throw new TypeError("this transport has a connection already; make a transport for each connection");
  claimed.add(transport);
}
