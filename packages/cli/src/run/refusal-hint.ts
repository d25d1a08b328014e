// What to do about something that was refused: the rule to paste, where a rule can allow it at all.

import type { Decision } from "@parley/client";
import { safeLine } from "./safe-text.ts";

/** Of a refusal, what the hint is made from. */
export type Refusal = Pick<Decision, "summary" | "by" | "reason" | "allowedBy">;

const shownRules = 3;

export function refusalHint(refusals: readonly Refusal[]): string {
  const rules = [...new Set(refusals.flatMap(({ allowedBy = [] }) => allowedBy))];
  const [first] = rules;
  if (first !== undefined) {
    const shown = rules.slice(0, shownRules);
    // what is typed for a run is about what the agent does by itself, too
    const flags = shown.map((rule) => `--allow ${quoted(rule.replace(/^any:/, ""))}`).join(" ");
    const more = rules.length > shown.length ? " and so on" : "";
    const isLine = rules.some((rule) => rule.endsWith("exec **"));
    if (isLine)
      return `a shell line is allowed only where every command is, with --allow "exec **"; or run it at a terminal, where you are asked`;
    return `allow it for this run with ${flags}${more}, or for good with parley permissions add allow ${quoted(first)}`;
  }
  const forbidden = refusals.find(({ by }) => by !== "nobody");
  if (forbidden !== undefined) return `no --allow goes beyond that: ${safeLine(forbidden.reason)}`;
  return "no --allow is for that: run it at a terminal, where you are asked";
}

/** As a shell takes it for one word. */
function quoted(text: string): string {
  const line = safeLine(text);
  return /["$`\\!]/.test(line) ? `'${line.replaceAll("'", "'\\''")}'` : `"${line}"`;
}
