// The text of an item as the agent sent it, to search and copy it, and the file that it is about.

import { isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ContentBlock } from "@parley/acp";
import type { SessionView, TimelineItem, ToolCallItem } from "@parley/acp/view";
import { diffRows, patchOf } from "../../draw/patch-rows.ts";
import { type Attachment, attachedName, attachmentsOf, placeholder } from "../../draw/placeholders.ts";

export function itemText(item: TimelineItem, view: SessionView): string {
  switch (item.kind) {
    case "user_message":
      return blocksText(item.content, attachedName);
    case "agent_message":
    case "agent_thought":
    case "session_message":
      return blocksText(item.content);
    case "tool_call":
      return [item.label, ...item.content.map((part) => partText(part, view))]
        .filter((text) => text !== "")
        .join("\n");
    case "permission":
      return item.ask.title;
    case "elicitation":
      return item.ask.message;
    case "notice":
      return [item.notice.title, item.notice.description ?? ""].join("\n").trim();
    case "compaction":
      return [item.error ?? "", blocksText(item.summary)].join("\n").trim();
    case "subagent":
      return [item.title ?? "", item.description ?? ""].join("\n").trim();
    default:
      return `${item.sessionUpdate} ${JSON.stringify(item.raw)}`;
  }
}

/** Whether a text of it passes the test. A patch is made only if the file has passed. */
export function someText(item: TimelineItem, view: SessionView, test: (text: string) => boolean): boolean {
  if (item.kind !== "tool_call") return test(itemText(item, view));
  return (
    test(item.label) ||
    item.content.some((part) => {
      if (part.type === "diff" && part.newText !== undefined) {
        const { path = "", oldText, newText } = part;
        if (!test(path) && !test(newText) && !test(oldText ?? "")) return false;
      }
      return test(partText(part, view));
    })
  );
}

function blocksText(
  blocks: readonly ContentBlock[],
  nameOf: (block: ContentBlock) => string | undefined = () => undefined,
): string {
  let attachments = 0;
  return blocks
    .map((block) => {
      if (block.type === "text" && typeof block.text === "string") return block.text;
      attachments += 1;
      return `\n${nameOf(block) ?? placeholder(block, attachments)}\n`;
    })
    .join("");
}

function partText(part: ToolCallItem["content"][number], view: SessionView): string {
  if (part.type === "diff") {
    const names = (part.changes ?? []).map((change) => String((change as { path?: unknown }).path ?? "")); // an open type
    return [...names, patchOf(part) ?? ""].join("\n");
  }
  if (part.type === "terminal" && typeof part.terminalId === "string") {
    const terminal = view.terminals.get(part.terminalId);
    return [terminal?.command ?? "", terminal?.output.text() ?? ""].join("\n");
  }
  const { content } = part as { readonly content?: ContentBlock }; // an open type
  return content === undefined || typeof content !== "object" || content === null
    ? ""
    : blocksText([content]);
}

/** Images, sounds and resources of an item. */
export function attachmentsIn(item: TimelineItem): Attachment[] {
  if (item.kind === "tool_call") {
    const blocks = item.content.flatMap((part) => {
      const { content } = part as { readonly content?: ContentBlock }; // an open type
      return typeof content === "object" && content !== null ? [content] : [];
    });
    return attachmentsOf(blocks);
  }
  return "content" in item ? attachmentsOf(item.content) : [];
}

export interface FilePlace {
  readonly path: string;
  readonly line: number | undefined;
}

/** The first file that the item names, with the line where it was changed or read. */
export function fileOf(item: TimelineItem, cwd: string): FilePlace | undefined {
  const found =
    item.kind === "tool_call" ? fileOfCall(item) : "content" in item ? fileOfBlocks(item.content) : undefined;
  if (found === undefined || found.path === "") return undefined;
  return { path: isAbsolute(found.path) ? found.path : join(cwd, found.path), line: found.line };
}

function fileOfCall({ locations, content }: ToolCallItem): FilePlace | undefined {
  for (const part of content) {
    if (part.type !== "diff") continue;
    const [change] = part.changes ?? [];
    const path = part.path ?? (change as { readonly path?: unknown } | undefined)?.path; // an open type
    if (typeof path !== "string") continue;
    const row = diffRows(part).find(({ kind }) => kind === "added" || kind === "removed");
    return { path, line: row?.now ?? row?.old };
  }
  const [first] = locations;
  if (first === undefined) return undefined;
  const line = typeof first.line === "number" && first.line > 0 ? first.line : undefined;
  return { path: String(first.path), line };
}

function fileOfBlocks(blocks: readonly ContentBlock[]): FilePlace | undefined {
  for (const { uri } of attachmentsOf(blocks)) {
    if (uri === undefined || !uri.startsWith("file:")) continue;
    try {
      return { path: fileURLToPath(uri), line: undefined };
    } catch {
      // the address of another machine
    }
  }
  return undefined;
}
