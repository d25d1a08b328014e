// Formats plans as lines: all of a new plan, then only what changed.

import type { PlanItem } from "@parley/acp/view";
import type { Paint } from "../terminal/paint.ts";
import { safeLine, safeText } from "../terminal/sanitise.ts";

type Plan = PlanItem["plan"];

export class PlanLines {
  readonly #paint: Paint;
  /** What was last shown of each plan: the status of each item, or the text. */
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
    if (status === "completed") return this.#paint("green", "☑");
    if (status === "in_progress") return this.#paint("yellow", "◐");
    return status === "cancelled" ? this.#paint("dim", "☒") : "☐";
  }
}

/** A plan given as text or as a file. */
function wholeText(plan: Plan): string {
  if ("content" in plan && typeof plan.content === "string") return safeText(plan.content).trim();
  return "uri" in plan && typeof plan.uri === "string" ? `plan: ${safeLine(plan.uri)}` : "";
}
