// Collects what an agent does for one prompt, for assertions.

import { addMessageText, joinMessages, type MessageTexts } from "../model/content-text.ts";
import { entryFormat } from "../model/entry-format.ts";
import type { PromptResult, SessionUpdate } from "../model/update.ts";
import { applyEntry, createView } from "../view/apply-entry.ts";
import type { ToolCallItem } from "../view/session-view.ts";

/** What an agent did for one prompt. */
export interface Collected {
  /** The text of its messages; a line break stands between two of them. */
  readonly text: string;
  /** The text of its thoughts, likewise. */
  readonly thoughts: string;
  /** Its tool calls as they were in the end, in the order in which they began. */
  readonly toolCalls: readonly ToolCallItem[];
  readonly updates: readonly SessionUpdate[];
  readonly result: PromptResult;
}

/**
 * Reads a prompt to its end. Rejects when the connection ends before.
 *
 * @example
 * const { text, toolCalls, result } = await collect(session.prompt("fix the tests"));
 * assert.equal(result.stopReason, "end_turn");
 */
export async function collect(
  prompt: AsyncIterable<SessionUpdate> & { readonly result: Promise<PromptResult> },
): Promise<Collected> {
  const updates: SessionUpdate[] = [];
  const view = createView();
  const messages: MessageTexts = new Map();
  const thoughts: MessageTexts = new Map();
  for await (const update of prompt) {
    updates.push(update);
    applyEntry(view, { format: entryFormat, seq: updates.length, time: 0, kind: "update", update });
    addMessageText(messages, "agent_message", update);
    addMessageText(thoughts, "agent_thought", update);
  }
  const result = await prompt.result;
  return {
    text: joinMessages(messages),
    thoughts: joinMessages(thoughts),
    toolCalls: [...view.toolCalls.values()],
    updates,
    result,
  };
}
