// Adds the texts that version 1 shows to diffs of version 2: made from the patch, and from the file.

import { optional } from "../../base/objects.ts";
import type { Lost } from "../../edition/agent-edition.ts";
import { type PatchedTexts, textsFromPatch } from "../../model/apply-patch.ts";
import type { PermissionRequest } from "../../model/ask.ts";
import type { SessionUpdate, ToolCallContent, ToolCallUpdate } from "../../model/update.ts";

type Diff = Extract<ToolCallContent, { type: "diff" }>;
export type ReadText = (path: string) => string | undefined;

/** The same updates with texts beside the patches. */
export function withDiffTexts(
  update: SessionUpdate,
  readText: ReadText,
  lost: Lost,
): readonly SessionUpdate[] {
  if (update.sessionUpdate === "tool_call_update")
    return [{ ...update, ...toolTexts(update, readText, lost) }];
  if (update.sessionUpdate !== "tool_call_content_chunk" || update.content.type !== "diff") return [update];
  return diffsOf(update.content, readText, lost).map((content) => ({ ...update, content }));
}

export function askWithDiffTexts(ask: PermissionRequest, readText: ReadText, lost: Lost): PermissionRequest {
  const { subject } = ask;
  if (subject?.type !== "tool_call") return ask;
  const { toolCall } = subject;
  return {
    ...ask,
    subject: { ...subject, toolCall: { ...toolCall, ...toolTexts(toolCall, readText, lost) } },
  };
}

function toolTexts(
  { content }: ToolCallUpdate,
  readText: ReadText,
  lost: Lost,
): { content?: ToolCallContent[] } {
  if (content == null || !content.some((item) => item.type === "diff" && item.newText === undefined))
    return {};
  return {
    content: content.flatMap((item): ToolCallContent[] =>
      item.type === "diff" ? diffsOf(item, readText, lost) : [item],
    ),
  };
}

/** An empty patch is of a file that has not changed, or of an empty one that was added or deleted. */
function textsOf(
  patch: string,
  path: string,
  operation: string,
  readText: ReadText,
): PatchedTexts | undefined {
  const current = operation === "modify" ? readText(path) : undefined;
  if (patch.trim() !== "") return textsFromPatch(patch, path, current);
  const text = current ?? "";
  return { oldText: operation === "add" ? undefined : text, newText: text, isPartial: false };
}

/** One for each file. */
function diffsOf(diff: Diff, readText: ReadText, lost: Lost): ToolCallContent[] {
  if (diff.newText !== undefined) return [diff];
  const patch = diff.patch?.format === "git_patch" ? diff.patch.text : undefined;
  return diff.changes.flatMap((change): ToolCallContent[] => {
    const path = "path" in change && typeof change.path === "string" ? change.path : undefined;
    const isText = ["add", "modify", "delete"].includes(change.operation);
    const texts =
      isText && path !== undefined && patch !== undefined
        ? textsOf(patch, path, change.operation, readText)
        : undefined;
    if (texts === undefined || path === undefined) return [{ ...diff, changes: [change] }];
    if (texts.isPartial) lost(`all but the changed lines of ${path}`);
    const { oldText, newText = "" } = texts;
    const shown: Diff = { ...diff, changes: [change], path, newText, ...optional({ oldText }) };
    if (change.operation !== "delete") return [shown];
    // an empty text is all that is left of it in version 1
    return [shown, { type: "content", content: { type: "text", text: `${path} was deleted` } }];
  });
}
