// A mark in the environment of a child, which everything that it starts inherits: what has left its group and lost its
// parent, as daemons do, is found by it (TH6). Each group has a name of its own and not a value, so that a group inside
// another one belongs to both. Whoever empties its environment is not found.

import { randomBytes } from "node:crypto";

/** What all marks of this process begin with. */
export const ownerMark = `PARLEY_GROUP_${randomBytes(6).toString("hex")}_`;

let marks = 0;

/** The name of a variable; its value does not matter. */
export function groupMark(): string {
  marks += 1;
  return `${ownerMark}${marks}`;
}
