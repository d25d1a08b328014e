// Recognises paths that are protected in every mode.

import { homedir } from "node:os";
import { join } from "node:path";
import { isProtectedPath } from "@parley/sandbox/paths";

/**
 * Whether access to an absolute path needs a question in every mode. Secrets are protected from reads too. `roots` are the
 * folders of the workspace, in which more names are protected from writes.
 */
export function isProtected(path: string, access: "read" | "write", roots?: readonly string[]): boolean {
  return isProtectedPath(path, access, ownDirectories(), roots);
}

/** The agent's own configuration, with keys and rules. */
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
