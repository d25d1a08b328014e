// The commands of `parley`, one table each: help, argument parsing, completion and docs/cli.md all come from here.
// A command's code is loaded only when it runs.

import type { Command } from "./command.ts";
import { agentCommands } from "./commands/agent-commands.ts";
import { agentsCommands } from "./commands/agents-commands.ts";
import { configCommands } from "./commands/config-commands.ts";
import { permissionCommands } from "./commands/permission-commands.ts";
import { runCommands } from "./commands/run-commands.ts";
import { sessionCommands } from "./commands/session-commands.ts";
import { shellCommands } from "./commands/shell-commands.ts";
import { wireCommands } from "./commands/wire-commands.ts";

/** In the order in which help lists them. */
export const commands: readonly Command[] = [
  ...runCommands,
  ...sessionCommands,
  ...permissionCommands,
  ...agentsCommands,
  ...agentCommands,
  ...configCommands,
  ...wireCommands,
  ...shellCommands,
];
