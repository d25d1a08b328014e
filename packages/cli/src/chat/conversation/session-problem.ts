// Turns errors into what a user is shown about a session that failed or crashed.

import { ConnectionError } from "@parley/acp";
import { LaunchError, problemOf } from "@parley/client";
import type { SessionProblem } from "@parley/client/conversation";
import { isTaken } from "@parley/client/host";
import { CommandError } from "../../command/command.ts";
import { isBusy, LiveError } from "../../live/live-error.ts";
import { safeText } from "../../terminal/sanitise.ts";

const shownStderr = 4096;

const taken: SessionProblem = {
  status: "taken",
  message: "another client has taken the session; a running turn may continue there",
  hint: "close it there and press Enter to go on here, or start parley chat with --takeover",
};

export function sessionProblem(error: unknown): SessionProblem {
  const { message, hint, stderr, status, isInUse, historyId } = partsOf(error);
  const tail = safeText((stderr ?? "").slice(-shownStderr)).trim();
  return {
    message: safeText(message),
    ...(hint === undefined || hint === "" ? {} : { hint }),
    ...(tail === "" || message.includes(tail) ? {} : { stderr: tail }),
    ...(status && { status }),
    ...(isInUse && { isInUse }),
    ...(historyId && { historyId }),
  };
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
