// Tells the work of an agent from the facts that it reports.

import type { SessionUpdate } from "@parley/acp";

const workUpdates = /^(?:agent_|tool_call|plan|terminal_)/;

/** Whether an update shows that the agent has begun to work on something. */
export function beginsWork({ sessionUpdate }: SessionUpdate): boolean {
  return workUpdates.test(sessionUpdate);
}
