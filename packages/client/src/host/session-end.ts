// Why a session ended, or could not go on.

import { LaunchError } from "../launch/launch-error.ts";
import { problemOf } from "../managed/problem.ts";

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

/**
 * Whether an error says that another client has taken the session.
 *
 * @example
 * import { isTaken } from "@parley/client/host";
 *
 * console.log(isTaken(new Error("another error"))); // false
 */
export function isTaken(error: unknown): boolean {
  return error instanceof Error && "kind" in error && error.kind === "session_taken";
}
