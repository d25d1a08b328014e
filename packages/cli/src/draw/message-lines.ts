// Messages and thoughts. Text of agents is indented: only our marks stand in the first column.

import type { ContentBlock } from "@parley/acp";
import type { MessageItem } from "@parley/acp/view";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import type { Drawing } from "./draw-options.ts";
import { attachedName, placeholder } from "./placeholders.ts";
import { clipped, count, counted, sourceLines, wrappedWords } from "./text-lines.ts";

export const messageIndent = "  ";
/** A longer prompt, such as one with a long paste, is folded to its head. */
const mostOfPrompt = 20;
const headOfPrompt = 10;

/** A prompt, and whether the agent still knows it. */
export function userLines({ content, result }: MessageItem, drawing: Drawing): string[] {
  const { width, paint, marks, isExpanded, cwd } = drawing;
  const isRemoved = result?.stopReason === "refusal";
  const draw = (text: string, columns: number) => {
    const all = plainLines(text, columns);
    return isExpanded || all.length <= mostOfPrompt
      ? all
      : [
          ...all.slice(0, headOfPrompt),
          clipped(`${marks.more} ${count(all.length - headOfPrompt)} more lines`, columns, marks.more),
        ];
  };
  const lines = blockLines(content, width - 2, draw, (block) => attachedName(block, cwd));
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

/** Text by `draw`, and each other block by its name or a placeholder, on a line of its own. */
export function blockLines(
  blocks: readonly ContentBlock[],
  width: number,
  draw: (text: string, width: number) => string[],
  nameOf: (block: ContentBlock) => string | undefined = () => undefined,
): string[] {
  const lines: string[] = [];
  let attachments = 0;
  for (const block of blocks) {
    const name = nameOf(block);
    if (block.type !== "text") attachments += 1;
    if (name !== undefined) lines.push(...wrappedWords(name, width));
    else if (block.type !== "text" || typeof block.text !== "string")
      lines.push(...wrappedWords(placeholder(block, attachments), width));
    else if (block.text.trim() !== "") lines.push(...draw(block.text, width));
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
