// The names that a shell completes. It never fails: a shell that is told nothing completes nothing.

import { readyAgents } from "@parley/client";
import type { Invocation } from "../command.ts";
import { withHistory } from "../sessions/opened-history.ts";

const maxSessions = 100;

export async function run({ positionals }: Invocation): Promise<number> {
  const [what] = positionals;
  if (what === "agents") print(["parley", ...readyAgents().map(({ name }) => name)]);
  if (what === "sessions") print(await sessionNames().catch(() => []));
  return 0;
}

async function sessionNames(): Promise<string[]> {
  const sessions = await withHistory((history) => history.list({ limit: maxSessions }));
  return sessions.flatMap(({ id, name }) => (name === undefined ? [id] : [id, name]));
}

function print(words: readonly string[]): void {
  process.stdout.write(words.map((word) => `${word}\n`).join(""));
}
