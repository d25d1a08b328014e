// Other agents, by name.

import type { Command } from "../command.ts";

export const agentsCommands: readonly Command[] = [
  {
    name: "agents list",
    summary: "list the agents that can be named, and whether they are installed",
    details: "The one with the star is used when none is named; client.agent in the config chooses it.",
    options: {},
    json: true,
    load: () => import("../agents/agents-list.ts"),
  },
];
