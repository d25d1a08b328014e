// Messages and thoughts. Text of agents is indented: only our marks stand in the first column.

import type { ContentBlock } from "@parley/acp";
import type { MessageItem } from "@parley/acp/view";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import type { Drawing } from "./draw-options.ts";
import { placeholder } from "./placeholders.ts";
import { clipped, counted, sourceLines, wrappedWords } from "./text-lines.ts";

export const messageIndent = "  ";

/** A prompt, and whether the agent still knows it. */
export function userLines({ content, result }: MessageItem, drawing: Drawing): string[] {
  const { width, paint, marks } = drawing;
  const isRemoved = result?.stopReason === "refusal";
  const lines = blockLines(content, width - 2, plainLines);
  return [
    ...lines.map((line, at) =>
      paint(isRemoved ? "dim" : "user", `${at === 0 ? marks.user : " "} ${line}`.trimEnd()),
    ),
    ...(isRemoved ? removedLines(drawing) : []),
  ];
}

function removedLines({ width, paint, marks }: Drawing): string[] {
  const text =
    "The agent refused this prompt: it is removed from the agent's context, with everything below it.";
  return wrappedWords(text, width - 2).map((line, at) =>
    paint("warning", `${at === 0 ? marks.notice : " "} ${line}`),
  );
}

/** Folded: the first words and the length. */
export function thoughtLines(item: MessageItem, { width, paint, marks, isExpanded }: Drawing): string[] {
  const text = item.content.map(textOf).join("");
  if (text.trim() === "") return [];
  if (isExpanded) {
    const lines = blockLines(item.content, width - 2, plainLines);
    return lines.map((line, at) => paint("dim", `${at === 0 ? marks.thought : " "} ${line}`.trimEnd()));
  }
  const size = ` (${counted(text.split(/\s+/).length, "word")})`;
  const words = safeLine(text.slice(0, 20 * width));
  const short = clipped(words, Math.max(0, width - 2 - size.length), marks.more);
  return [paint("dim", `${marks.thought} ${short}${size}`.slice(0, Math.max(width, 2)))];
}

/** Text by `draw`, and each other block as a placeholder on a line of its own. */
export function blockLines(
  blocks: readonly ContentBlock[],
  width: number,
  draw: (text: string, width: number) => string[],
): string[] {
  const lines: string[] = [];
  let attachments = 0;
  for (const block of blocks) {
    if (block.type === "text" && typeof block.text === "string") {
      if (block.text.trim() !== "") lines.push(...draw(block.text, width));
    } else {
      attachments += 1;
      lines.push(...wrappedWords(placeholder(block, attachments), width));
    }
  }
  return lines;
}

/** Words as they were written. */
export function plainLines(text: string, width: number): string[] {
  return drawableText(text)
    .split("\n")
    .flatMap((line) => wrappedWords(line, width));
}

/** Safe, without tabs and overlong lines. */
export function drawableText(text: string): string {
  return sourceLines(safeText(text).trim()).join("\n");
}

function textOf(block: ContentBlock): string {
  return block.type === "text" && typeof block.text === "string" ? block.text : ` [${block.type}] `;
}

export function indented(lines: readonly string[], indent = messageIndent): string[] {
  return lines.map((line) => (line === "" ? "" : `${indent}${line}`));
}
