// The table of `parley doctor`.

import type { Command } from "../command/command.ts";

export const doctorCommands: readonly Command[] = [
  {
    name: "doctor",
    summary: "Diagnose the installation and suggest fixes",
    details:
      "Checks Node, the data folders, the config file, the model of Parley's own agent, every installed agent, and the configured MCP " +
      "servers. Each agent is started and opens a session in a temporary folder; no login and no prompt is sent. Exits with 1 if " +
      "something is broken.",
    options: {
      agent: { type: "string", short: "a", value: "NAME", summary: "Check only this agent" },
      timeout: { type: "string", value: "SECONDS", default: "30", summary: "Time limit for each check" },
    },
    json: true,
    load: () => import("./doctor.ts"),
  },
];
