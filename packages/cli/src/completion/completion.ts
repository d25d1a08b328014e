// `parley completion SHELL`: prints a completion script.

import type { Command, Invocation } from "../command/command.ts";
import { usageError } from "../command/command.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { bashCompletion } from "./bash-completion.ts";
import { fishCompletion } from "./fish-completion.ts";
import { zshCompletion } from "./zsh-completion.ts";

const shells = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export function run({ positionals }: Invocation, tables: readonly Command[]): number {
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
