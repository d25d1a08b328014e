// What is said of updates that could not be read.

import type { ClientConnection } from "@parley/acp";
import { CommandError } from "../command/command.ts";

/** Tells of updates that could not be read. Throws where nothing of the agent can be read. */
export function droppedUpdates({
  invalidUpdates,
  droppedDialect,
}: ClientConnection["counters"]): string | undefined {
  if (droppedDialect !== undefined) {
    const message = `the agent speaks the dialect ${droppedDialect}, and what it said was left out`;
    throw new CommandError("protocol", message, `use --edition ${droppedDialect}; see docs/editions.md`);
  }
  if (invalidUpdates === 0) return undefined;
  const are =
    invalidUpdates === 1 ? "1 update of the agent was" : `${invalidUpdates} updates of the agent were`;
  return `${are} not valid and left out; parley tap records what it sends`;
}
