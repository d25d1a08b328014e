// Turns errors into what a user is shown about a session that failed or crashed.

import { ConnectionError } from "@parley/acp";
import { LaunchError } from "@parley/client";
import { problemOf } from "@parley/client/internal";
import { CommandError } from "../../command/command.ts";
import { LiveError } from "../../live/live-error.ts";
import { safeText } from "../../terminal/sanitise.ts";
import type { SessionProblem } from "./conversation.ts";

const shownStderr = 4096;

/** Calls back with the problem, without known secrets. */
export function redactedProblem(
  error: unknown,
  redacted: (text: string, use: (text: string) => void) => void,
  use: (problem: SessionProblem) => void,
): void {
  // as: it was made here
  redacted(JSON.stringify(sessionProblem(error)), (text) => use(JSON.parse(text) as SessionProblem));
}

function sessionProblem(error: unknown): SessionProblem {
  const { message, hint, stderr } = partsOf(error);
  const tail = safeText((stderr ?? "").slice(-shownStderr)).trim();
  return {
    message: safeText(message),
    ...(hint === undefined || hint === "" ? {} : { hint: safeText(hint) }),
    ...(tail === "" || message.includes(tail) ? {} : { stderr: tail }),
  };
}

/** Whether the agent has ended, so that it has to be started again. */
export function isCrash(error: unknown): boolean {
  if (error instanceof LaunchError) return true;
  return problemOf(error).kind === "crash";
}

/** Whether the agent no longer has the session. */
export function isLost(error: unknown): boolean {
  return problemOf(error).kind === "session_not_found";
}

function partsOf(error: unknown): SessionProblem {
  if (error instanceof LaunchError || error instanceof LiveError || error instanceof CommandError) {
    const { message, hint } = error;
    const stderr = error instanceof LaunchError ? error.stderr : undefined;
    return { message, ...(hint && { hint }), ...(stderr && { stderr }) };
  }
  if (error instanceof ConnectionError) {
    const { message, stderr } = error;
    return { message: `the agent ended: ${message}`, ...(stderr && { stderr }) };
  }
  const { message } = problemOf(error);
  const stderr = error instanceof Error && "stderr" in error ? error.stderr : undefined;
  return typeof stderr === "string" ? { message, stderr } : { message };
}
