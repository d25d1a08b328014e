// Collects the agent's last message, for `--format quiet` and the end of `--format json`.

import type { Entry } from "@parley/acp";

export class LastMessage {
  readonly #longest: number;
  #messageId: string | undefined;
  #text = "";
  #isTruncated = false;

  /** A longer message is truncated. */
  constructor(longest = Number.POSITIVE_INFINITY) {
    this.#longest = longest;
  }

  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  get text(): string {
    return this.#text;
  }

  entry(entry: Entry): void {
    if (entry.kind !== "update") return;
    const { update } = entry;
    if (update.sessionUpdate === "agent_message_chunk") {
      if (update.messageId !== this.#messageId) this.#begin(update.messageId);
      if (update.content.type === "text") this.#add(update.content.text);
    } else if (update.sessionUpdate === "agent_message" && update.content != null) {
      this.#begin(update.messageId);
      for (const block of update.content) if (block.type === "text") this.#add(block.text);
    }
  }

  #begin(messageId: string): void {
    this.#messageId = messageId;
    this.#text = "";
    this.#isTruncated = false;
  }

  #add(text: string): void {
    const room = this.#longest - this.#text.length;
    this.#isTruncated ||= text.length > room;
    if (room > 0) this.#text += text.length > room ? text.slice(0, room) : text;
  }
}
