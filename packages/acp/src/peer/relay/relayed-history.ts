// Keeps what an agent has said in a session, so that the relay can say it again to a client that loads the session.

import { isPlainText, type PlainText } from "../../log/plain-text.ts";
import type { SessionUpdate } from "../../model/update.ts";
import { replayedUpdates } from "../agent/session/replayed-history.ts";

/** A longer history is the agent's to send. */
const maxUpdates = 16_384;
const maxChars = 8 * 1024 * 1024;

/** Options and commands are part of the answer, states follow from turns, and notices are not kept. */
const notHistory = new Set<string>([
  "state_update",
  "notice",
  "config_option_update",
  "available_commands_update",
]);

export class RelayedHistory {
  #updates: SessionUpdate[] | undefined;
  #chars = 0;

  /** Keeps from now on: the session has said nothing, or says everything again. */
  begin(): void {
    this.#updates = [];
    this.#chars = 0;
  }

  /** Keeps nothing: some of it is not known here. */
  drop(): void {
    this.#updates = undefined;
  }

  add(update: SessionUpdate): void {
    const kept = this.#updates;
    if (kept === undefined || notHistory.has(update.sessionUpdate)) return;
    const joined = joinedText(kept.at(-1), update);
    this.#chars += joined === undefined ? JSON.stringify(update).length : textOf(update).length;
    if (joined !== undefined) kept[kept.length - 1] = joined;
    else kept.push(update);
    if (kept.length > maxUpdates || this.#chars > maxChars) this.drop();
  }

  /** Everything that was said, as whole messages; undefined where it is not all known. */
  updates(maxSentBytes: number): readonly SessionUpdate[] | undefined {
    return this.#updates && replayedUpdates(this.#updates, maxSentBytes);
  }
}

type TextChunk = Extract<SessionUpdate, { sessionUpdate: "agent_message_chunk" | "agent_thought_chunk" }>;

function joinedText(last: SessionUpdate | undefined, next: SessionUpdate): SessionUpdate | undefined {
  if (last === undefined || !isText(last) || !isText(next)) return undefined;
  if (last.sessionUpdate !== next.sessionUpdate || last.messageId !== next.messageId) return undefined;
  return { ...last, content: { type: "text", text: textOf(last) + textOf(next) } };
}

/** A piece of text with nothing beside it. */
export function isText(update: SessionUpdate): update is TextChunk & PlainText {
  return isPlainText(update) && keyCount(update) === 3 && keyCount(update.content) === 2;
}

function keyCount(value: object): number {
  let count = 0;
  // without a list of them
  for (const _ in value) count++;
  return count;
}

function textOf(update: SessionUpdate): string {
  return isText(update) && update.content.type === "text" ? update.content.text : "";
}
