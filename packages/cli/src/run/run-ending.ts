// Determines the exit code and the error of a run, with the rules that would allow what was refused.

import type { PromptResult } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { problemOf } from "@parley/client";
import { canonicalPath, type Decision } from "@parley/client/policy";
import { quotedWord } from "../command/shell-words.ts";
import { exitCodes, type LiveError } from "../live/live-error.ts";
import type { RunFailure } from "../printers/run-printer.ts";
import { commandToType } from "../settings/installation.ts";
import { safeLine } from "../terminal/sanitise.ts";

export interface RunFacts {
  readonly wasInterrupted: boolean;
  readonly timedOutMs: number | undefined;
  /** The first refusals by policy; refusals by the user are not included. */
  readonly refusals: readonly Refusal[];
  /** The number of refusals. */
  readonly refused: number;
  /** Actions of the agent that a rule forbids or wants asked, and that it did not ask about. */
  readonly violations?: readonly Refusal[];
  /** Our own agent asks about changes and commands only because of its mode. */
  readonly isModeAsking?: boolean;
  /** The agent's stderr was printed. */
  readonly showsStderr: boolean;
  readonly outcome: PromptResult | undefined;
  /** Instead of an outcome. */
  readonly failure: LiveError | undefined;
}

export interface Ending {
  readonly exitCode: number;
  readonly error: RunFailure | undefined;
}

export function endingOf(facts: RunFacts): Ending {
  const { wasInterrupted, timedOutMs, outcome, failure } = facts;
  const early = failure?.exitCode === exitCodes.usage || failure?.exitCode === exitCodes.notStarted;
  if (failure !== undefined && early && !wasInterrupted) return failed(failure);
  if (failure?.exitCode === exitCodes.loginNeeded) return failed(failure);
  if (outcome?.stopReason === "error" && problemOf(outcome.error).kind === "login_needed") {
    return ending(
      exitCodes.loginNeeded,
      "login_needed",
      `the agent needs a login: ${safeLine(problemOf(outcome.error).message)}`,
    );
  }
  if (wasInterrupted) return ending(exitCodes.cancelled, "cancelled", "cancelled");
  if (timedOutMs !== undefined) {
    return ending(
      exitCodes.timeout,
      "timeout",
      `the agent did not finish within ${timedOutMs / 1000} s and was stopped`,
      "allow more time with --timeout",
    );
  }
  if (failure !== undefined) return failed(failure);
  return endingOfOutcome(outcome, facts);
}

function endingOfOutcome(
  outcome: PromptResult | undefined,
  { refusals, refused, violations = [], isModeAsking = false, showsStderr }: RunFacts,
): Ending {
  const { stopReason = "error", error } = outcome ?? {};
  // some agents report a refused permission as a cancelled turn, and a proxy cancels one that breaks a rule
  const wasRefused = refused > 0;
  if (stopReason === "cancelled" && !wasRefused && violations.length === 0) {
    return ending(exitCodes.cancelled, "cancelled", "the agent cancelled the turn");
  }
  if (stopReason !== "end_turn" && stopReason !== "cancelled") {
    const why =
      stopMessages[stopReason] ?? `the agent stopped with an unknown reason: ${safeLine(stopReason)}`;
    if (error === undefined) return ending(exitCodes.agentError, safeLine(stopReason), why);
    // problemOf finds the reason where agents put it
    const { message } = problemOf(error);
    const text = `the agent returned an error: ${safeLine(message)} (${error.code})`;
    const isVague = message === error.message && error.kind === "internal_error" && !showsStderr;
    const hint = isVague ? "use --verbose to see the agent's stderr" : undefined;
    return ending(exitCodes.agentError, "agent_error", text, hint);
  }
  if (violations.length > 0)
    return ending(exitCodes.refused, "rule_broken", violationMessage(violations), violationHint);
  if (!wasRefused) return { exitCode: exitCodes.ok, error: undefined };
  return ending(
    exitCodes.refused,
    "permission_refused",
    refusalMessage(refusals, refused),
    refusalHint(refusals, isModeAsking),
  );
}

const stopMessages: Readonly<Record<string, string>> = {
  refusal: "the agent refused to continue",
  max_tokens: "the agent stopped at the model's token limit",
  max_turn_requests: "the agent stopped at its limit of model requests per turn",
  error: "the agent stopped with an unspecified error",
};

function failed({ exitCode, code, message, hint }: LiveError): Ending {
  return ending(exitCode, code, message, hint);
}

