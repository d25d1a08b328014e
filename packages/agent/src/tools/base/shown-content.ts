// Builds the tool call content that users see.

import { extname } from "node:path";
import { gitPatch, textDiff } from "@parley/acp/internal";
import type { ToolCallContent } from "@parley/acp/model";

export function shownText(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** Fenced, so that Markdown in the text is not rendered. */
export function shownVerbatim(text: string, path?: string): ToolCallContent {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const language = path === undefined ? "" : extname(path).slice(1);
  return shownText(`${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`);
}

export function shownDiff(path: string, newText: string, oldText: string | undefined): ToolCallContent {
  return { type: "diff", ...textDiff({ path: path, oldText: oldText, newText: newText }) };
}

export function shownRemoval(path: string, oldText: string): ToolCallContent {
  return {
    type: "diff",
    path,
    oldText,
    newText: "",
    changes: [{ operation: "delete", path, fileType: "text" }],
    patch: { format: "git_patch", text: gitPatch(path, oldText, undefined) },
  };
}
