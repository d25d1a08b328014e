// Type guards for the tool calls in questions and updates.

import type { PermissionRequest, SessionUpdate } from "@parley/acp";
import type { PermissionSubject, ToolCallUpdate } from "@parley/acp/model";

/** The tool call that a question is about. */
export function askedCall({ subject }: PermissionRequest): ToolCallUpdate | undefined {
  return isToolCallSubject(subject) ? subject.toolCall : undefined;
}

function isToolCallSubject(
  subject: PermissionRequest["subject"],
): subject is Extract<PermissionSubject, { type: "tool_call" }> {
  return subject?.type === "tool_call" && "toolCall" in subject;
}

export function isToolCallUpdate(
  update: SessionUpdate,
): update is Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }> {
  return update.sessionUpdate === "tool_call_update" && "toolCallId" in update;
}
