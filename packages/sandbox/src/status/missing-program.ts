// Finds out whether a command can be started, because bubblewrap reports that only as text.

import { isAbsolute, join, resolve } from "node:path";
import { typeOf } from "../guard/path-facts.ts";
import { isProgram } from "./find-tool.ts";

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
        .map((folder) => join(isAbsolute(folder) ? folder : resolve(cwd, folder), command));
  if (command !== "" && candidates.some(isProgram)) return undefined;
  return candidates.some((each) => typeOf(each) === "file") ? "EACCES" : "ENOENT";
}
