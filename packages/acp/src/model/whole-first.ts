// Makes a replay say each thing as a whole before its pieces: pieces append, and a client may still have what they belong to.

import { anyObject, fields, listOf, type Shape, text } from "../base/shape.ts";
import type { SessionUpdate, UpdateOf } from "./update.ts";

/** A piece of a message. */
export type Chunk = UpdateOf<"user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk">;

const wholeOf = {
  user_message_chunk: "user_message",
  agent_message_chunk: "agent_message",
  agent_thought_chunk: "agent_thought",
} as const;

/** How far a replay has come, as JSON. */
export interface WholeFirstState {
  readonly whole: readonly string[];
  readonly compactions: readonly UpdateOf<"compaction_update">[];
}

export const wholeFirstShape: Shape = fields({ whole: listOf(text), compactions: listOf(anyObject) });

/** For one replay, from its beginning. */
export class WholeFirst {
  /** The things that have been said as a whole, by kind and id. */
  readonly #whole: Set<string>;
  /** The status of each compaction, without which it cannot be said as a whole. */
  readonly #compactions: Map<string, UpdateOf<"compaction_update">>;

  /** `state`: goes on from there. */
  constructor({ whole, compactions }: WholeFirstState = { whole: [], compactions: [] }) {
    this.#whole = new Set(whole);
    this.#compactions = new Map(compactions.map((each) => [each.compactionId, each]));
  }

  get state(): WholeFirstState {
    return { whole: [...this.#whole], compactions: [...this.#compactions.values()] };
  }

  /** The updates to send in place of this one. */
  take(update: SessionUpdate): readonly SessionUpdate[] {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk":
        return this.#message(update);
      case "user_message":
      case "agent_message":
      case "agent_thought":
        if (update.content !== undefined) this.#isFirst(update.sessionUpdate, update.messageId);
        return [update];
      case "tool_call_update":
        if (update.content !== undefined) this.#isFirst("tool_call", update.toolCallId);
        return [update];
      case "tool_call_content_chunk": {
        const { toolCallId, content } = update;
        if (!this.#isFirst("tool_call", toolCallId)) return [update];
        const whole = { sessionUpdate: "tool_call_update", toolCallId } as const;
        return isPlain(update) ? [{ ...whole, content: [content] }] : [{ ...whole, content: [] }, update];
      }
      case "terminal_update":
        if (update.output !== undefined) this.#isFirst("terminal", update.terminalId);
        return [update];
      case "terminal_output_chunk": {
        const { terminalId, data } = update;
        if (!this.#isFirst("terminal", terminalId)) return [update];
        const whole = { sessionUpdate: "terminal_update", terminalId } as const;
        return isPlain(update) ? [{ ...whole, output: { data } }] : [{ ...whole, output: null }, update];
      }
      case "compaction_update":
        this.#compactions.set(update.compactionId, update);
        if (update.summary !== undefined) this.#isFirst("compaction", update.compactionId);
        return [update];
      case "compaction_summary_chunk": {
        const known = this.#compactions.get(update.compactionId);
        if (known === undefined || !this.#isFirst("compaction", update.compactionId)) return [update];
        const { compactionId, status } = known;
        return [{ sessionUpdate: "compaction_update", compactionId, status, summary: [] }, update];
      }
      case "session_message":
        if (update.content !== undefined) this.#isFirst("session_message", update.messageId);
        return [update];
      case "session_message_chunk": {
        const { messageId } = update;
        if (!this.#isFirst("session_message", messageId)) return [update];
        return [{ sessionUpdate: "session_message", messageId, content: [] }, update];
      }
      default:
        return [update];
    }
  }

  /** As `take`, for a chunk that is nothing but a text: whether it has to be sent as a whole message. */
  beginsMessage(sessionUpdate: Chunk["sessionUpdate"], messageId: string): boolean {
    return this.#isFirst(wholeOf[sessionUpdate], messageId);
  }

  /** As `take`, for a tool call with content. */
  tookToolCall(toolCallId: string): void {
    this.#isFirst("tool_call", toolCallId);
  }

  #message(chunk: Chunk): readonly SessionUpdate[] {
    const sessionUpdate = wholeOf[chunk.sessionUpdate];
    const { messageId, content } = chunk;
    if (!this.#isFirst(sessionUpdate, messageId)) return [chunk];
    const whole = { sessionUpdate, messageId };
    return isPlain(chunk) ? [{ ...whole, content: [content] }] : [{ ...whole, content: [] }, chunk];
  }

  #isFirst(kind: string, id: string): boolean {
    const key = `${kind} ${id}`;
    if (this.#whole.has(key)) return false;
    this.#whole.add(key);
    return true;
  }
}

/** Nothing but a tag, an id and a content. The custom data of a piece is not that of the whole. */
export function isPlain(chunk: object): boolean {
  return Object.keys(chunk).length === 3;
}
