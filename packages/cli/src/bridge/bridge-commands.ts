// The tables of `parley bridge` and of the MCP server that it gives to agents.

import type { Command } from "../command/command.ts";
import { flag, option } from "../command/command.ts";

export const bridgeCommands: readonly Command[] = [
  {
    name: "bridge",
    summary: "Bridge a v1 editor and a v2 agent, or the reverse",
    details:
      "Put it in front of the agent's command in your editor's settings. The agent may speak either version. Content that the " +
      "editor's version cannot express is converted as closely as possible and reported once on stderr; docs/bridge.md lists all " +
      "conversions.",
    positionals: "-- COMMAND [ARGUMENTS]",
    options: {
      as: option("v1|v2", "Protocol version of the editor", { completes: ["v1", "v2"] }),
      strict: flag(
        "Omit or reject content that the other version cannot express, instead of approximating it",
      ),
      log: option("FILE", "Append a full log to this file; - is stderr (default: only losses, on stderr)", {
        completes: "file",
      }),
    },
    load: async () => (await import("./bridge.ts")).run,
  },
  {
    name: "bridge-mcp",
    summary: "Serve the editor's tools over MCP, for the agent behind a bridge",
    internal: true,
    load: async () => (await import("./bridge-mcp.ts")).run,
  },
];
