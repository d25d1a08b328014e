// Formats refusals, with the rules that would allow them.

import { canonicalPath, type Decision } from "@parley/client";
import { commandToType } from "../settings/installation.ts";
import { safeLine } from "../terminal/sanitise.ts";

/** The printed part of a decision. */
export type Refusal = Pick<Decision, "summary" | "by" | "reason" | "allowedBy" | "workspace">;

const shownRules = 3;
const shownRefusals = 5;

/** Each refused operation once; `count` is the number of refusals. */
export function refusalMessage(refusals: readonly Refusal[], count: number): string {
  const all = refusals.map(({ summary, by }) => `${safeLine(summary)}${boundary[by] ?? ""}`);
  const times = count > new Set(all).size ? `, ${count} times` : "";
  return `refused by policy${times}: ${listed(all)}`;
}

export function violationMessage(violations: readonly Refusal[]): string {
  const all = violations.map(({ summary, reason }) => `${safeLine(summary)} (${safeLine(reason)})`);
  return `the agent did what a rule forbids, without asking: ${listed(all)}`;
}

function listed(lines: readonly string[]): string {
  const all = [...new Set(lines)];
  return [...all.slice(0, shownRefusals), ...(all.length > shownRefusals ? ["and more"] : [])].join("\n  ");
}

export const violationHint =
  "Parley cannot stop what an agent does itself: run it in a sandbox, or in a mode in which it asks";

const boundary: Readonly<Record<string, string>> = { boundary: " (outside the workspace)" };

export function refusalHint(refusals: readonly Refusal[]): string {
  const outside = refusals.some(({ by }) => by === "boundary");
  const inside = refusals.filter(({ by }) => by !== "boundary");
  const hints = [
    ...(inside.length === 0 ? [] : [ruleHint(inside)]),
    ...(outside ? ["use --add-dir DIR to give the agent a directory outside the workspace"] : []),
  ];
  return hints.join("; ");
}

function ruleHint(refusals: readonly Refusal[]): string {
  const rules = [...new Set(refusals.flatMap(({ allowedBy = [] }) => allowedBy))].filter(
    // only rules that can be typed as they are shown
    (rule) => safeLine(rule) === rule,
  );
  const [first] = rules;
  if (first !== undefined) {
    const shown = rules.slice(0, shownRules);
    // rules of a run always apply to what the agent does itself, too
    const flags = shown.map((rule) => `--allow ${quoted(rule.replace(/^any:/, ""))}`).join(" ");
    const more = rules.length > shown.length ? " and so on" : "";
    const isLine = rules.some((rule) => rule.endsWith("exec **"));
    if (isLine)
      return `a shell line needs --allow "exec **", which allows every command; or run it at a terminal to be asked`;
    const part = refusals.every(({ allowedBy }) => allowedBy !== undefined) ? "it" : "a part of it";
    const { here, options } = workspaceOf(refusals);
    const kept = `${commandToType()} permissions add allow ${quoted(first)}${options}`;
    const each = rules.length > 1 ? " (for each of them)" : "";
    return `allow ${part} for this run with ${flags}${more}, or ${here} for 30 days with ${kept}${each}`;
  }
  const forbidden = refusals.find(({ by }) => by !== "nobody");
  if (forbidden !== undefined) return `--allow cannot override this: ${safeLine(forbidden.reason)}`;
  return "no rule can allow this: run it at a terminal to be asked";
}

/** Remembered rules apply to one directory, which may not be the current one. */
function workspaceOf([first]: readonly Refusal[]): { readonly here: string; readonly options: string } {
  const isHere = first === undefined || first.workspace === canonicalPath(".");
  return isHere
    ? { here: "here", options: "" }
    : { here: "there", options: ` --cwd ${quoted(first.workspace)}` };
}

/** As one word for a shell. */
function quoted(text: string): string {
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}
