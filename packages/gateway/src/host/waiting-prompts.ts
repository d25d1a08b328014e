// Prompts that wait until the turn of a former client is over.

import { idKey } from "@parley/acp/internal";
import type { Message } from "./hosted-sessions.ts";

type Waiting = readonly [message: Message, text: string];

export class WaitingPrompts {
  readonly #bySession = new Map<string, Waiting[]>();

  has(sessionId: string): boolean {
    return this.#bySession.has(sessionId);
  }

  add(sessionId: string, message: Message, text: string): void {
    const waiting = this.#bySession.get(sessionId) ?? [];
    waiting.push([message, text]);
    this.#bySession.set(sessionId, waiting);
  }

  take(sessionId: string): readonly Waiting[] {
    const waiting = this.#bySession.get(sessionId) ?? [];
    this.#bySession.delete(sessionId);
    return waiting;
  }

  takeAll(): readonly Waiting[] {
    const all = [...this.#bySession.values()].flat();
    this.#bySession.clear();
    return all;
  }

  /** Removes the prompt with this id. */
  remove(id: unknown): Message | undefined {
    for (const waiting of this.#bySession.values()) {
      const index = waiting.findIndex(([message]) => idKey(message["id"]) === idKey(id));
      if (index >= 0) return waiting.splice(index, 1)[0]?.[0];
    }
    return undefined;
  }
}
