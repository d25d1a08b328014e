// Reads the wire of an agent: its own descriptor if the agent writes to it, otherwise its stdout.
//
// Nothing says in advance which one it will be. A program on this library writes a line feed to the descriptor as soon as it
// opens its wire; every other agent speaks on stdout. Until one of them has spoken, what comes on stdout is held:
// - A byte on the descriptor: it is the wire. What was held and what stdout brings later are prints, which go to stderr.
// - A JSON-RPC message on stdout, or a beginning like `Content-Length:`: stdout is the wire. What was held comes before
//   it, in order, and the connection skips and counts what is no message.
// - The descriptor is closed without a byte, or more than `longestHeld` comes: stdout is the wire too.
// Once stdout is the wire the descriptor is closed: the tools of an agent may have inherited it.
// A program that prints a JSON-RPC message before it opens its wire cannot be told from an agent on stdout.

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
/** How much of stdout is held. More is given to the decoder, whose limits end a program that only prints. */
const longestHeld = 1024 * 1024;

export class WireReader {
  readonly #stdout: Readable;
  readonly #own: Readable | undefined;
  readonly #listener: WireListener;
  #source: "unknown" | "stdout" | "own";
  #held: Uint8Array = new Uint8Array(0);
  /** How much of it has been searched for a message. */
  #searched = 0;
  /** The first line on stdout that is no message. */
  #noise: string | undefined;

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

  /** The first line that was held, unless it was a print beside the wire. */
  noise(): string | undefined {
    return this.#source === "own" ? undefined : this.#noise;
  }

  /** Delivers what is held back: nothing more comes. */
  flush(): void {
    const held = this.#takeHeld();
    if (held.length > 0) this.#listener.bytes(held);
  }

  #takeHeld(): Uint8Array {
    const held = this.#held;
    this.#held = new Uint8Array(0);
    return held;
  }

  #closed(): void {
    if (this.#own?.closed && this.#source === "unknown") this.#useStdout();
    if (this.#stdout.closed && (this.#source !== "own" || this.#own?.closed)) this.#listener.closed();
  }

  #useStdout(): void {
    this.#source = "stdout";
    this.#own?.destroy();
    this.flush();
  }

  #fromStdout(chunk: Uint8Array): void {
    if (this.#source === "own") return this.#listener.printed(chunk);
    if (this.#source === "stdout") return this.#listener.bytes(chunk);
    this.#held = Buffer.concat([this.#held, chunk]);
    if (this.#held.length > longestHeld || this.#holdsMessage()) this.#useStdout();
  }

  #holdsMessage(): boolean {
    const end = this.#held.lastIndexOf(lineFeed) + 1;
    if (end <= this.#searched) return false;
    const lines = Buffer.from(this.#held.subarray(this.#searched, end)).toString();
    if (this.#searched === 0 && headers.test(lines)) return true;
    this.#searched = end;
    const all = lines.split("\n");
    this.#noise ??= all.find((line) => line.trim() !== "" && !isMessage(line));
    return all.some(isMessage);
  }

  #fromOwn(chunk: Uint8Array): void {
    if (this.#source === "own") return this.#listener.bytes(chunk);
    if (this.#source === "stdout") return;
    this.#source = "own";
    const held = this.#takeHeld();
    if (held.length > 0) this.#listener.printed(held);
    this.#stdout.resume();
    const rest = chunk[0] === lineFeed ? chunk.subarray(1) : chunk;
    if (rest.length > 0) this.#listener.bytes(rest);
  }
}

const headers = /^\ufeff?Content-Length:/i;

/** Whether a line is a JSON-RPC message or a batch of them. */
function isMessage(line: string): boolean {
  const text = line.trim();
  if (!/^[{[]/.test(text)) return false;
  try {
    const value: unknown = JSON.parse(text);
    const [first] = Array.isArray(value) ? value : [value];
    return typeof first === "object" && first?.jsonrpc === "2.0";
  } catch {
    return false;
  }
}
