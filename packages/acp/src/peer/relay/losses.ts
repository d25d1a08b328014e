// What one version says and the other cannot: said as nearly as possible with a note, or not said at all.

import type { Log } from "../../jsonrpc/log.ts";

/** The key of `_meta` that holds what was lost, as sentences for a person. */
const lostKey = "parley.dev/lost";

const maxNotes = 32;

export class Losses {
  readonly #isStrict: boolean;
  readonly #log: Log;
  /** Of the current turn, each once. */
  readonly #turn = new Set<string>();

  constructor(mode: "lossy" | "strict", log: Log) {
    this.#isStrict = mode === "strict";
    this.#log = log;
  }

  /** Logs them. False when what they belong to must not be sent. */
  note(sessionId: string, lost: readonly string[]): boolean {
    if (lost.length === 0) return true;
    const message = this.#isStrict ? "left out what the client's version cannot say" : "lost in translation";
    this.#log(this.#isStrict ? "error" : "warn", message, { sessionId, lost });
    for (const what of lost) if (this.#turn.size < maxNotes) this.#turn.add(what);
    return !this.#isStrict;
  }

  /** What was lost since the last time, for the answer that ends a turn. */
  take(): readonly string[] {
    const lost = [...this.#turn];
    this.#turn.clear();
    return lost;
  }
}

/** The same object with a note of what it does not say any more. */
export function withLost<Message extends object>(message: Message, lost: readonly string[]): Message {
  if (lost.length === 0) return message;
  const { _meta } = message as { _meta?: object | null };
  return { ...message, _meta: { ..._meta, [lostKey]: lost } };
}
