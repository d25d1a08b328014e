// What is done about a prompt that failed. It is sent again by itself only where the agent has not begun to work on it:
// otherwise things would be done twice, and the user is asked.

import { pause } from "./deadline.ts";
import type { LiveOptions } from "./live-options.ts";
import type { Problem } from "./problem.ts";

/** What has been tried for one prompt. */
export interface RecoveryCounts {
  pauses: number;
  timeouts: number;
  crashes: number;
  takenUp: number;
  logins: number;
}

export interface Recovery {
  readonly options: LiveOptions;
  readonly counts: RecoveryCounts;
  /** Aborts when the user does not want the prompt any more. */
  readonly signal: AbortSignal;
  /** The session has been closed. */
  readonly isOver: boolean;
  canTakeUp(): boolean;
  takeUp(): Promise<void>;
  replace(): Promise<void>;
  login(): Promise<void>;
}

/** Nobody waits longer than this because an agent says so. */
const longestPauseMs = 300_000;

/** Whether the prompt is to be sent again. */
export async function recover(recovery: Recovery, problem: Problem, hasSpoken: boolean): Promise<boolean> {
  const { counts, isOver } = recovery;
  if (isOver) return false;
  switch (problem.kind) {
    case "crash":
      if (counts.crashes++ === 0 && !hasSpoken) return true;
      return wantsRetry(recovery, problem);
    case "session_not_found":
      // it knew the session when it began to work: what it did not find is something else
      return hasSpoken ? wantsRetry(recovery, problem) : found(recovery, problem);
    case "rate_limited":
      return paused(recovery, problem, hasSpoken);
    case "timeout":
      if (counts.timeouts++ === 0 && !hasSpoken) {
        recovery.options.onEvent?.({ kind: "retrying", problem, delayMs: 0, attempt: 1 });
        return true;
      }
      return wantsRetry(recovery, problem);
    case "login_needed":
      if (counts.logins++ > 0) return false;
      await recovery.login();
      return true;
    default:
      return wantsRetry(recovery, problem);
  }
}

async function wantsRetry({ options, signal }: Recovery, problem: Problem): Promise<boolean> {
  return (await options.asker?.retry?.(problem, { signal })) ?? false;
}

/** The agent may have put it away; one that has no such session any more gets a new one, where the user agrees. */
async function found(recovery: Recovery, problem: Problem): Promise<boolean> {
  const { counts, options, signal } = recovery;
  if (counts.takenUp++ === 0 && recovery.canTakeUp()) {
    const isBack = await recovery.takeUp().then(
      () => true,
      () => false,
    );
    if (isBack) return true;
  }
  if (counts.takenUp > 2) return false;
  if (!((await options.asker?.newSession?.(problem, { signal })) ?? false)) return false;
  counts.takenUp = 2;
  await recovery.replace();
  return true;
}

async function paused(recovery: Recovery, problem: Problem, hasSpoken: boolean): Promise<boolean> {
  const { counts, options, signal } = recovery;
  const { maxRetries = 4, backoffMs = 1_000 } = options;
  if (hasSpoken || counts.pauses >= maxRetries) return wantsRetry(recovery, problem);
  const delayMs = problem.retryAfterMs ?? backoffMs * 2 ** counts.pauses * (0.75 + Math.random() / 2);
  if (delayMs > longestPauseMs) return wantsRetry(recovery, problem);
  counts.pauses += 1;
  options.onEvent?.({ kind: "retrying", problem, delayMs, attempt: counts.pauses });
  return pause(delayMs, signal);
}
