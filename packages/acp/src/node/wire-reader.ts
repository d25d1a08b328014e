// Reads the wire of an agent: its own descriptor if the agent writes to it, otherwise its stdout.

import type { Readable } from "node:stream";

/** The descriptor of the agent's own wire. */
export const wireFd = 3;

export interface WireListener {
  /** Bytes of the wire. */
  bytes(chunk: Uint8Array): void;
  /** Bytes on the stdout of an agent with its own wire. */
  printed(chunk: Uint8Array): void;
  /** The wire has been closed. */
  closed(): void;
}

const lineFeed = 10;
/** More than this without a line feed is given to the decoder, which has limits. */
const longestHeld = 8 * 1024;

/**
 * Only programs that use this library write to the second stream. Others write to stdout, and nothing says in advance which
 * it will be. Text without a line feed is therefore held back until it begins like a message: it would otherwise stand
 * before the first message on the other stream.
 */
export class WireReader {
  readonly #stdout: Readable;
  readonly #own: Readable | undefined;
  readonly #listener: WireListener;
  #source: "unknown" | "stdout" | "own";
  #held: Uint8Array = new Uint8Array(0);
  #isMidLine = false;

  /** Both streams are paused until `resume`. */
  constructor(stdout: Readable, own: Readable | undefined, listener: WireListener) {
    this.#stdout = stdout;
    this.#own = own;
    this.#listener = listener;
    this.#source = own === undefined ? "stdout" : "unknown";
    stdout.on("data", (chunk: Uint8Array) => this.#fromStdout(chunk)).pause();
    own?.on("data", (chunk: Uint8Array) => this.#fromOwn(chunk)).pause();
    for (const stream of [stdout, own]) {
      stream?.on("error", () => {
        // 'close' follows
      });
    }
    stdout.on("end", () => this.flush());
    for (const stream of [stdout, own]) stream?.on("close", () => this.#closed());
  }

  pause(): void {
    this.#own?.pause();
    // what an agent prints beside its own wire is always read
    if (this.#source !== "own") this.#stdout.pause();
  }

  resume(): void {
    this.#own?.resume();
    this.#stdout.resume();
  }

  isPaused(): boolean {
    return (this.#source === "own" ? this.#own : this.#stdout)?.isPaused() === true;
  }

  destroy(): void {
    this.#own?.destroy();
    this.#stdout.destroy();
  }

  /** Delivers what is held back. */
  flush(): void {
    const held = this.#held;
    this.#held = new Uint8Array(0);
    if (held.length > 0) this.#deliver(held);
  }

  #closed(): void {
    // an agent that has closed its own wire may use stdout as the next one
    if (this.#own?.closed) this.#source = "stdout";
    if (this.#source !== "own" && this.#stdout.closed) this.#listener.closed();
  }

  #fromStdout(chunk: Uint8Array): void {
    if (this.#source === "own") return this.#listener.printed(chunk);
    if (this.#source === "stdout") return this.#deliver(chunk);
    const text = Buffer.concat([this.#held, chunk]);
    const rest = text.lastIndexOf(lineFeed) + 1;
    this.#held = text;
    if (text.length - rest > longestHeld || /^\s*(?:[{[]|Content-)/im.test(text.toString("latin1"))) {
      this.#source = "stdout";
      return this.flush();
    }
    this.#held = text.subarray(rest);
    if (rest > 0) this.#deliver(text.subarray(0, rest));
  }

  #fromOwn(chunk: Uint8Array): void {
    if (this.#source !== "own") {
      this.#source = "own";
      if (this.#isMidLine) this.#listener.bytes(Uint8Array.of(lineFeed));
      if (this.#held.length > 0) this.#listener.printed(this.#held);
      this.#held = new Uint8Array(0);
      this.#stdout.resume();
    }
    this.#listener.bytes(chunk);
  }

  #deliver(chunk: Uint8Array): void {
    this.#isMidLine = chunk.at(-1) !== lineFeed;
    this.#listener.bytes(chunk);
  }
}
