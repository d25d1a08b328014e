// What fills the context of a session, for agents that cannot show it themselves.

import { type ContentBlock, textOf } from "@parley/acp";
import { extensionIn, nameKey } from "@parley/acp/extensions";
import { isObject } from "@parley/acp/jsonrpc";
import type { SessionView, TimelineItem, ToolCallItem } from "@parley/acp/view";
import { count } from "../../draw/text-lines.ts";
import { usageText } from "../../draw/usage-text.ts";

const barColumns = 20;

/** `hasBars`: a reader of the screen would read each mark. */
export function contextLines(view: SessionView, { hasBars = true } = {}): string[] {
  const facts = usageText(undefined, view);
  const chars = { user: 0, files: 0, agent: 0, thoughts: 0, tools: 0 };
  for (const item of view.timeline) measure(item, view, chars);
  const rows = [
    ["your messages", chars.user],
    ["files and texts attached", chars.files],
    ["the agent's text", chars.agent],
    ["its thoughts", chars.thoughts],
    ["tool calls and their output", chars.tools],
  ] as const;
  const total = Math.max(1, ...[rows.reduce((sum, [, size]) => sum + size, 0)]);
  const lines = rows.map(([name, size]) => {
    const share = size / total;
    const filled = size === 0 ? 0 : Math.max(1, Math.round(share * barColumns));
    const bar = `[${"#".repeat(filled).padEnd(barColumns, ".")}] `;
    const percent = `${Math.round(100 * share)} %`.padStart(5);
    return `${hasBars ? bar : ""}${percent}  ${name}: ${count(size)} characters`;
  });
  const unknown = "The agent does not say how full its context is.";
  const dropped =
    view.dropped === 0 ? [] : [`${count(view.dropped)} older items are not counted: they are not in memory.`];
  return [
    facts.length === 0 ? unknown : facts.join(", "),
    "What was said and done here:",
    ...lines,
    ...dropped,
  ];
}

type Sizes = Record<"user" | "files" | "agent" | "thoughts" | "tools", number>;

function measure(item: TimelineItem, view: SessionView, sizes: Sizes): void {
  switch (item.kind) {
    case "user_message":
      item.content.forEach((block, at) => {
        sizes[at === 0 && block.type === "text" ? "user" : "files"] += sizeOf(block);
      });
      return;
    case "agent_message":
      sizes.agent += item.text.length;
      return;
    case "agent_thought":
      sizes.thoughts += item.text.length;
      return;
    case "tool_call":
      sizes.tools += toolSize(item, view);
      return;
    default:
      return;
  }
}

function sizeOf(block: ContentBlock): number {
  const { _meta } = block as { readonly _meta?: Readonly<Record<string, unknown>> | null }; // as: each kind may have it
  const name = extensionIn(_meta, nameKey);
  const resource = "resource" in block && isObject(block.resource) ? block.resource["text"] : undefined;
  const text = typeof resource === "string" ? resource : textOf(block);
  return text.length + (typeof name === "string" ? name.length : 0);
}

function toolSize({ content, terminalIds, rawInput }: ToolCallItem, { terminals }: SessionView): number {
  let size = rawInput === undefined ? 0 : JSON.stringify(rawInput).length;
  for (const part of content) {
    if (part.type === "content" && "content" in part) size += textOf(part.content as ContentBlock).length;
    if (part.type === "diff") size += JSON.stringify(part).length;
  }
  for (const id of terminalIds) size += terminals.get(id)?.output.received ?? 0;
  return size;
}
