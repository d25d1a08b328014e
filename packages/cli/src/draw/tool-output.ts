// The output of a tool call: text, changes of files and terminals.

import type { ContentBlock } from "@parley/acp";
import type { SessionView, TerminalItem, ToolCallItem } from "@parley/acp/view";
import { escapedJson, safeLine } from "../terminal/sanitise.ts";
import { diffLines } from "./diff-lines.ts";
import type { Drawing } from "./draw-options.ts";
import { type DiffPart, diffRows, patchOf } from "./patch-rows.ts";
import { placeholder } from "./placeholders.ts";
import { shortened } from "./short-path.ts";
import { foldedLines, type TerminalOutput, terminalOutput, textOutput } from "./terminal-lines.ts";
import { brokenLines, clipped, counted, wrappedWords } from "./text-lines.ts";

type Card = Drawing & { readonly isPlain: boolean };

const plainDiffLines = 40;
const plainOutputLines = 12;
/** Of a card with many parts. */
const mostFolded = 60;
const longestReason = 1000;
const longestInput = 20_000;

export function cardBody(call: ToolCallItem, view: SessionView, card: Card): string[] {
  const lines: string[] = [];
  let attachments = 0;
  const isOnly = onlyChanged(call.content) !== undefined;
  for (const part of call.content) {
    if (part.type === "diff")
      lines.push(...changeLines(part as DiffPart, isOnly, card)); // checked by its tag
    else if (part.type === "terminal" && typeof part.terminalId === "string")
      lines.push(...terminalLines(view.terminals.get(part.terminalId), card));
    else if (part.type === "content") {
      const block = (part.content ?? {}) as ContentBlock; // checked by its tag
      if (block.type === "text" && typeof block.text === "string") {
        if (card.isExpanded || showsText(call)) lines.push(...textLines(block.text, card));
      } else if (!card.isPlain) {
        attachments += 1;
        lines.push(...wrappedWords(placeholder(block, attachments), card.width));
      }
    }
  }
  if (lines.length === 0 && call.status === "failed") lines.push(...textLines(rawText(call.rawOutput), card));
  if (card.isExpanded) return [...inputLines(call, card), ...lines];
  const rest = card.isPlain ? 0 : lines.length - mostFolded;
  if (rest <= 0) return lines;
  const note = `${card.marks.more} ${counted(rest, "more line")}`;
  return [...lines.slice(0, mostFolded), card.paint("dim", clipped(note, card.width))];
}

/**
 * The output of commands and failures is shown, and what the user may be asked about, such as a plan that the agent wants
 * to carry out. File contents and search results are not.
 */
function showsText({ toolKind, status }: ToolCallItem): boolean {
  return toolKind === "execute" || toolKind === "switch_mode" || status === "failed" || status === "pending";
}

/** How many lines of text are not shown unless the card is expanded. */
export function hiddenLines(call: ToolCallItem): number {
  if (showsText(call)) return 0;
  let lines = 0;
  for (const part of call.content) {
    const { text } = (part.type === "content" ? part.content : {}) as { readonly text?: unknown }; // any block
    if (typeof text !== "string" || text === "") continue;
    lines += text.endsWith("\n") ? 0 : 1;
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
    // agents put the text of a file into a block of code, whose fences are not lines of the file
    if (/^(?:```|~~~)[^\n]*\n/.test(text) && /\n(?:```+|~~~+)\s*$/.test(text.slice(-20))) lines -= 2;
  }
  return lines;
}

/** The arguments, where the title and the change do not say them. */
function inputLines({ rawInput, content }: ToolCallItem, { width, paint }: Card): string[] {
  if (rawInput === undefined || rawInput === null || content.some(({ type }) => type === "diff")) return [];
  const text = jsonText(rawInput);
  return text === "{}" ? [] : brokenLines(`input ${text}`, width).map((line) => paint("dim", line));
}

function jsonText(value: unknown): string {
  const text = escapedJson(value ?? null);
  return text.length <= longestInput ? text : `${text.slice(0, longestInput)}…`;
}

/** The reason of a failure, from an agent's own format. */
function rawText(output: unknown): string {
  if (output === undefined || output === null) return "";
  const { error, message, stderr } = output as Readonly<Record<string, unknown>>; // whatever it is
  const text = [output, error, message, stderr].find((each) => typeof each === "string" && each !== "");
  return String(text ?? jsonText(output)).slice(-longestReason);
}

function textLines(text: string, card: Card): string[] {
  return shownOutput(textOutput(text, mostLines(card)), card, wrappedWords);
}

function terminalLines(terminal: TerminalItem | undefined, card: Card): string[] {
  if (terminal === undefined) return [];
  const { width, paint, isPlain } = card;
  const look = { width, most: mostLines(card), isColoured: paint("dim", "x") !== "x", isPlain };
  const { exitCode, signal } = terminal.exitStatus ?? {};
  return [
    ...shownOutput(terminalOutput(terminal, look), card, brokenLines),
    ...(exitCode ? [`exit code ${exitCode}`] : signal ? [`ended by ${safeLine(signal).slice(0, 40)}`] : []),
  ];
}

function mostLines({ isPlain, isExpanded }: Card): number {
  return isExpanded ? Number.POSITIVE_INFINITY : isPlain ? plainOutputLines : foldedLines;
}

/** A line that is too long takes several; of folded output, no more than so many are shown. */
function shownOutput(
  { lines, before }: TerminalOutput,
  card: Card,
  wrap: (line: string, width: number) => string[],
): string[] {
  const { width, paint, marks, isPlain } = card;
  const drawn = isPlain ? lines : lines.flatMap((line) => wrap(line, width));
  const shown = isPlain || card.isExpanded ? drawn : drawn.slice(-foldedLines);
  const cut = before ?? (shown.length < drawn.length ? "more before" : undefined);
  const note = cut === undefined ? [] : [clipped(`${marks.more} ${cut}`, width)];
  return [...(isPlain ? note : note.map((line) => paint("dim", line))), ...shown];
}

/** The path of the file that the call changes, if it is one: the heading of the card names it. */
export function onlyChanged(content: ToolCallItem["content"]): string | undefined {
  const [diff, another] = content.filter(({ type }) => type === "diff") as DiffPart[]; // checked by the tag
  return another === undefined ? diff?.path : undefined;
}

function changeLines(diff: DiffPart, isOnly: boolean, card: Card): string[] {
  const { paint, cwd, width, marks, isPlain } = card;
  const names = diff.path === undefined ? changedFiles(diff, cwd) : [shortened(diff.path, cwd)];
  const heading = names.map((name) => paint("dim", clipped(name, width, marks.more)));
  const patch = patchOf(diff);
  if (patch === undefined) return heading;
  const rows = diffRows(diff);
  const files = rows.filter(({ kind }) => kind === "file");
  const [only, another] = files;
  const showsFiles = diff.path === undefined && (another !== undefined || names.length === 0);
  const look = {
    path: diff.path ?? only?.text,
    showsFiles,
    ...(isPlain ? { most: plainDiffLines } : {}),
  };
  return [...(showsFiles || (isOnly && !isPlain) ? [] : heading), ...diffLines(rows, look, card)];
}

function changedFiles({ changes = [] }: DiffPart, cwd: string): string[] {
  return changes.flatMap((change) => {
    const { path, oldPath, operation } = change as Readonly<Record<string, unknown>>; // of a type that is open
    if (typeof path !== "string") return [];
    const from = typeof oldPath === "string" ? `${shortened(oldPath, cwd)} → ` : "";
    return [`${from}${shortened(path, cwd)}${operation === "delete" ? " (deleted)" : ""}`];
  });
}
