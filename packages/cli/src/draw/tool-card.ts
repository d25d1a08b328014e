// Draws a tool call: one line that says what it is and how it went, and its output below.

import type { SessionView, ToolCallItem } from "@parley/acp/view";
import { parentCallOf } from "@parley/client/conversation";
import { safeLine } from "../terminal/sanitise.ts";
import { type Drawing, type DrawOptions, drawing } from "./draw-options.ts";
import { changeCount } from "./patch-rows.ts";
import { shortened } from "./short-path.ts";
import { clipped, count, counted, widthOf, wrappedWords } from "./text-lines.ts";
import { cardBody, hiddenLines, onlyChanged } from "./tool-output.ts";

export interface CardOptions extends DrawOptions {
  /** Plain text for programs and files: no icons, times or counts, and no line is wrapped. */
  readonly isPlain?: boolean;
}

const longestTitle = 1000;
const bodyIndent = "    ";
const deepestNesting = 4;
/** A narrow terminal has room for less. */
const columnsPerLevel = 30;
/** Shorter times say nothing. */
const leastTime = 100;

/** Completed calls of kind "think" are hidden, since their plan is shown; not those of a subagent, which has calls of its own. */
export function isWorthShowing(call: ToolCallItem, { toolCalls }: SessionView): boolean {
  const { toolKind, status, content, toolCallId } = call;
  if (toolKind !== "think" || status !== "completed") return true;
  if (content.some(({ type }) => type !== "content")) return true;
  return [...toolCalls.values()].some((each) => parentCallOf(each) === toolCallId);
}

/** A title on one line, truncated. */
export function titleLine(label: string, longest = longestTitle): string {
  const line = safeLine(label.slice(0, 2 * longest));
  // never cuts a surrogate pair in half
  return line.length <= longest ? line : `${line.slice(0, longest).replace(/[\ud800-\udbff]$/, "")}…`;
}

/** The title, then indented details. */
export function toolCard(call: ToolCallItem, view: SessionView, options: CardOptions): string[] {
  const made = drawing(options);
  const isPlain = options.isPlain === true;
  const outer = isPlain ? "" : nesting(call, view, made);
  const inner = `${outer.replace(/\S/g, " ")}${bodyIndent}`;
  const body = cardBody(call, view, { ...made, width: made.width - inner.length, isPlain });
  const head = isPlain
    ? [plainHeading(call, view, made)]
    : heading(call, view, { ...made, width: made.width - outer.length });
  return [
    ...head.map((line, at) => `${at === 0 ? made.paint("dim", outer) : outer.replace(/\S/g, " ")}${line}`),
    ...body.map((line) => (line === "" && !isPlain ? "" : `${inner}${line}`)),
  ];
}

function plainHeading(call: ToolCallItem, view: SessionView, made: Drawing): string {
  return `${statusMark(call, view, made)} ${titleLine(call.label)}${statusNote(call)}`;
}

function heading(call: ToolCallItem, view: SessionView, made: Drawing): string[] {
  const { width, paint, marks, isExpanded } = made;
  const kind = Object.hasOwn(marks.tools, call.toolKind) ? call.toolKind : "other";
  const icon = marks.tools[kind] ?? "";
  const start = `${statusMark(call, view, made)} ${paint("accent", icon)} `;
  const facts = factsOf(call, view, made);
  const end = facts.map((fact) => `  ${fact}`).join("");
  const title = `${titleLine(call.label, isExpanded ? 20 * longestTitle : longestTitle)}${statusNote(call)}`;
  const room = width - widthOf(start) - widthOf(end);
  if (widthOf(title) <= room) return [`${start}${title}${end}`];
  const indent = " ".repeat(widthOf(start));
  if (isExpanded) {
    const lines = wrappedWords(title, width - indent.length);
    const more = end === "" ? [] : [`${indent}${clippedFacts(facts, width - indent.length)}`];
    return [...lines.map((line, at) => `${at === 0 ? start : indent}${line}`), ...more];
  }
  // the title is worth more than the facts
  const least = Math.min(20, width - indent.length);
  if (room >= least) return [`${start}${clipped(title, room, marks.more)}${end}`];
  return [`${start}${clipped(title, width - indent.length, marks.more)}`];
}

function clippedFacts(facts: readonly string[], width: number): string {
  let line = "";
  for (const fact of facts) {
    const longer = line === "" ? fact : `${line}  ${fact}`;
    if (widthOf(longer) <= width) line = longer;
  }
  return line;
}

