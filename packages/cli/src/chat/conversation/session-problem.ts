// Turns errors into what a user is shown about a session that failed or crashed.

import { ConnectionError } from "@parley/acp";
import { LaunchError, problemOf } from "@parley/client";
import { CommandError } from "../../command/command.ts";
import { isBusy, LiveError } from "../../live/live-error.ts";
import { safeText } from "../../terminal/sanitise.ts";
import type { SessionProblem } from "./conversation.ts";

const shownStderr = 4096;

const taken: SessionProblem = {
  status: "taken",
  message: "another client has taken the session; a running turn may continue there",
  hint: "close it there and press Enter to go on here, or start parley chat with --takeover",
};

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
  const { message, hint, stderr, status, isInUse, historyId } = partsOf(error);
  const tail = safeText((stderr ?? "").slice(-shownStderr)).trim();
  return {
    message: safeText(message),
    ...(hint === undefined || hint === "" ? {} : { hint: safeText(hint) }),
    ...(tail === "" || message.includes(tail) ? {} : { stderr: tail }),
    ...(status && { status }),
    ...(isInUse && { isInUse }),
    ...(historyId && { historyId }),
  };
}

/** Whether the agent has ended, so that it has to be started again. */
export function isCrash(error: unknown): boolean {
  if (error instanceof LaunchError) return error.kind !== "login_needed";
  return problemOf(error).kind === "crash";
}

/** Whether nothing was done about a prompt: the agent no longer has the session, or wants a login. */
export function isUnsent(error: unknown): boolean {
  if (error instanceof LaunchError) return error.kind === "login_needed";
  return problemOf(error).kind === "session_not_found";
}

/** Whether another client has taken the session. */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && "kind" in error && error.kind === "session_taken";
}

function partsOf(error: unknown): SessionProblem {
  if (error instanceof LaunchError || error instanceof LiveError || error instanceof CommandError) {
    const { message, hint } = error;
    const stderr = error instanceof LaunchError ? error.stderr : undefined;
    const status = "kind" in error && error.kind === "login_needed" ? "login needed" : undefined;
    const isInUse = "code" in error && error.code === "session_busy";
    return {
      message,
      ...(hint && { hint }),
      ...(stderr && { stderr }),
      ...(status && { status }),
      ...(isInUse && { isInUse }),
      ...("session" in error && typeof error.session === "string" && { historyId: error.session }),
    };
  }
  if (isTaken(error)) return taken;
  if (isBusy(error)) return { ...taken, message: "another client still has the session" };
  if (error instanceof ConnectionError) {
    const { message, stderr } = error;
    return { message: `the agent ended: ${message}`, ...(stderr && { stderr }) };
  }
  const { message } = problemOf(error);
  const stderr = error instanceof Error && "stderr" in error ? error.stderr : undefined;
  return typeof stderr === "string" ? { message, stderr } : { message };
}
