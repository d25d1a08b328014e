// Formats tool calls, plans and usage as lines.

import { relative } from "node:path";
import type { PromptResult } from "@parley/acp";
import { gitPatch } from "@parley/acp/internal";
import type { OutputBytes, PlanItem, SessionView, ToolCallItem } from "@parley/acp/view";
import { costText } from "@parley/client/internal";
import type { Paint } from "../terminal/paint.ts";
import { escapedSource, safeLine, safeText } from "../terminal/sanitise.ts";
import { wrapLine } from "../terminal/wrap-line.ts";

export interface ToolLineOptions {
  readonly paint: Paint;
  readonly cwd: string;
  /** The width of the terminal, to wrap sentences. Diffs and output of terminals stay as they are. */
  readonly columns?: number | undefined;
}

const shownDiffLines = 40;
const shownOutputLines = 12;
const longestTitle = 1000;
const indent = "    ";

/** Completed calls of kind "think" are hidden: their plan is shown. */
export function isWorthShowing({ toolKind, status, content }: ToolCallItem): boolean {
  return toolKind !== "think" || status !== "completed" || content.some(({ type }) => type !== "content");
}

/** A title on one line, truncated. */
export function titleLine(label: string): string {
  // never cuts a surrogate pair in half
  const line = safeLine(label.slice(0, 2 * longestTitle));
  return line.length <= longestTitle
    ? line
    : `${line.slice(0, longestTitle).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The title, then indented details. */
export function toolLines(call: ToolCallItem, view: SessionView, options: ToolLineOptions): string[] {
  const { paint } = options;
  const details = detailsOf(call, view, options);
  const mark =
    call.status === "completed" && !commandFailed(call, view)
      ? paint("success", "✓")
      : call.status === "cancelled"
        ? paint("warning", "⊘")
        : paint("error", "✗");
  const note = call.status === "completed" || call.status === "failed" ? "" : ` (${safeLine(call.status)})`;
  return [`${mark} ${titleLine(call.label)}${note}`, ...details.map((line) => `${indent}${line}`)];
}

/** Agents report a call as completed even if its command failed. */
function commandFailed({ content }: ToolCallItem, { terminals }: SessionView): boolean {
  return content.some((part) => {
    if (part.type !== "terminal" || typeof part.terminalId !== "string") return false;
    const { exitCode, signal } = terminals.get(part.terminalId)?.exitStatus ?? {};
    return (exitCode ?? 0) !== 0 || signal != null;
  });
}

function detailsOf(call: ToolCallItem, view: SessionView, options: ToolLineOptions): string[] {
  const lines: string[] = [];
  const width = options.columns === undefined ? undefined : options.columns - indent.length;
  for (const part of call.content) {
    if (part.type === "diff") lines.push(...diffLines(part, options));
    else if (part.type === "terminal" && typeof part.terminalId === "string") {
      const terminal = view.terminals.get(part.terminalId);
      if (terminal !== undefined) lines.push(...tail(terminal.output.text(), terminal.output));
      const exit = terminal?.exitStatus;
      if (exit?.exitCode) lines.push(`exit code ${exit.exitCode}`);
      else if (exit?.signal) lines.push(`ended by ${safeLine(exit.signal)}`);
    } else if (part.type === "content" && showsText(call)) {
      const { content } = part as { content?: { type?: unknown; text?: unknown } }; // of a type that is open
      if (content?.type === "text" && typeof content.text === "string")
        lines.push(...tail(content.text).flatMap((line) => wrapLine(line, width).split("\n")));
    }
  }
  return lines.length === 0 && call.status === "failed" ? tail(rawText(call.rawOutput)) : lines;
}

/** The reason of a failure, from an agent's own format. */
function rawText(output: unknown): string {
  if (output === undefined || output === null) return "";
  const { error, message, stderr } = output as Readonly<Record<string, unknown>>; // whatever it is
  const text = [output, error, message, stderr].find((each) => typeof each === "string" && each !== "");
  return String(text ?? JSON.stringify(output)).slice(-longestTitle);
}

/** The output of commands and failures is shown; file contents and search results are not. */
function showsText({ toolKind, status }: ToolCallItem): boolean {
  return toolKind === "execute" || status === "failed";
}

type DiffPart = Extract<ToolCallItem["content"][number], { type: "diff" }>;

function diffLines(diff: DiffPart, { paint, cwd }: ToolLineOptions): string[] {
  const patch =
    diff.path !== undefined && diff.newText !== undefined
      ? gitPatch("file", diff.oldText ?? undefined, diff.newText)
      : diff.patch?.text;
  const names = diff.path === undefined ? changedFiles(diff, cwd) : [shortened(diff.path, cwd)];
  const heading = names.map((name) => paint("dim", name));
  if (patch === undefined) return heading;
  const lines = patchLines(patch, paint);
  const shown = lines.slice(0, shownDiffLines);
  const rest = lines.length - shown.length;
  return [...heading, ...shown, ...(rest > 0 ? [paint("dim", `… ${grouped(rest)} more lines`)] : [])];
}

/** A patch without its header: the heading names the file. */
export function patchLines(patch: string, paint: Paint): string[] {
  const start = patch.search(/^@@ /m);
  return wholePatchLines(patch.slice(Math.max(0, start)), paint, cutLine);
}

/** With its first lines, which name the file, and with all of every line. */
export function wholePatchLines(
  patch: string,
  paint: Paint,
  cut: (line: string) => string = (line) => line,
): string[] {
  return escapedSource(patch)
    .trimEnd()
    .split("\n")
    .map((line) =>
      paint(line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "dim", cut(line)),
    );
}

const longestLine = 2_000;

/** A very long line without its middle. */
function cutLine(line: string): string {
  if (line.length <= longestLine) return line;
  const half = longestLine / 2;
  return `${line.slice(0, half)} … ${line.length - longestLine} more characters … ${line.slice(-half)}`;
}

function changedFiles({ changes = [] }: DiffPart, cwd: string): string[] {
  return changes.flatMap((change) => {
    const { path, oldPath, operation } = change as Readonly<Record<string, unknown>>; // of a type that is open
    if (typeof path !== "string") return [];
    const from = typeof oldPath === "string" ? `${shortened(oldPath, cwd)} → ` : "";
    return [`${from}${shortened(path, cwd)}${operation === "delete" ? " (deleted)" : ""}`];
  });
}

/** The last lines of an output. The text has only its end if some of it was dropped. */
function tail(text: string, output?: Pick<OutputBytes, "dropped" | "lines">): string[] {
  const lines = safeText(text)
    .trimEnd()
    .split("\n")
    .filter((line, _, all) => all.length > 1 || line !== "");
  const shown = lines.slice(-shownOutputLines);
  const isCut = output !== undefined && output.dropped > 0;
  const before = (isCut ? output.lines + (text.endsWith("\n") ? 0 : 1) : lines.length) - shown.length;
  return [...(before > 0 ? [`… ${grouped(before)} lines before`] : []), ...shown];
}

function shortened(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return safeLine(near === "" || near.startsWith("..") ? path : near);
}

type Plan = PlanItem["plan"];

export class PlanLines {
  readonly #paint: Paint;
  /** The last shown state of each plan: the status of each item, or the text. */
  readonly #shown = new Map<string, ReadonlyMap<string, string> | string>();

  constructor(paint: Paint) {
    this.#paint = paint;
  }

  /** The lines to show now. */
  changed(plan: Plan): string[] {
    const shown = this.#shown.get(plan.planId);
    if (plan.type === "items" && Array.isArray(plan.entries)) {
      const items: readonly { content: string; status: string }[] = plan.entries;
      const before = typeof shown === "object" ? shown : new Map<string, string>();
      this.#shown.set(plan.planId, new Map(items.map(({ content, status }) => [content, status])));
      const isNew = items.some(({ content }) => !before.has(content));
      return items
        .filter(({ content, status }) => isNew || before.get(content) !== status)
        .map(({ content, status }) => `${this.#mark(status)} ${safeLine(content)}`);
    }
    const text = wholeText(plan);
    if (text === shown) return [];
    this.#shown.set(plan.planId, text);
    return text === "" ? [] : text.split("\n");
  }

  #mark(status: string): string {
    if (status === "completed") return this.#paint("success", "☑");
    if (status === "in_progress") return this.#paint("warning", "◐");
    return status === "cancelled" ? this.#paint("dim", "☒") : "☐";
  }
}

/** A plan given as text or as a file. */
function wholeText(plan: Plan): string {
  if ("content" in plan && typeof plan.content === "string") return safeText(plan.content).trim();
  return "uri" in plan && typeof plan.uri === "string" ? `plan: ${safeLine(plan.uri)}` : "";
}

export function usageText(
  used: PromptResult["usage"] | undefined,
  { usage, cost }: Pick<SessionView, "usage" | "cost">,
): string[] {
  return [
    ...(used == null ? [] : [`${grouped(used.totalTokens)} tokens`]),
    ...(usage === undefined ? [] : [contextText(usage)]),
    ...(cost === undefined ? [] : [costText({ ...cost, currency: safeLine(cost.currency).slice(0, 10) })]),
  ];
}

function contextText({ used, size }: NonNullable<SessionView["usage"]>): string {
  // some agents report the total ever used, which is not a percentage
  if (size <= 0 || used > size) return `context ${grouped(used)}${size > 0 ? ` of ${grouped(size)}` : ""}`;
  return `context ${Math.round((100 * used) / size)} % of ${grouped(size)}`;
}

function grouped(count: number): string {
  return count.toLocaleString("en-US");
}
