// An agent that did not start, as a command tells it.

import { LaunchError } from "@parley/client";
import { CommandError } from "../command/command-error.ts";
import { safeText } from "../terminal/sanitise.ts";

/** Exit code 6 where somebody has to log in, 5 where the agent did not start; anything else is thrown on as it is. */
export function launchFailure(error: unknown): unknown {
  if (!(error instanceof LaunchError)) return error;
  const { kind, message, hint, stderr } = error;
  const said = stderr === undefined || stderr.trim() === "" ? "" : `\n${safeText(stderr).trimEnd()}`;
  return new CommandError(kind, `${safeText(message)}${said}`, hint, kind === "login_needed" ? 6 : 5);
}
