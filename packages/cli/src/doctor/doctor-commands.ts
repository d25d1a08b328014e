// The table of `parley doctor`.

import type { Command } from "../command/command.ts";
import { option } from "../command/command.ts";

export const doctorCommands: readonly Command[] = [
  {
    name: "doctor",
    summary: "Diagnose the installation and suggest fixes",
    details:
      "Checks Node, the data folders, the config file, the model of Parley's own agent, every installed agent, and the configured MCP " +
      "servers. Each agent is started and opens a session in a temporary folder; no login and no prompt is sent. Exits with 1 if " +
      "something is broken.",
    options: {
      agent: option("NAME", "Check only this agent", { short: "a" }),
      timeout: option("SECONDS", "Time limit for each check", { default: "30" }),
    },
    json: true,
    load: async () => (await import("./doctor.ts")).run,
  },
];
