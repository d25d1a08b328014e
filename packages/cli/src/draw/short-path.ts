// Paths as the user knows them.

import { relative } from "node:path";
import { safeLine } from "../terminal/sanitise.ts";

const longest = 1_000;

/** Relative to the folder of the session, if it is inside. */
export function shortened(path: string, cwd: string): string {
  // nobody reads more of it, and a path of megabytes would be looked at character by character
  const start = path.slice(0, 4 * longest);
  const near = relative(cwd, start);
  return safeLine((near === "" || /^\.\.(?:[\\/]|$)/.test(near) ? start : near).slice(0, 2 * longest));
}
