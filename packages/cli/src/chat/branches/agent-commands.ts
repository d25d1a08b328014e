// Commands that an agent may have itself: what it announces is sent to it.

import type { Conversation } from "@parley/client/conversation";

/** The prompt to send, if the agent has such a command. */
export function ofAgent({ commands }: Conversation, name: string, rest: string): string | undefined {
  return commands.some((each) => each.name === name) ? `/${name} ${rest}`.trim() : undefined;
}

export function noCompaction(agent: string): string {
  return `${agent} has no /compact. Ask it for a summary and begin a new session with it (/clear), or go back to an earlier prompt (/rewind).`;
}
