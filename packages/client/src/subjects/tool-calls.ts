// Type guards for the tool calls in questions and updates.

import type { PermissionAsk, PermissionSubject, ToolCallUpdate, Update } from "@parley/acp";

/** The tool call that a question is about. */
export function askedCall({ subject }: PermissionAsk): ToolCallUpdate | undefined {
  return isToolCallSubject(subject) ? subject.toolCall : undefined;
}

function isToolCallSubject(
  subject: PermissionAsk["subject"],
): subject is Extract<PermissionSubject, { type: "tool_call" }> {
  return subject?.type === "tool_call" && "toolCall" in subject;
}

export function isToolCallUpdate(
  update: Update,
): update is Extract<Update, { sessionUpdate: "tool_call_update" }> {
  return update.sessionUpdate === "tool_call_update" && "toolCallId" in update;
}