/** Where, how much and how long. */
function factsOf(
  call: ToolCallItem,
  view: SessionView,
  { paint, cwd, now, width, isExpanded }: Drawing,
): string[] {
  const { added, removed } = changeCount(call.content);
  const hidden = isExpanded ? 0 : hiddenLines(call);
  const until = call.endedAt ?? (call.status === "pending" ? undefined : now);
  const time = until === undefined ? "" : durationText(until - call.time - waitedMs(call, view, until));
  const where = clipped(whereOf(call, cwd), Math.floor(width / 3));
  return [
    ...(where === "" ? [] : [paint("dim", where)]),
    ...(added + removed === 0
      ? []
      : [`${paint("added", `+${count(added)}`)} ${paint("removed", `-${count(removed)}`)}`]),
    ...(hidden === 0 ? [] : [paint("dim", counted(hidden, "line"))]),
    ...(time === "" ? [] : [paint("dim", time)]),
  ];
}

/** The time in which the user was asked about it is not its own; a call that has not begun waits for other questions too. */
function waitedMs(call: ToolCallItem, { pendingAsks }: SessionView, until: number): number {
  const { toolCallId, waitedMs: before = 0, status, time } = call;
  const open = [...pendingAsks.values()].find(
    (each) =>
      each.kind === "permission" &&
      each.ask.subject?.type === "tool_call" &&
      each.ask.subject.toolCall.toolCallId === toolCallId,
  );
  if (open === undefined) return before;
  return Math.max(0, status === "pending" ? until - time : before + until - open.time);
}

/** Nothing for times that are no times, or too short to matter. */
export function durationText(milliseconds: number): string {
  if (!Number.isFinite(milliseconds) || milliseconds < leastTime) return "";
  const seconds = milliseconds / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(Math.round(seconds) / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds) % 60} s`;
  return `${count(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** The file that the call changes, else the first that it names, unless the title names it. */
function whereOf({ locations, label, content }: ToolCallItem, cwd: string): string {
  const changed = onlyChanged(content);
  const first =
    locations.find(({ path }) => path === changed) ??
    (changed === undefined ? locations[0] : { path: changed });
  if (first === undefined) return "";
  const path = shortened(String(first.path), cwd);
  const line =
    "line" in first && Number.isInteger(first.line) && Number(first.line) > 0 ? `:${first.line}` : "";
  const others = new Set([first.path, ...locations.map(({ path }) => path)]).size - 1;
  const more = others > 0 ? ` and ${count(others)} more` : "";
  const isNamed = label.includes(String(first.path)) || titleLine(label).includes(path);
  return isNamed ? more.trim() : `${path}${line}${more}`;
}

function statusMark(call: ToolCallItem, view: SessionView, { paint, marks }: Drawing): string {
  switch (call.status) {
    case "completed":
      return commandFailed(call, view) ? paint("error", marks.failed) : paint("success", marks.completed);
    case "cancelled":
      return paint("warning", marks.cancelled);
    case "in_progress":
      return paint("warning", marks.running);
    case "pending":
    case "paused":
      return paint("dim", marks.waiting);
    default:
      return paint(call.open ? "warning" : "error", call.open ? marks.running : marks.failed);
  }
}

function statusNote({ status, isRefused }: ToolCallItem): string {
  if (status === "cancelled" && isRefused === true) return " (refused)";
  const isMarked = ["completed", "failed", "in_progress", "pending"].includes(status);
  return isMarked ? "" : ` (${titleLine(status, 40)})`;
}

/** Agents report a call as completed even if its command failed. */
function commandFailed({ content }: ToolCallItem, { terminals }: SessionView): boolean {
  return content.some((part) => {
    if (part.type !== "terminal" || typeof part.terminalId !== "string") return false;
    const { exitCode, signal } = terminals.get(part.terminalId)?.exitStatus ?? {};
    return (exitCode ?? 0) !== 0 || signal != null;
  });
}

function nesting(call: ToolCallItem, view: SessionView, { marks, width }: Drawing): string {
  let depth = 0;
  let parent = parentCallOf(call);
  // a circle of parents ends here too
  while (parent !== undefined && depth < Math.min(deepestNesting, width / columnsPerLevel)) {
    const next = view.toolCalls.get(parent);
    if (next === undefined) break;
    depth += 1;
    parent = parentCallOf(next);
  }
  return depth === 0 ? "" : `${"  ".repeat(depth)}${marks.nested} `;
}
