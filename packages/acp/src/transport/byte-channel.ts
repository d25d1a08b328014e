// The interface of byte channels (pipes, sockets, web streams), and the limits of the frames on them.

import type { EndReason } from "../jsonrpc/transport.ts";

/** An ordered pair of byte streams: write one to use your own pipe or socket with `byteTransport`. */
export interface ByteChannel {
  /** Called once; nothing is read before it. */
  open(receiver: ByteReceiver): void;
  /** Queues text as UTF-8. `false` means that the text is queued but you should wait for `receiver.drained`. */
  write(text: string): boolean;
  /** Bytes that the operating system has not taken yet. */
  queuedBytes(): number;
  /** Stops reading; bytes that were already read may still arrive. */
  pause(): void;
  /** Reads on. */
  resume(): void;
  /** Ends output only, where the channel can; input is still read. */
  endOutput?(): void;
  /** Flushes, then closes both directions. Idempotent; with a reason it may drop queued output. */
  close(reason?: Error): Promise<void>;
}

/** Receives the bytes of a channel, in order. */
export interface ByteReceiver {
  /** The channel may reuse the chunk after this returns: copy it to keep it. */
  bytes(chunk: Uint8Array): void;
  /** After `write` returned false: there is room again. */
  drained(): void;
  /** Nothing more will arrive. Called once. After "eof" output can still be written. */
  ended(reason: EndReason): void;
}

/** Text functions that Node and browsers implement differently. */
export interface TextPlatform {
  /** Decodes UTF-8 and keeps a leading BOM; `undefined` for invalid UTF-8. */
  decode(bytes: Uint8Array): string | undefined;
  /** The length of a text in UTF-8. */
  byteLength(text: string): number;
  /** Runs the callback after the current synchronous work (nextTick or a microtask). */
  defer(callback: () => void): void;
}

// created on first use: Node has its own platform and needs neither
let decoder: TextDecoder | undefined;
let encoder: TextEncoder | undefined;

/** Works in every JavaScript runtime. */
export const webPlatform: TextPlatform = {
  decode(bytes) {
    decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  },
  byteLength(text) {
    encoder ??= new TextEncoder();
    return encoder.encode(text).byteLength;
  },
  defer: queueMicrotask,
};

/** Limits of messages and of queued output. Each must be above 0; Infinity means no limit. */
export interface FrameLimits {
  /** Bytes of one message. A larger one is refused; one over twice the limit closes the transport. Default 32 MiB. */
  readonly maxMessageBytes: number;
  /** How deeply the JSON of one message may be nested. A deeper one is refused. Default 512. */
  readonly maxDepth: number;
  /** Queued output above which `send` returns false. Default 256 KiB. */
  readonly highWaterBytes: number;
  /** Queued output above which the transport closes with "overflow". Default 64 MiB. */
  readonly maxQueuedBytes: number;
}

export const defaultFrameLimits: FrameLimits = {
  maxMessageBytes: 32 * 1024 * 1024,
  maxDepth: 512,
  highWaterBytes: 256 * 1024,
  maxQueuedBytes: 64 * 1024 * 1024,
};

/** The end of a transport whose queued output is over the limit. */
export function overflow(queuedBytes: number): EndReason {
  return {
    kind: "overflow",
    message: `the peer does not read: ${queuedBytes} bytes of output are queued`,
  };
}
