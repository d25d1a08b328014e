// Lists all commands. Help, argument parsing, completion and docs/cli.md are derived from these tables.

import { agentCommands } from "./agent/agent-commands.ts";
import { agentsCommands } from "./agents/agents-commands.ts";
import { bridgeCommands } from "./bridge/bridge-commands.ts";
import { cliPageCommands } from "./command/cli-page-commands.ts";
import type { Command } from "./command/command.ts";
import { completionCommands } from "./completion/completion-commands.ts";
import { configCommands } from "./config/config-commands.ts";
import { demoCommands } from "./demo/demo-commands.ts";
import { doctorCommands } from "./doctor/doctor-commands.ts";
import { permissionsCommands } from "./permissions/permissions-commands.ts";
import { runCommands } from "./run/run-commands.ts";
import { sessionsCommands } from "./sessions/sessions-commands.ts";
import { tapCommands } from "./tap/tap-commands.ts";
import { traceCommands } from "./trace/trace-commands.ts";

/** In the order in which help lists them. */
export const commands: readonly Command[] = [
  ...runCommands,
  ...demoCommands,
  ...sessionsCommands,
  ...permissionsCommands,
  ...agentsCommands,
  ...agentCommands,
  ...configCommands,
  ...doctorCommands,
  ...tapCommands,
  ...traceCommands,
  ...bridgeCommands,
  ...completionCommands,
  ...cliPageCommands,
];
