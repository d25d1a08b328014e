// Prints the names of agents or sessions for completion scripts; prints nothing if they cannot be read.

import type { Invocation } from "../command/command.ts";
import { withHistory } from "../sessions/stored-sessions.ts";
import { readAgents } from "../settings/named-agent.ts";

/** Only the most recent: old ones are not looked for by id. */
const maxSessions = 20;

export async function run({ positionals }: Invocation): Promise<number> {
  const [what] = positionals;
  if (what === "agents") print(await agentNames().catch(() => []));
  if (what === "sessions") print(await sessionNames().catch(() => []));
  return 0;
}

async function agentNames(): Promise<string[]> {
  const { agents } = await readAgents(() => undefined);
  return [...agents.keys()];
}

async function sessionNames(): Promise<string[]> {
  const sessions = await withHistory((history) => history.list({ limit: maxSessions }));
  return sessions.flatMap(({ id, name }) => (name === undefined ? [id] : [id, name]));
}

function print(words: readonly string[]): void {
  process.stdout.write(words.map((word) => `${word}\n`).join(""));
}
