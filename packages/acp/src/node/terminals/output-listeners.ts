// Gives the output of one terminal to its listeners, in whole characters.

import type { ByteTail } from "../../base/byte-tail.ts";
import type { TerminalOutputPart } from "../../model/services.ts";

type Listener = (part: TerminalOutputPart) => void;

export class OutputListeners {
  readonly #tail: ByteTail;
  readonly #feeds = new Set<(bytes: Uint8Array | undefined) => void>();
  #hasEnded = false;

  constructor(tail: ByteTail) {
    this.#tail = tail;
  }

  push(bytes: Uint8Array): void {
    for (const feed of this.#feeds) feed(bytes);
  }

  /** Gives what is left of a character that was cut off. Nothing follows. */
  end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const feed of this.#feeds) feed(undefined);
    this.#feeds.clear();
  }

  /** The listener first gets what is kept, so that it misses nothing of a command that is quick. */
  add(listener: Listener): () => void {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const feed = (bytes: Uint8Array | undefined): void => {
      const data = bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
      if (data !== "") listener({ data });
    };
    const kept = this.#tail.text({ complete: this.#hasEnded });
    if (kept !== "") listener({ data: kept });
    if (this.#hasEnded) return () => undefined;
    // the bytes of a character that is not complete yet belong to what follows
    decoder.decode(this.#tail.bytes(), { stream: true });
    this.#feeds.add(feed);
    return () => void this.#feeds.delete(feed);
  }
}
