// Finds the Unix sockets on which programs of the host listen. A read-only mount does not close them.

import { lstatSync, readFileSync } from "node:fs";
import { isReachable } from "../guard/path-facts.ts";

/** Only answers who a user is. */
const harmless = new Set(["/var/lib/sss/pipes/nss"]);

/** The kernel gives the table in parts, and skips a socket in between if others are closed at that moment. */
const readings = 3;

/** The paths of the sockets that are open now. */
export function hostSockets(): readonly string[] {
  const paths = new Set(Array.from({ length: readings }, socketPaths).flat());
  return [...paths].filter((path) => !harmless.has(path) && isSocket(path) && isReachable(path));
}

function socketPaths(): readonly string[] {
  try {
    const table = readFileSync("/proc/net/unix", "utf8");
    return Array.from(table.matchAll(/ (\/.*)$/gm), ([, path = ""]) => path);
  } catch {
    return [];
  }
}

/** What this user cannot look at, such as a socket in a private folder of another, no command of theirs can connect to. */
export function isSocket(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
  } catch {
    return false;
  }
}
