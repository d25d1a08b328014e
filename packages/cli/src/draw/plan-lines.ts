// Plans: pinned above the prompt, on one line, and what changed in one.

import type { PlanItem, SessionView } from "@parley/acp/view";
import type { Paint } from "../terminal/paint.ts";
import { safeLine, safeText } from "../terminal/sanitise.ts";
import { type DrawOptions, drawing } from "./draw-options.ts";
import { type Marks, unicodeMarks } from "./marks.ts";
import { clipped, count } from "./text-lines.ts";

type Plan = PlanItem["plan"];

interface Entry {
  readonly content: string;
  readonly status: string;
}

export interface PlanOptions extends Pick<DrawOptions, "width" | "paint" | "marks"> {
  /** Nobody works on it now: no step is marked as being done. */
  readonly isIdle?: boolean;
}

/** With the heading. */
const mostLines = 6;
/** Longer than any line. */
const longestEntry = 2_000;

/** What is open in the plans of a session. Nothing if everything is done. */
export function planLines(view: Pick<SessionView, "plans">, options: PlanOptions): string[] {
  const { width, paint, marks } = drawing({ ...options, cwd: "" });
  return [...view.plans.values()]
    .flatMap(({ plan }) => {
      const entries = entriesOf(plan);
      if (entries === undefined) return textLine(plan, marks, paint, width);
      const open = entries.filter(isOpen);
      if (open.length === 0) return [];
      const idle = (entry: Entry) =>
        options.isIdle && isActive(entry) ? { ...entry, status: "pending" } : entry;
      const heading = `${options.isIdle ? marks.planOpen : marks.planActive} Plan ${marks.dot} ${doneText(entries)}`;
      const room = mostLines - 1;
      // what is being done is always seen
      const first = Math.max(0, Math.min(open.findIndex(isActive), open.length - room));
      const fits = open.length <= room;
      const shown = open.slice(first, first + (fits ? room : room - 1));
      const rest = open.length - shown.length;
      return [
        paint("dim", clipped(heading, width, marks.more)),
        ...shown.map((entry) => entryLine(idle(entry), marks, paint, width, "  ")),
        ...(rest > 0 ? [paint("dim", clipped(`  ${marks.more} ${count(rest)} more`, width))] : []),
      ];
    })
    .slice(0, mostLines);
}

/** A plan on one line: how much is done, and what is being done. */
export function planLine({ plan }: PlanItem, options: PlanOptions): string {
  const { width, paint, marks } = drawing({ ...options, cwd: "" });
  const entries = entriesOf(plan);
  if (entries === undefined) return textLine(plan, marks, paint, width)[0] ?? "";
  const now = entries.find(isActive) ?? entries.find(isOpen);
  const mark = now === undefined ? marks.planDone : marks.planActive;
  const what = now === undefined ? "" : `: ${contentOf(now)}`;
  return paint("dim", clipped(`${mark} Plan ${marks.dot} ${doneText(entries)}${what}`, width, marks.more));
}

/** What is new in plans since they were shown last. */
export class PlanChanges {
  readonly #paint: Paint;
  readonly #marks: Marks;
  /** The last shown state of each plan: the status of each item, or the text. */
  readonly #shown = new Map<string, ReadonlyMap<string, string> | string>();

  constructor(paint: Paint, marks: Marks = unicodeMarks) {
    this.#paint = paint;
    this.#marks = marks;
  }

  /** The lines to show now. */
  changed(plan: Plan, width = Number.POSITIVE_INFINITY): string[] {
    const shown = this.#shown.get(plan.planId);
    const items = entriesOf(plan);
    if (items !== undefined) {
      const before = typeof shown === "object" ? shown : new Map<string, string>();
      this.#shown.set(plan.planId, new Map(items.map(({ content, status }) => [content, status])));
      const isNew = items.some(({ content }) => !before.has(content));
      return items
        .filter(({ content, status }) => isNew || before.get(content) !== status)
        .map((entry) => entryLine(entry, this.#marks, this.#paint, width));
    }
    const text = wholeText(plan);
    if (text === shown) return [];
    this.#shown.set(plan.planId, text);
    return text === "" ? [] : text.split("\n");
  }
}

function entriesOf(plan: Plan): readonly Entry[] | undefined {
  return plan.type === "items" && Array.isArray(plan.entries) ? plan.entries : undefined;
}

function isActive({ status }: Entry): boolean {
  return status === "in_progress";
}

function isOpen({ status }: Entry): boolean {
  return status !== "completed" && status !== "cancelled";
}

function doneText(entries: readonly Entry[]): string {
  return `${count(entries.filter((entry) => !isOpen(entry)).length)} of ${count(entries.length)} done`;
}

function contentOf({ content }: Entry): string {
  return safeLine(String(content).slice(0, longestEntry));
}

function entryLine(entry: Entry, marks: Marks, paint: Paint, width: number, indent = ""): string {
  const [mark, painted] = markOf(entry.status, marks, paint);
  const room = width - indent.length - mark.length - 1;
  return `${indent}${painted} ${clipped(contentOf(entry), room, marks.more)}`;
}

function markOf(status: string, marks: Marks, paint: Paint): [mark: string, painted: string] {
  if (status === "completed") return [marks.planDone, paint("success", marks.planDone)];
  if (status === "in_progress") return [marks.planActive, paint("warning", marks.planActive)];
  if (status === "cancelled") return [marks.planCancelled, paint("dim", marks.planCancelled)];
  return [marks.planOpen, marks.planOpen];
}

/** A plan given as text or as a file. */
function wholeText(plan: Plan): string {
  if ("content" in plan && typeof plan.content === "string") return safeText(plan.content).trim();
  return "uri" in plan && typeof plan.uri === "string" ? `plan: ${safeLine(plan.uri)}` : "";
}

function textLine(plan: Plan, marks: Marks, paint: Paint, width: number): string[] {
  const [first = ""] = wholeText(plan).split("\n");
  const words = safeLine(first.slice(0, longestEntry)).replace(/^#+ |^plan: /, "");
  if (words === "") return [];
  return [paint("dim", clipped(`${marks.planActive} Plan: ${words}`, width, marks.more))];
}
