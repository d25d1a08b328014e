// One session of our agent, as a dialect's client sees it.

import type * as v1 from "@parley/acp/v1";
import type { Exchange } from "../exchange/exchange.ts";
import { type Surroundings, UpdateEncoder } from "./update-encoder.ts";

export class ScopedAgentSession {
  readonly updates: UpdateEncoder;
  readonly #exchange: Exchange;
  cwd: string | undefined;
  /** For an agent that takes no system prompt: it becomes part of the first prompt. */
  systemPrompt: string | undefined;
  /** What the client may not see before it knows the session. */
  #held: object[] | undefined;

  constructor(sessionId: string, around: Surroundings & { readonly exchange: Exchange }) {
    this.#exchange = around.exchange;
    this.updates = new UpdateEncoder(sessionId, around);
  }

  told(update: v1.SessionNotification): void {
    this.say(this.updates.encode(update));
  }

  say(updates: readonly object[]): void {
    for (const each of updates) {
      if (this.#held !== undefined) this.#held.push(each);
      else this.#exchange.notify("peer", "session/update", each);
    }
  }

  hold(): void {
    this.#held ??= [];
  }

  /** The client knows the session now. */
  show(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.say(held);
  }

  takeSystemPrompt(): v1.ContentBlock[] {
    const text = this.systemPrompt;
    this.systemPrompt = undefined;
    return text === undefined ? [] : [{ type: "text", text }];
  }

  /** The turn is over: what was gathered is sent, and what a cancel left open is closed. */
  ended(isCancelled: boolean): void {
    this.say(this.updates.messagesOver());
    const left = this.updates.tools.ended(isCancelled);
    if (left.length > 0) this.say(this.updates.own(left));
  }
}
