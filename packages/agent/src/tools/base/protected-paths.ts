// What the agent asks about in every mode: what is protected everywhere, and its own configuration.

import { homedir } from "node:os";
import { join } from "node:path";
import { isProtectedPath } from "@parley/acp/node";

/** Whether a path, absolute, is asked about whatever the mode. `access`: secrets are protected from both. */
export function isProtected(path: string, access: "read" | "write"): boolean {
  return isProtectedPath(path, access, ownDirectories());
}

/** The configuration of this agent, with its keys and its rules. */
function ownDirectories(): string[] {
  const { PARLEY_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME } = process.env;
  if (PARLEY_HOME !== undefined && PARLEY_HOME !== "") return [PARLEY_HOME];
  const home = homedir();
  return [
    XDG_CONFIG_HOME || join(home, ".config"),
    XDG_DATA_HOME || join(home, ".local", "share"),
    XDG_STATE_HOME || join(home, ".local", "state"),
  ].map((directory) => join(directory, "parley"));
}
