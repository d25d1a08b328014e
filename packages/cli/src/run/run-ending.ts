// Determines the exit code and the error of a run.

import { errorCodes, type Outcome } from "@parley/acp";
import { optional } from "@parley/acp/internal";
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

/** Ends a run without an outcome. */
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
  /** The first refusals by policy; refusals by the user are not included. */
  readonly refusals: readonly Refusal[];
  /** The number of refusals. */
  readonly refused: number;
  /** What the agent did without asking although a rule forbids it. */
  readonly violations?: readonly Refusal[];
  /** The agent's stderr was printed. */
  readonly showsStderr: boolean;
  readonly outcome: Outcome | undefined;
  /** Instead of an outcome. */
  readonly failure: RunError | undefined;
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
  outcome: Outcome | undefined,
  { refusals, refused, violations = [], showsStderr }: RunFacts,
): Ending {
  const { stopReason = "error", error } = outcome ?? {};
  // some agents report a refused permission as a cancelled turn
  const wasRefused = refused > 0;
  if (stopReason === "cancelled" && !wasRefused) {
    return ending(exitCodes.cancelled, "cancelled", "the agent cancelled the turn");
  }
  if (stopReason !== "end_turn" && stopReason !== "cancelled") {
    const why =
      stopMessages[stopReason] ?? `the agent stopped with an unknown reason: ${safeLine(stopReason)}`;
    if (error === undefined) return ending(exitCodes.agentError, safeLine(stopReason), why);
    // problemOf finds the reason where agents put it
    const { message } = problemOf(error);
    const text = `the agent returned an error: ${safeLine(message)} (${error.code})`;
    const isVague = message === error.message && error.code === errorCodes.internalError && !showsStderr;
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
    refusalHint(refusals),
  );
}

const stopMessages: Readonly<Record<string, string>> = {
  refusal: "the agent refused to continue",
  max_tokens: "the agent stopped at the model's token limit",
  max_turn_requests: "the agent stopped at its limit of model requests per turn",
  error: "the agent stopped with an unspecified error",
};

function failed({ exitCode, code, message, hint }: RunError): Ending {
  return ending(exitCode, code, message, hint);
}

function ending(exitCode: number, code: string, message: string, hint?: string): Ending {
  return { exitCode, error: { code, message, ...optional({ hint }) } };
}
