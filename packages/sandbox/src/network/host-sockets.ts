// Finds the Unix sockets on which programs of the host listen. A read-only mount does not close them.

import { lstatSync, readFileSync } from "node:fs";

const limit = 200;

/** The paths of sockets outside of `covered`, whose contents the sandbox does not show anyway. */
export function hostSockets(covered: (path: string) => boolean): readonly string[] {
  let table: string;
  try {
    table = readFileSync("/proc/net/unix", "utf8");
  } catch {
    return [];
  }
  const paths = new Set<string>();
  for (const [, path = ""] of table.matchAll(/ (\/.*)$/gm)) if (!covered(path)) paths.add(path);
  return [...paths].filter(isSocket).slice(0, limit);
}

function isSocket(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
}
