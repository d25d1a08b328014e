// Prints a completion script, and the names of agents and sessions that it completes.

import { type Command, type Invocation, usageError } from "../command/command.ts";
import { withHistory } from "../sessions/stored-sessions.ts";
import { knownAgentNames } from "../settings/named-agent.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { bashCompletion } from "./bash-completion.ts";
import { fishCompletion } from "./fish-completion.ts";
import { zshCompletion } from "./zsh-completion.ts";

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export function printScript({ positionals }: Invocation, tables: readonly Command[]): number {
  const [shell = ""] = positionals;
  if (!isShell(shell)) {
    const names = Object.keys(shells).join(", ");
    throw usageError(
      `expected a shell (${names}), got ${escapedLine(shell) || "none"}`,
      "see parley help completion",
    );
  }
  process.stdout.write(shells[shell](tables.filter(({ internal }) => internal !== true)));
  return 0;
}

function isShell(name: string): name is keyof typeof shells {
  return Object.hasOwn(shells, name);
}

/** Only the most recent: old ones are not looked for by id. */
const maxSessions = 20;

export async function printWords({ positionals }: Invocation): Promise<number> {
  const [what] = positionals;
  if (what === "agents") print(knownAgentNames());
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
