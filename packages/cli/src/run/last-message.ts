// The agent's last message: what `--format quiet` prints, and what the last line of `--format json` has.

import type { Entry } from "@parley/acp";

export class LastMessage {
  #messageId: string | undefined;
  #text = "";

  get text(): string {
    return this.#text;
  }

  entry(entry: Entry): void {
    if (entry.kind !== "update") return;
    const { update } = entry;
    if (update.sessionUpdate === "agent_message_chunk") {
      if (update.messageId !== this.#messageId) this.#begin(update.messageId);
      if (update.content.type === "text") this.#text += update.content.text;
    } else if (update.sessionUpdate === "agent_message" && update.content != null) {
      this.#begin(update.messageId);
      for (const block of update.content) if (block.type === "text") this.#text += block.text;
    }
  }

  #begin(messageId: string): void {
    this.#messageId = messageId;
    this.#text = "";
  }
}
