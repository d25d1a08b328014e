// Turns a LaunchError into a CommandError.

import { LaunchError } from "@parley/client";
import { CommandError } from "../command/command-error.ts";
import { safeText } from "../terminal/sanitise.ts";

/** Exit code 6 if a login is needed, 5 if the agent did not start; other errors are returned as they are. */
export function launchFailure(error: unknown): unknown {
  if (!(error instanceof LaunchError)) return error;
  const { kind, message, hint, stderr } = error;
  const output = stderr === undefined || stderr.trim() === "" ? "" : `\n${safeText(stderr).trimEnd()}`;
  return new CommandError(kind, `${safeText(message)}${output}`, hint, kind === "login_needed" ? 6 : 5);
}
