// Reads the wire of an agent: its own descriptor if the agent writes to it, otherwise its stdout.
//
// Nothing says in advance which one it will be. A program on this library writes a line feed to the descriptor as soon as it
// opens its wire; every other agent speaks on stdout. Until one of them has spoken, what comes on stdout is held:
// - A byte on the descriptor: it is the wire. What was held and what stdout brings later are prints, which go to stderr.
// - An answer on stdout to a request that was sent, or a beginning like `Content-Length:`: stdout is the wire. What was
//   held comes before it, in order, and the connection skips and counts what is no message.
// - The descriptor is closed without a byte, or more than `longestHeld` comes: stdout is the wire too.
// Once stdout is the wire the descriptor is closed: the tools of an agent may have inherited it.
// A program that prints the very answer to `initialize` before it opens its wire cannot be told from an agent on stdout.

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
  /** How much of it has been searched for an answer. */
  #searched = 0;
  readonly #sent = new Set<string>();

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

  /** Takes note of the requests in the output, which an agent on stdout answers. */
  sent(text: string): void {
    if (this.#source !== "unknown") return;
    for (const line of text.split("\n")) {
      for (const { id, method } of messagesIn(line)) {
        if (id !== undefined && method !== undefined) this.#sent.add(String(id));
      }
    }
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
    if (this.#held.length > longestHeld || this.#holdsAnswer()) this.#useStdout();
  }

  #holdsAnswer(): boolean {
    const end = this.#held.lastIndexOf(lineFeed) + 1;
    if (end <= this.#searched) return false;
    const lines = Buffer.from(this.#held.subarray(this.#searched, end)).toString();
    if (this.#searched === 0 && headers.test(lines)) return true;
    this.#searched = end;
    return lines.split("\n").some((line) => messagesIn(line).some((message) => this.#answers(message)));
  }

  /** An agent that could not read the request answers with the id null. */
  #answers({ id, result, error }: Message): boolean {
    if (id === null) return error !== undefined && this.#sent.size > 0;
    return (result !== undefined || error !== undefined) && this.#sent.has(String(id));
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

type Message = Readonly<Record<"id" | "method" | "result" | "error", unknown>>;

/** The messages of a line, which may be a batch; none if it is no JSON. */
function messagesIn(line: string): readonly Message[] {
  const text = line.trim();
  if (!/^[{[]/.test(text)) return [];
  try {
    const value: unknown = JSON.parse(text);
    const isMessage = (each: unknown): each is Message => typeof each === "object" && each !== null;
    return (Array.isArray(value) ? value : [value]).filter(isMessage);
  } catch {
    return [];
  }
}
