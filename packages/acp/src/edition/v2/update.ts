// What stands beside version 2's updates in the model, and must not leave on its wire.

import type { PermissionAsk } from "../../model/ask.ts";
import { gitPatch } from "../../model/git-patch.ts";
import type { ToolCallContent, ToolCallUpdate } from "../../model/update.ts";

/** A diff of the model may carry version 1's texts; version 2 has changes and a patch. */
export function withoutV1Facts<Tool extends ToolCallUpdate>(update: Tool): Tool {
  const { content } = update;
  if (content == null || !content.some(hasV1Facts)) return update;
  return { ...update, content: content.map((item) => (hasV1Facts(item) ? v2Diff(item) : item)) };
}

export function chunkWithoutV1Facts<Chunk extends { content: ToolCallContent }>(chunk: Chunk): Chunk {
  return hasV1Facts(chunk.content) ? { ...chunk, content: v2Diff(chunk.content) } : chunk;
}

export function askWithoutV1Facts(ask: PermissionAsk): PermissionAsk {
  const { subject } = ask;
  if (subject?.type !== "tool_call") return ask;
  return { ...ask, subject: { ...subject, toolCall: withoutV1Facts(subject.toolCall) } };
}

type DiffContent = Extract<ToolCallContent, { type: "diff" }>;

function hasV1Facts(item: ToolCallContent): item is DiffContent {
  return item.type === "diff" && ("newText" in item || "path" in item);
}

function v2Diff({ path, oldText, newText, ...rest }: DiffContent): DiffContent {
  if (rest.patch != null || path === undefined || newText === undefined) return rest;
  const text = gitPatch(path, oldText ?? undefined, newText);
  return text === "" ? rest : { ...rest, patch: { format: "git_patch", text } };
}
