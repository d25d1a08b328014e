// Finds a program on PATH that the workspace cannot have put there.

import { findProgram } from "@parley/acp/node";

/** Where programs of the system are if PATH does not say. */
const systemFolders = [
  "/usr/local/bin",
  "/usr/bin",
  "/bin",
  "/usr/sbin",
  "/sbin",
  "/run/current-system/sw/bin",
];

/** The first program of that name that is not in or below one of the roots. */
export function findTool(
  name: string,
  path: string | undefined,
  roots: readonly string[],
): string | undefined {
  return findProgram(name, { path: [path ?? "", ...systemFolders].join(":"), outside: roots });
}
