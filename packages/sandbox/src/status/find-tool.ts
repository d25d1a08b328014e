// Finds a program on PATH that the workspace cannot have put there.

import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { realPath } from "../guard/path-facts.ts";
import { isAtOrBelow } from "../mounts/layout.ts";

/** Where programs of the system are if PATH does not say. */
const systemFolders = [
  "/usr/local/bin",
  "/usr/bin",
  "/bin",
  "/usr/sbin",
  "/sbin",
  "/run/current-system/sw/bin",
];

/** The first program of that name on PATH, links resolved, that is not in or below one of the roots. */
export function findTool(
  name: string,
  path: string | undefined,
  roots: readonly string[],
): string | undefined {
  const folders = [...(path ?? "").split(":").filter(isAbsolute), ...systemFolders];
  for (const folder of folders) {
    const found = realPath(join(folder, name));
    if (found === undefined || !isProgram(found)) continue;
    const isInside = [folder, found].some((each) =>
      roots.some((root) => isAtOrBelow(realPath(each) ?? each, root)),
    );
    // a program such as busybox goes by the name of the link
    if (!isInside) return join(folder, name);
  }
  return undefined;
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
