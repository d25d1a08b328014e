// What was refused, and what to do about it: the rule to paste, where a rule can allow it at all.

import { canonicalPath, type Decision } from "@parley/client";
import { safeLine } from "../terminal/sanitise.ts";

/** Of a refusal, what is told of it. */
export type Refusal = Pick<Decision, "summary" | "by" | "reason" | "allowedBy" | "workspace">;

const shownRules = 3;
const shownRefusals = 5;

/** One line for each thing that was refused, however often it was. `count` is how often anything was. */
export function refusalMessage(refusals: readonly Refusal[], count: number): string {
  const all = [...new Set(refusals.map(({ summary, by }) => `${safeLine(summary)}${boundary[by] ?? ""}`))];
  const times = count > all.length ? `, ${count} times` : "";
  const more = all.length > shownRefusals ? ["and more"] : [];
  const [first = "", ...rest] = [...all.slice(0, shownRefusals), ...more];
  return `refused by policy${times}: ${[first, ...rest.map((each) => `  ${each}`)].join("\n")}`;
}

/** Of what nobody could stop. */
export function violationMessage(violations: readonly Refusal[]): string {
  const all = [
    ...new Set(violations.map(({ summary, reason }) => `${safeLine(summary)} (${safeLine(reason)})`)),
  ];
  const more = all.length > shownRefusals ? ["and more"] : [];
  const [first = "", ...rest] = [...all.slice(0, shownRefusals), ...more];
  return `the agent did by itself what a rule forbids: ${[first, ...rest.map((each) => `  ${each}`)].join("\n")}`;
}

export const violationHint =
  "Parley cannot stop what an agent does by itself: run it in a sandbox, or in a mode in which it asks";

const boundary: Readonly<Record<string, string>> = { boundary: " (outside the workspace)" };

export function refusalHint(refusals: readonly Refusal[]): string {
  const outside = refusals.some(({ by }) => by === "boundary");
  const inside = refusals.filter(({ by }) => by !== "boundary");
  const hints = [
    ...(inside.length === 0 ? [] : [ruleHint(inside)]),
    ...(outside ? ["--add-dir DIR lets the agent into a directory outside the workspace"] : []),
  ];
  return hints.join("; ");
}

function ruleHint(refusals: readonly Refusal[]): string {
  const rules = [...new Set(refusals.flatMap(({ allowedBy = [] }) => allowedBy))].filter(
    // what cannot be shown as it is cannot be typed either
    (rule) => safeLine(rule) === rule,
  );
  const [first] = rules;
  if (first !== undefined) {
    const shown = rules.slice(0, shownRules);
    // what is typed for a run is about what the agent does by itself, too
    const flags = shown.map((rule) => `--allow ${quoted(rule.replace(/^any:/, ""))}`).join(" ");
    const more = rules.length > shown.length ? " and so on" : "";
    const isLine = rules.some((rule) => rule.endsWith("exec **"));
    if (isLine)
      return `a shell line is allowed only where every command is, with --allow "exec **"; or run it at a terminal, where you are asked`;
    const part = refusals.every(({ allowedBy }) => allowedBy !== undefined) ? "it" : "a part of it";
    const { here, options } = placeOf(refusals);
    const kept = `parley permissions add allow ${quoted(first)}${options}`;
    const each = rules.length > 1 ? " (and so each of them)" : "";
    return `allow ${part} for this run with ${flags}${more}, or ${here} for 30 days with ${kept}${each}`;
  }
  const forbidden = refusals.find(({ by }) => by !== "nobody");
  if (forbidden !== undefined) return `no --allow goes beyond that: ${safeLine(forbidden.reason)}`;
  return "no --allow is for that: run it at a terminal, where you are asked";
}

/** What is remembered counts in one directory, which is not always this one. */
function placeOf([first]: readonly Refusal[]): { readonly here: string; readonly options: string } {
  const isHere = first === undefined || first.workspace === canonicalPath(".");
  return isHere
    ? { here: "here", options: "" }
    : { here: "there", options: ` --cwd ${quoted(first.workspace)}` };
}

/** As a shell takes it for one word. */
function quoted(text: string): string {
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
