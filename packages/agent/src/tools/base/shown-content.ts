// Builds the tool call content that users see.

import { extname } from "node:path";
import { exceedsJsonBytes, textDiff } from "@parley/acp/internal";
import type { ToolCallContent } from "@parley/acp/model";
import { gitPatch } from "@parley/acp/view";

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

/** A message holds a text, its predecessor and their patch. Nobody reads a larger change. */
const maxDiffBytes = 4 * 1024 * 1024;

function tooLarge(path: string, oldText: string, newText: string): ToolCallContent | undefined {
  if (![oldText, newText].some((text) => exceedsJsonBytes(text, maxDiffBytes))) return undefined;
  const sizes = `${oldText.length} characters before, ${newText.length} after`;
  return shownText(`The change to ${path} is too large to show: ${sizes}.`);
}

export function shownDiff(path: string, newText: string, oldText: string | undefined): ToolCallContent {
  const note = tooLarge(path, oldText ?? "", newText);
  if (note !== undefined) return note;
  return { type: "diff", ...textDiff({ path: path, oldText: oldText, newText: newText }) };
}

export function shownRemoval(path: string, oldText: string): ToolCallContent {
  const note = tooLarge(path, oldText, "");
  if (note !== undefined) return note;
  return {
    type: "diff",
    path,
    oldText,
    newText: "",
    changes: [{ operation: "delete", path, fileType: "text" }],
    patch: { format: "git_patch", text: gitPatch(path, oldText, undefined) },
  };
}
