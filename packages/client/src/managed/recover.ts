// Decides what to do about a prompt that failed.

import { sleep } from "@parley/acp/jsonrpc";
import type { ManageAgentOptions } from "./managed-options.ts";
import type { AgentProblem } from "./problem.ts";
import type { SessionActivation } from "./session-activation.ts";

/** How often each remedy was tried for one prompt. */
export interface RecoveryCounts {
  pauses: number;
  timeouts: number;
  crashes: number;
  reopened: number;
  logins: number;
}

export interface Recovery {
  readonly options: ManageAgentOptions;
  readonly counts: RecoveryCounts;
  /** Aborts when the prompt is cancelled. */
  readonly signal: AbortSignal;
  /** The session has been closed. */
  readonly isOver: boolean;
  readonly session: SessionActivation;
  /** `why` is what the agent said. */
  login(why: string): Promise<unknown>;
}

/** The longest pause that an agent may ask for. */
const longestPauseMs = 300_000;

/**
 * Whether the prompt is to be sent again. That happens without asking only when the agent has not begun to work on it:
 * otherwise it could do things twice, so the user is asked.
 */
export async function recover(
  recovery: Recovery,
  problem: AgentProblem,
  hasBegun: boolean,
): Promise<boolean> {
  const { counts, isOver } = recovery;
  if (isOver) return false;
  switch (problem.kind) {
    case "crash":
      if (counts.crashes++ === 0 && !hasBegun) return true;
      return askToRetry(recovery, problem);
    case "session_not_found":
      // the agent knew the session when it began to work, so something else was not found
      return hasBegun ? askToRetry(recovery, problem) : restoreSession(recovery, problem);
    case "rate_limited":
      return waitAndRetry(recovery, problem, hasBegun);
    case "timeout":
      if (counts.timeouts++ === 0 && !hasBegun) {
        recovery.options.onEvent?.({ kind: "retrying", problem, delayMs: 0, attempt: 1 });
        return true;
      }
      return askToRetry(recovery, problem);
    case "session_taken":
      // it goes on there
      return false;
    case "login_needed":
      if (counts.logins++ > 0) return false;
      await recovery.login(problem.message);
      return true;
    default:
      return askToRetry(recovery, problem);
  }
}

async function askToRetry({ options, signal }: Recovery, problem: AgentProblem): Promise<boolean> {
  return (await options.asker?.retry?.(problem, { signal })) ?? false;
}

/** Reopens a session that the agent unloaded; opens a new one in its place when the user agrees. */
async function restoreSession(recovery: Recovery, problem: AgentProblem): Promise<boolean> {
  const { counts, options, signal } = recovery;
  if (counts.reopened++ === 0 && recovery.session.canReopen) {
    const isBack = await recovery.session.reopen().then(
      () => true,
      () => false,
    );
    if (isBack) return true;
  }
  if (counts.reopened > 2) return false;
  if (!((await options.asker?.newSession?.(problem, { signal })) ?? false)) return false;
  counts.reopened = 2;
  await recovery.session.replace();
  return true;
}

async function waitAndRetry(recovery: Recovery, problem: AgentProblem, hasBegun: boolean): Promise<boolean> {
  const { counts, options, signal } = recovery;
  const { maxRetries = 4, backoffMs = 1_000 } = options;
  if (hasBegun || counts.pauses >= maxRetries) return askToRetry(recovery, problem);
  const delayMs = problem.retryAfterMs ?? backoffMs * 2 ** counts.pauses * (0.75 + Math.random() / 2);
  if (delayMs > longestPauseMs) return askToRetry(recovery, problem);
  counts.pauses += 1;
  options.onEvent?.({ kind: "retrying", problem, delayMs, attempt: counts.pauses });
  await sleep(delayMs, signal);
  return !signal.aborted;
}
