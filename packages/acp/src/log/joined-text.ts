// Joins the pieces of one message's text, which is stored as one update.

import type { SessionUpdate } from "../model/update.ts";
import type { ChunkTag } from "./plain-text.ts";

/** How many pieces of text are joined at once. */
const joinedPieces = 64;

export class JoinedText {
  readonly tag: ChunkTag;
  /** The JSON of its updates up to their text. */
  readonly head: string;
  /** The pieces that are not joined yet, without their quotes. The first one is the JSON of the update up to its text. */
  readonly #pieces: string[];
  /** The text before these pieces, joined. */
  readonly #blocks: string[] = [];

  /** `json` is the first piece, as a JSON string. */
  constructor(tag: ChunkTag, head: string, json: string) {
    this.tag = tag;
    this.head = head;
    this.#pieces = [head, json.slice(0, -1)];
  }

  add(json: string): void {
    this.#pieces.push(json.slice(1, -1));
    if (this.#pieces.length < joinedPieces) return;
    // joins small pieces early: the garbage collector would copy each of them
    this.#blocks.push(this.#pieces.join(""));
    this.#pieces.length = 0;
  }

  /** Ends the message. Returns the JSON of the update. */
  end(): string {
    this.#pieces.push('"}}');
    const last = this.#pieces.join("");
    return this.#blocks.length === 0 ? last : this.#blocks.join("") + last;
  }
}

/** Joins two updates of the same tool call. Undefined for other updates. */
export function joinedUpdates(one: SessionUpdate, next: SessionUpdate): SessionUpdate | undefined {
  if (one.sessionUpdate !== "tool_call_update" || next.sessionUpdate !== "tool_call_update") return undefined;
  return one.toolCallId === next.toolCallId ? { ...one, ...next } : undefined;
}
