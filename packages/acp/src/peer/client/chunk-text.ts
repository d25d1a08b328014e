// Measures and joins updates that carry text.

import type { Update } from "../../model/update.ts";

/** Roughly the size of the message that brought an update. */
export function charsOf(update: Update): number {
  if (update.sessionUpdate === "agent_message_chunk" || update.sessionUpdate === "agent_thought_chunk") {
    if (update.content.type === "text") return update.content.text.length;
  }
  return JSON.stringify(update).length;
}

/** Joins two chunks of plain text of one message. */
export function joinedText(last: Update, next: Update): Update | undefined {
  if (next.sessionUpdate !== "agent_message_chunk" && next.sessionUpdate !== "agent_thought_chunk")
    return undefined;
  if (last.sessionUpdate !== next.sessionUpdate || last.messageId !== next.messageId) return undefined;
  if (!isPlain(last) || !isPlain(next)) return undefined;
  if (last.content.type !== "text" || next.content.type !== "text") return undefined;
  if (!isPlain(last.content) || !isPlain(next.content)) return undefined;
  // a new object: updates are shared with other listeners
  return { ...last, content: { ...last.content, text: last.content.text + next.content.text } };
}

function isPlain(value: { readonly _meta?: unknown; readonly annotations?: unknown }): boolean {
  return value._meta == null && value.annotations == null;
}
