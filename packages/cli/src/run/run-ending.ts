// How a run ended: one exit code, and words for it. The order of the codes is the order of what matters to a script.

import { errorCodes, type Outcome } from "@parley/acp";
import { problemOf } from "@parley/client";
import type { RunFailure } from "../printers/run-printer.ts";
import { safeLine } from "../terminal/sanitise.ts";
import {
  type Refusal,
  refusalHint,
  refusalMessage,
  violationHint,
  violationMessage,
} from "./refusal-messages.ts";

export const exitCodes = {
  ok: 0,
  agentError: 1,
  usage: 2,
  refused: 3,
  timeout: 4,
  notStarted: 5,
  loginNeeded: 6,
  cancelled: 130,
} as const;

/** Ends a run before or instead of an outcome. */
export class RunError extends Error {
  readonly exitCode: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(exitCode: number, code: string, message: string, hint?: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
    this.hint = hint;
  }
}

export interface RunFacts {
  readonly wasInterrupted: boolean;
  readonly timedOutMs: number | undefined;
  /** What policy refused, in words; a refusal by a person is not among them. The first of them. */
  readonly refusals: readonly Refusal[];
  /** How many there were. */
  readonly refused: number;
  /** What the agent did by itself against a rule. */
  readonly violations?: readonly Refusal[];
  /** What the agent wrote to stderr was shown. */
  readonly showsStderr: boolean;
  readonly outcome: Outcome | undefined;
  /** Instead of an outcome. */
  readonly failure: RunError | undefined;
}

export interface Ending {
  readonly exitCode: number;
  readonly error: RunFailure | undefined;
}

/** The first that applies. */
export function endingOf(facts: RunFacts): Ending {
  const { wasInterrupted, timedOutMs, outcome, failure } = facts;
  const early = failure?.exitCode === exitCodes.usage || failure?.exitCode === exitCodes.notStarted;
  if (failure !== undefined && early && !wasInterrupted) return failed(failure);
  if (failure?.exitCode === exitCodes.loginNeeded) return failed(failure);
  if (outcome?.stopReason === "error" && problemOf(outcome.error).kind === "login_needed") {
    return ending(
      exitCodes.loginNeeded,
      "login_needed",
      `the agent wants a login: ${safeLine(problemOf(outcome.error).message)}`,
    );
  }
  if (wasInterrupted) return ending(exitCodes.cancelled, "cancelled", "cancelled");
  if (timedOutMs !== undefined) {
    return ending(
      exitCodes.timeout,
      "timeout",
      `the agent was not done after ${timedOutMs / 1000} s and was stopped`,
      "give it more time with --timeout",
    );
  }
  if (failure !== undefined) return failed(failure);
  return endingOfOutcome(outcome, facts);
}

function endingOfOutcome(
  outcome: Outcome | undefined,
  { refusals, refused, violations = [], showsStderr }: RunFacts,
): Ending {
  const { stopReason = "error", error } = outcome ?? {};
  // some agents end a turn as cancelled when a permission is refused
  const wasRefused = refused > 0;
  if (stopReason === "cancelled" && !wasRefused) {
    return ending(exitCodes.cancelled, "cancelled", "the agent says that the turn was cancelled");
  }
  if (stopReason !== "end_turn" && stopReason !== "cancelled") {
    const why = wordsFor[stopReason] ?? `the agent stopped for a reason of its own: ${safeLine(stopReason)}`;
    if (error === undefined) return ending(exitCodes.agentError, safeLine(stopReason), why);
    // agents put the true reason elsewhere, and are made to say it
    const { message } = problemOf(error);
    const words = `the agent answered with an error: ${safeLine(message)} (${error.code})`;
    const isMute = message === error.message && error.code === errorCodes.internalError && !showsStderr;
    const hint = isMute ? "what it writes to stderr may say why: try again with --verbose" : undefined;
    return ending(exitCodes.agentError, "agent_error", words, hint);
  }
  if (violations.length > 0)
    return ending(exitCodes.refused, "rule_broken", violationMessage(violations), violationHint);
  if (!wasRefused) return { exitCode: exitCodes.ok, error: undefined };
  return ending(
    exitCodes.refused,
    "permission_refused",
    refusalMessage(refusals, refused),
    refusalHint(refusals),
  );
}

const wordsFor: Readonly<Record<string, string>> = {
  refusal: "the agent refused to go on",
  max_tokens: "the agent stopped: the model's limit of tokens was reached",
  max_turn_requests: "the agent stopped: its limit of requests to the model for one turn was reached",
  error: "the agent stopped with an error that it did not name",
};

function failed({ exitCode, code, message, hint }: RunError): Ending {
  return { exitCode, error: { code, message, ...(hint === undefined ? {} : { hint }) } };
}

function ending(exitCode: number, code: string, message: string, hint?: string): Ending {
  return { exitCode, error: { code, message, ...(hint === undefined ? {} : { hint }) } };
}
