// Adapters at the edge for code that thinks in web streams: a byte channel over a pair of byte
// streams, and a transport seen as a pair of message streams (what the official SDK connects to).

import type { Transport } from "../jsonrpc/transport.ts";
import type { ByteChannel, ByteReceiver } from "./byte-channel.ts";
import { type ByteTransportOptions, byteTransport } from "./byte-transport.ts";

export interface ByteStreams {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** A transport on two web byte streams, such as those of a subprocess in Deno or of a fetch. */
export function fromWebStreams(streams: ByteStreams, options: ByteTransportOptions = {}): Transport {
  return byteTransport(new WebStreamChannel(streams), options);
}

class WebStreamChannel implements ByteChannel {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #encoder = new TextEncoder();
  #receiver: ByteReceiver | undefined;
  #queued = 0;
  #paused: PromiseWithResolvers<void> | undefined;

  constructor(streams: ByteStreams) {
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

  async close(reason?: Error): Promise<void> {
    this.resume();
    // either stream may have failed already, and then it is closed
    await Promise.allSettled([
      reason === undefined ? this.#writer.close() : this.#writer.abort(reason),
      this.#reader.cancel(reason),
    ]);
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

export interface MessageStreams {
  readonly readable: ReadableStream<object>;
  readonly writable: WritableStream<object>;
}

/** A transport as two web streams of parsed messages. Frames that cannot be read are left out. */
export function toWebStreams(transport: Transport): MessageStreams {
  let room: PromiseWithResolvers<void> | undefined;
  const readable = new ReadableStream<object>({
    start(controller) {
      transport.start({
        message(value) {
          if (typeof value !== "object" || value === null) return;
          controller.enqueue(value);
          if ((controller.desiredSize ?? 0) <= 0) transport.pause();
        },
        idle: () => undefined,
        reject: () => undefined,
        drain() {
          room?.resolve();
          room = undefined;
        },
        end(reason) {
          room?.resolve();
          if (reason.kind === "eof" || reason.kind === "closed") controller.close();
          else controller.error(new Error(reason.message ?? reason.kind));
        },
      });
    },
    pull: () => transport.resume(),
    cancel: () => transport.close(),
  });
  const writable = new WritableStream<object>({
    async write(message) {
      if (transport.send(message)) return;
      room ??= Promise.withResolvers<void>();
      await room.promise;
    },
    close: () => transport.close(),
    abort: (reason) => transport.close(reason instanceof Error ? reason : new Error(String(reason))),
  });
  return { readable, writable };
}
