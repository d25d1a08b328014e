// Names environment variables that mark a process group, to find daemons that have left it (TH6). Each group has its
// own variable name, not a value, so that nested groups have both. A process that clears its environment is not found.

import { randomBytes } from "node:crypto";

/** The prefix of all marks of this process. */
export const ownerMark = `PARLEY_GROUP_${randomBytes(6).toString("hex")}_`;

let marks = 0;

/** The name of a new variable; its value does not matter. */
export function groupMark(): string {
  marks += 1;
  return `${ownerMark}${marks}`;
}