function ending(exitCode: number, code: string, message: string, hint?: string): Ending {
  return { exitCode, error: { code, message, ...optional({ hint }) } };
}

/** The printed part of a decision. */
export type Refusal = Pick<Decision, "summary" | "by" | "reason" | "allowedBy" | "workspace" | "subjects">;

const shownRules = 3;
const shownRefusals = 5;

/** Each refused operation once; `count` is the number of refusals. */
export function refusalMessage(refusals: readonly Refusal[], count: number): string {
  const all = refusals.map(({ summary, by, reason }) => {
    const why = by === "reviewer" ? ` (${safeLine(reason)})` : (refusedBy[by] ?? "");
    return `${safeLine(summary)}${why}`;
  });
  const times = count > new Set(all).size ? `, ${count} times` : "";
  return `refused by policy${times}: ${listed(all)}`;
}

export function violationMessage(violations: readonly Refusal[]): string {
  const all = violations.map(({ summary, reason }) => `${safeLine(summary)} (${safeLine(reason)})`);
  return `the agent acted against a rule, without asking: ${listed(all)}`;
}

function listed(lines: readonly string[]): string {
  const all = [...new Set(lines)];
  return [...all.slice(0, shownRefusals), ...(all.length > shownRefusals ? ["and more"] : [])].join("\n  ");
}

export const violationHint =
  "Parley cannot stop what an agent does itself: run it in a sandbox, or in a mode in which it asks";

/** The hint says which rule it was. */
const refusedBy: Readonly<Record<string, string>> = {
  boundary: " (outside the workspace)",
  nobody: " (nobody could be asked)",
};

export function refusalHint(refusals: readonly Refusal[], isModeAsking = false): string {
  const outside = refusals.some(({ by }) => by === "boundary");
  const inside = refusals.filter(({ by }) => by !== "boundary");
  const hints = [
    ...(isModeAsking && inside.some(isAskedByMode) ? [modeHint] : []),
    // last, since it ends with a command to paste
    ...(inside.length === 0 ? [] : [ruleHint(inside)]),
    ...(outside ? ["use --add-dir DIR to give the agent a directory outside the workspace"] : []),
  ];
  return hints.join("; ");
}

const modeHint =
  "use --mode code, in which the agent changes files and runs commands in the sandbox without asking";

/** Mode code would not have asked about it. */
function isAskedByMode({ by, allowedBy, subjects }: Refusal): boolean {
  const isWork = subjects.every(({ operation }) => operation === "write" || operation === "exec");
  return by === "nobody" && allowedBy !== undefined && subjects[0]?.origin === "claim" && isWork;
}

function ruleHint(refusals: readonly Refusal[]): string {
  const rules = [...new Set(refusals.flatMap(({ allowedBy = [] }) => allowedBy))].filter(
    // only rules that can be typed as they are shown
    (rule) => safeLine(rule) === rule,
  );
  const [first] = rules;
  if (first !== undefined) {
    const shown = rules.slice(0, shownRules);
    const flags = shown.map((rule) => `--allow ${quotedWord(rule)}`).join(" ");
    const more = rules.length > shown.length ? " and so on" : "";
    const isLine = rules.some((rule) => rule.endsWith("exec **"));
    if (isLine)
      return `a shell line needs --allow "exec **", which allows every command; or run it at a terminal to be asked`;
    const part = refusals.every(({ allowedBy }) => allowedBy !== undefined) ? "it" : "a part of it";
    const { here, options } = workspaceOf(refusals);
    const kept = `${commandToType()} permissions add allow ${quotedWord(first)}${options}`;
    const each = rules.length > 1 ? " (for each of them)" : "";
    return `allow ${part} for this run with ${flags}${more}, or ${here} for 30 days with ${kept}${each}`;
  }
  const forbidden = refusals.find(({ by }) => by !== "nobody" && by !== "reviewer");
  if (forbidden !== undefined) return `--allow cannot override this: ${safeLine(forbidden.reason)}`;
  if (refusals.some(({ by }) => by === "reviewer"))
    return "the reviewer is not asked about what a rule allows: see --allow";
  return "no rule can allow this: run it at a terminal to be asked";
}

/** Remembered rules apply to one directory, which may not be the current one. */
function workspaceOf([first]: readonly Refusal[]): { readonly here: string; readonly options: string } {
  const isHere = first === undefined || first.workspace === canonicalPath(".");
  return isHere
    ? { here: "here", options: "" }
    : { here: "there", options: ` --cwd ${quotedWord(first.workspace)}` };
}
