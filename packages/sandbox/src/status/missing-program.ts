// Finds out whether a command can be started, because bubblewrap reports that only as text.

import { join, resolve } from "node:path";
import { findProgram } from "@parley/acp/node";
import { typeOf } from "../guard/path-facts.ts";

/** Why the system would not start a command, as an error code. */
export function missingProgram(
  command: string,
  cwd: string,
  path: string | undefined,
): "ENOENT" | "EACCES" | undefined {
  // env, which starts the command, would take it for an option
  if (command.startsWith("-")) return "EACCES";
  const candidates = command.includes("/")
    ? [resolve(cwd, command)]
    : (path ?? "/usr/local/bin:/usr/bin:/bin")
        .split(":")
        .map((folder) => join(resolve(cwd, folder), command));
  if (command !== "" && candidates.some((each) => findProgram(each) !== undefined)) return undefined;
  return candidates.some((each) => typeOf(each) === "file") ? "EACCES" : "ENOENT";
}
