// The prompts of a session so far, and what each turn changed: where the session can be rewound to.

import type { ContentBlock, Entry } from "@parley/acp";
import { turnEntry } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import type { PastPrompt, ReviewedTurn, TurnSummary } from "./session-link.ts";

/** More is not needed to know a prompt by. The whole prompt comes with the rewind. */
export const longestText = 2_000;

/** With what its turn changed, for the review. */
export interface RewindPoint extends PastPrompt {
  readonly turns: readonly ReviewedTurn[];
}

export class PastPrompts {
  #points: RewindPoint[] = [];
  readonly #known = new Set<string>();
  /** The prompts whose turn runs: a further one joins that turn. */
  readonly #open = new Set<string>();

  /** Oldest first. */
  get list(): readonly RewindPoint[] {
    return this.#points;
  }

  clear(): void {
    this.#points = [];
    this.#known.clear();
    this.#open.clear();
  }

  /** Returns whether the list has changed. */
  entry(entry: Entry): boolean {
    switch (entry.kind) {
      case "prompt": {
        const isSteered = this.#open.size > 0;
        this.#open.add(entry.messageId);
        return this.#add(entry, entry.messageId, entry.prompt, isSteered);
      }
      case "inbox":
        this.#known.add(entry.messageId);
        return false;
      case "result":
        this.#open.delete(entry.messageId);
        return false;
      case "extension":
        return entry.name === turnEntry && this.#ended(entry.value as unknown as TurnSummary); // as: written by a host
      case "update":
        return this.#echoed(entry);
      default:
        return false;
    }
  }

  /** A session that its agent replays has no other entries of its prompts. */
  #echoed(entry: Extract<Entry, { kind: "update" }>): boolean {
    const { update } = entry;
    if (update.sessionUpdate !== "user_message" && update.sessionUpdate !== "user_message_chunk")
      return false;
    // as: the types of unknown updates have any fields
    const { messageId, content } = update as { messageId: string; content?: unknown };
    const blocks = [content ?? []].flat() as unknown as readonly ContentBlock[];
    return this.#add(entry, messageId, blocks, this.#open.size > 0);
  }

  #add({ time }: Entry, messageId: string, prompt: readonly ContentBlock[], isSteered: boolean): boolean {
    if (this.#known.has(messageId)) return false;
    const text = typedText(prompt);
    // the echo of a text comes in pieces, and the first one may be empty
    if (text === "" && prompt.length === 0) return false;
    this.#known.add(messageId);
    if (isSteered) return false;
    this.#points.push({ messageId, time, text: text.slice(0, longestText), turns: [] });
    return true;
  }

  #ended({ changed }: TurnSummary): boolean {
    this.#open.clear();
    const last = this.#points.at(-1);
    if (changed === undefined || last === undefined) return false;
    const { review, ...counts } = changed;
    const before = last.changed ?? { files: 0, added: 0, removed: 0 };
    this.#points[this.#points.length - 1] = {
      ...last,
      changed: {
        files: before.files + counts.files,
        added: before.added + counts.added,
        removed: before.removed + counts.removed,
      },
      turns: [...last.turns, ...(review === undefined ? [] : [review])],
    };
    return true;
  }
}

/** The first block is what the user wrote. */
export function typedText([first]: readonly ContentBlock[]): string {
  return first?.type === "text" && "text" in first ? String(first.text) : "";
}

/** What a front end shows of a point. */
export function asPrompt({ messageId, time, text, changed }: RewindPoint): PastPrompt {
  return { messageId, time, text, ...optional({ changed }) };
}
