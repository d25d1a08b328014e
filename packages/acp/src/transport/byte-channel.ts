// What a framed transport needs from the thing that moves its bytes: a pipe, a socket, a web
// stream. The channel knows bytes only; frames belong to byte-transport.ts.

import type { EndReason } from "../jsonrpc/transport.ts";

/** An ordered pair of byte streams. */
export interface ByteChannel {
  /** Called once; nothing is read before it. */
  open(receiver: ByteReceiver): void;
  /** Queues UTF-8 text. `false` means: wait for `receiver.drained`; the text is queued all the same. */
  write(text: string): boolean;
  /** Bytes that were written and that the operating system has not taken yet. */
  queuedBytes(): number;
  pause(): void;
  resume(): void;
  /** Ends the output alone, where a channel can: what was written arrives, input is still read. */
  endOutput?(): void;
  /** Flushes, then closes both directions. Idempotent; with a reason it may drop what is queued. */
  close(reason?: Error): Promise<void>;
}

export interface ByteReceiver {
  /** The chunk may be reused by the channel after this returns: copy what must be kept. */
  bytes(chunk: Uint8Array): void;
  drained(): void;
  /** Called once. `eof`: input is over, output may still be written. */
  ended(reason: EndReason): void;
}

/** What differs between Node and a browser, for a framed transport. */
export interface TextPlatform {
  /** Strict UTF-8, a leading BOM kept; `undefined` when the bytes are not valid UTF-8. */
  decode(bytes: Uint8Array): string | undefined;
  byteLength(text: string): number;
  /** Runs the callback soon, once the current work has returned (nextTick or a microtask). */
  defer(callback: () => void): void;
}

// Made when first used: Node brings its own platform and does not pay for these.
let decoder: TextDecoder | undefined;
let encoder: TextEncoder | undefined;

/** Works wherever there is a TextDecoder. */
export const webPlatform: TextPlatform = {
  decode(bytes) {
    decoder ??= new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    try {
      return decoder.decode(bytes);
    } catch {
      // fatal: true throws on the first invalid sequence, which is the answer
      return undefined;
    }
  },
  byteLength(text) {
    encoder ??= new TextEncoder();
    return encoder.encode(text).byteLength;
  },
  defer: queueMicrotask,
};
