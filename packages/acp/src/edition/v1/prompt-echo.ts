// Recognises an agent's echo of the prompt that is open. Version 1 has no echoes, but some agents send them.

import type { ContentBlock } from "../../model/content.ts";
import type * as wire from "../../wire/v1/types.gen.ts";

/** An echo comes before anything else of a turn, in one piece or in several. */
export class PromptEcho {
  /** The text that is left, without spaces: agents join the blocks of a prompt in their own ways. */
  #left: string;
  readonly #blocks: readonly ContentBlock[];
  #isOver = false;
  /** Pieces that may be the beginning of something else. */
  #held: wire.SessionUpdate[] = [];

  constructor(content: readonly ContentBlock[]) {
    this.#left = solid(content.map((block) => (block.type === "text" ? block.text : "")).join(""));
    this.#blocks = content.filter(({ type }) => type !== "text");
  }

  /** The updates that can be shown now: none for a piece of the echo; otherwise with those that proved to be none. */
  take(update: wire.SessionUpdate): readonly wire.SessionUpdate[] {
    if (this.#isOver || !isContent(update)) return [update];
    if (update.sessionUpdate === "user_message_chunk" && this.#continues(update.content)) {
      this.#held = this.#left === "" ? [] : [...this.#held, update];
      return [];
    }
    return [...this.end(), update];
  }

  /** The pieces of an echo that was never completed. */
  end(): readonly wire.SessionUpdate[] {
    this.#isOver = true;
    return this.#held.splice(0);
  }

  #continues(block: wire.ContentBlock): boolean {
    if (block.type !== "text") return this.#blocks.some((each) => isSame(each, block));
    const text = solid(block.text);
    // a text behind the whole echo is another message
    if (this.#left === "" || !this.#left.startsWith(text)) return false;
    this.#left = this.#left.slice(text.length);
    return true;
  }
}

function solid(text: string): string {
  return text.replaceAll(/\s+/g, "");
}

/** Settings of the session may come at any time. */
function isContent({ sessionUpdate }: wire.SessionUpdate): boolean {
  return /^(?:user|agent|tool|plan)/.test(sessionUpdate);
}

function isSame(one: object, other: object): boolean {
  const [a, b] = [one, other] as Record<string, unknown>[]; // only compared
  return ["type", "uri", "data", "resource"].every(
    (field) => JSON.stringify(a?.[field]) === JSON.stringify(b?.[field]),
  );
}
