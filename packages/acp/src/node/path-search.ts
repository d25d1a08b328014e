// Finds out whether a command is missing, where the system only says that it may not be started.

import { statSync } from "node:fs";
import { delimiter, join } from "node:path";

/**
 * Whether the system means that there is no such command. It reports EACCES instead of ENOENT if a folder of PATH
 * cannot be entered, or has a folder of that name.
 */
export function isMissingCommand(
  command: string,
  { code }: NodeJS.ErrnoException,
  path: string | undefined = process.env["PATH"],
): boolean {
  if (code === "ENOENT") return true;
  if (code !== "EACCES" || /[\\/]/.test(command)) return false;
  const folders = (path ?? "").split(delimiter);
  return !folders.some((folder) => folder !== "" && isFile(join(folder, command)));
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
