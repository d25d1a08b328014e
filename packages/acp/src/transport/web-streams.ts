// Adapts web streams: byte streams to a transport, and a transport to message streams, as the official SDK uses.

import { withTimeout } from "../base/abortable.ts";
import { milliseconds } from "../base/deadline.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import type { ByteChannel, ByteReceiver } from "./byte-channel.ts";
import { type ByteTransportOptions, byteTransport } from "./byte-transport.ts";

/** Two byte streams of one peer. */
export interface ByteStreams {
  /** What the peer sends. */
  readonly readable: ReadableStream<Uint8Array>;
  /** What the peer receives. */
  readonly writable: WritableStream<Uint8Array>;
}

/** The options of `fromWebStreams`. */
export interface WebStreamOptions extends ByteTransportOptions {
  /** How long `close` waits for a peer that does not read before it drops queued output, in milliseconds. Default 2,000. */
  readonly flushMs?: number | undefined;
}

/**
 * Makes a transport of two web byte streams, such as those of a subprocess in Deno.
 *
 * @param streams The two streams. The transport locks and closes them.
 * @param options The framing, the limits, and how long closing may take.
 * @returns A transport for one connection.
 * @throws {TypeError} When a stream is locked, or when a limit or time is not a number above 0.
 * @example
 * import { agent } from "@parley/acp";
 * import { type ByteStreams, fromWebStreams } from "@parley/acp/transport";
 *
 * const echo = agent({ name: "echo", version: "1.0.0", prompt: async (turn) => turn.say(turn.text) });
 *
 * export function serve(streams: ByteStreams): void {
 *   echo.connect(fromWebStreams(streams));
 * }
 */
export function fromWebStreams(streams: ByteStreams, options: WebStreamOptions = {}): Transport {
  return byteTransport(
    new WebStreamChannel(streams, milliseconds("flushMs", options.flushMs ?? 2_000)),
    options,
  );
}

class WebStreamChannel implements ByteChannel {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();
  #receiver: ByteReceiver | undefined;
  #queued = 0;
  #paused: PromiseWithResolvers<void> | undefined;
  #closing: Promise<void> | undefined;
  readonly #flushMs: number;

  constructor(streams: ByteStreams, flushMs: number) {
    this.#flushMs = flushMs;
    this.#reader = streams.readable.getReader();
    this.#writer = streams.writable.getWriter();
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    this.#read(receiver).catch((cause: unknown) => {
      receiver.ended({ kind: "closed", message: "reading from the peer failed", cause });
    });
  }

  write(text: string): boolean {
    const bytes = this.#encoder.encode(text);
    this.#queued += bytes.length;
    this.#writer.write(bytes).then(
      () => {
        this.#queued -= bytes.length;
        if (this.#queued === 0) this.#receiver?.drained();
      },
      (cause: unknown) =>
        this.#receiver?.ended({ kind: "closed", message: "writing to the peer failed", cause }),
    );
    return (this.#writer.desiredSize ?? 0) > 0;
  }

  queuedBytes(): number {
    return this.#queued;
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers<void>();
  }

  resume(): void {
    this.#paused?.resolve();
    this.#paused = undefined;
  }

  close(reason?: Error): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason?: Error): Promise<void> {
    this.resume();
    const writing = reason === undefined ? this.#writer.close() : this.#writer.abort(reason);
    // either stream may have failed already, or may never close
    await withTimeout(this.#flushMs, Promise.allSettled([writing, this.#reader.cancel(reason)]));
    // does nothing to a closed stream; a stuck one cannot be awaited
    this.#writer.abort(reason).catch(() => undefined);
  }

  async #read(receiver: ByteReceiver): Promise<void> {
    for (;;) {
      if (this.#paused !== undefined) await this.#paused.promise;
      const { done, value } = await this.#reader.read();
      if (done) return receiver.ended({ kind: "eof" });
      receiver.bytes(value);
    }
  }
}

/** Two streams of parsed messages, as the official SDK takes them. */
export interface MessageStreams {
  /** What the peer sends. */
  readonly readable: ReadableStream<object>;
  /** What the peer receives. */
  readonly writable: WritableStream<object>;
}

/**
 * Makes two web streams of parsed messages of a transport, for code that is written for the official SDK. Invalid frames
 * are left out. Closing or cancelling a stream closes the transport.
 *
 * @param transport A transport that nothing else uses.
 * @returns The streams of parsed messages.
 * @example
 * import { spawnTransport } from "@parley/acp/node";
 * import { toWebStreams } from "@parley/acp/transport";
 *
 * const { readable, writable } = toWebStreams(spawnTransport("my-agent"));
 * const writer = writable.getWriter();
 * await writer.write({ jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 1 } });
 * for await (const message of readable) console.log(message);
 */
export function toWebStreams(transport: Transport): MessageStreams {
  let room: PromiseWithResolvers<void> | undefined;
  let isReadable = true;
  /** The streams close the transport themselves: its end is not news. */
  let isClosing = false;
  let isWritable = true;
  let endReadable: (() => void) | undefined;
  let failWritable: ((reason: Error) => void) | undefined;
  const release = () => {
    room?.resolve();
    room = undefined;
  };
  const readable = new ReadableStream<object>({
    start(controller) {
      endReadable = () => controller.close();
      transport.start({
        message(value) {
          if (typeof value !== "object" || value === null) return;
          controller.enqueue(value);
          if ((controller.desiredSize ?? 0) <= 0) transport.pause();
        },
        idle: () => undefined,
        reject: () => undefined,
        drain: release,
        end(reason) {
          if (isClosing) return;
          isReadable = false;
          isWritable = reason.kind === "eof";
          release();
          const error = new Error(reason.message ?? `the transport ended: ${reason.kind}`);
          // further writes must fail
          if (!isWritable) failWritable?.(error);
          if (reason.kind === "eof" || reason.kind === "closed") controller.close();
          else controller.error(error);
        },
      });
    },
    pull: () => transport.resume(),
    cancel() {
      isReadable = false;
      isClosing = true;
      return transport.close();
    },
  });
  const close = async (reason?: Error) => {
    isClosing = true;
    await transport.close(reason);
    if (isReadable) endReadable?.();
    isReadable = false;
  };
  const writable = new WritableStream<object>({
    start(controller) {
      failWritable = (reason) => controller.error(reason);
      // else a write that waits for room would block the abort
      controller.signal.addEventListener("abort", release);
    },
    async write(message) {
      // sending may end the transport (overflow)
      if (transport.send(message) || !isWritable) return;
      room ??= Promise.withResolvers<void>();
      await room.promise;
    },
    close: () => close(),
    abort: (reason) => close(reason instanceof Error ? reason : new Error(String(reason))),
  });
  return { readable, writable };
}
