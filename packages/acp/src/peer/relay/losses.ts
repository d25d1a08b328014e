// Notes what is lost in translation between versions.

import type { Log } from "../../jsonrpc/connection-options.ts";

/** The key of `_meta` that lists what was lost, in sentences for people. */
const lostKey = "parley.dev/lost";

const maxNotes = 32;

export class Losses {
  readonly #isStrict: boolean;
  readonly #log: Log;
  /** The losses of the current turn, each once. */
  readonly #turn = new Set<string>();

  constructor(mode: "lossy" | "strict", log: Log) {
    this.#isStrict = mode === "strict";
    this.#log = log;
  }

  /** Logs what was lost. False when the message must not be sent. */
  note(sessionId: string, lost: readonly string[]): boolean {
    if (lost.length === 0) return true;
    const message = this.#isStrict
      ? "dropped an update that the client's version cannot express"
      : "lost in translation";
    this.#log(this.#isStrict ? "error" : "warn", message, { sessionId, lost });
    for (const what of lost) if (this.#turn.size < maxNotes) this.#turn.add(what);
    return !this.#isStrict;
  }

  /** Takes what was lost since the last time, for the answer that ends a turn. */
  take(): readonly string[] {
    const lost = [...this.#turn];
    this.#turn.clear();
    return lost;
  }
}

/** The same message with a note of what it lost. */
export function withLost<Message extends object>(message: Message, lost: readonly string[]): Message {
  if (lost.length === 0) return message;
  const { _meta } = message as { _meta?: object | null };
  return { ...message, _meta: { ..._meta, [lostKey]: lost } };
}
