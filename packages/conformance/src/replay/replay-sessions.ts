// Maps session ids between the recording and the live connection.

import { isObject } from "@parley/acp/jsonrpc";
import type { Json } from "./replay-plan.ts";

export class SessionNames {
  readonly #live = new Map<string, string>();
  readonly #recorded = new Map<string, string>();

  learn(recorded: string, live: string): void {
    this.#live.set(recorded, live);
    this.#recorded.set(live, recorded);
  }

  /** Learns from an answer with a session id, such as that to session/new. */
  learnResult(recorded: Json, live: Json): void {
    const names = [recorded.result, live.result].map((result) =>
      isObject(result) ? result.sessionId : undefined,
    );
    const [then, now] = names;
    if (typeof then === "string" && typeof now === "string") this.learn(then, now);
  }

  knows(live: string): boolean {
    return this.#recorded.has(live);
  }

  toRecorded(live: string | undefined): string | undefined {
    return live === undefined ? undefined : (this.#recorded.get(live) ?? live);
  }

  /** Copies a recorded message with the live session ids. */
  toLive(value: Json): Json {
    return this.#live.size === 0 ? value : (this.#renamed(value) as Json); // an object stays one
  }

  #renamed(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.#renamed(item));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) =>
        /sessionId$/i.test(key) && typeof item === "string"
          ? [key, this.#live.get(item) ?? item]
          : [key, this.#renamed(item)],
      ),
    );
  }
}
