// Names environment variables that mark the processes of a group, to find daemons that have left it (TH6).

import { randomBytes } from "node:crypto";

/** The prefix of all marks of this process. */
export const ownerMark = `PARLEY_GROUP_${randomBytes(6).toString("hex")}_`;

let marks = 0;

/** The name of a new variable; its value does not matter. A name per group, so that nested groups have both. */
export function groupMark(): string {
  marks += 1;
  return `${ownerMark}${marks}`;
}
