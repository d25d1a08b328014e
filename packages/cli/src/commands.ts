// The commands of `parley`, one table each: help, argument parsing, completion and docs/cli.md all come from here.
// A command's code is loaded only when it runs.

import { agentCommands } from "./agent/agent-commands.ts";
import { agentsCommands } from "./agents/agents-commands.ts";
import { wireCommands } from "./bridge/wire-commands.ts";
import type { Command } from "./command/command.ts";
import { shellCommands } from "./completion/shell-commands.ts";
import { configCommands } from "./config/config-commands.ts";
import { permissionCommands } from "./permissions/permission-commands.ts";
import { runCommands } from "./run/run-commands.ts";
import { sessionCommands } from "./sessions/session-commands.ts";

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
