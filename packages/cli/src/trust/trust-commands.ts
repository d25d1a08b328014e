// The table of `parley trust`.

import { type Command, flag, option } from "../command/command.ts";

export const trustCommands: readonly Command[] = [
  {
    name: "trust",
    summary: "Trust the settings in a folder",
    details:
      "A folder can contain permission rules (.parley/policy, which can only deny and ask) and MCP servers (.mcp.json). They take effect " +
      "only after you trust the folder. This command shows them and asks. If they change, you are asked again. Without a terminal, " +
      "`parley run` ignores settings that are not trusted. See docs/trust.md.",
    positionals: "[DIR]",
    completes: "directory",
    options: {
      yes: flag("Trust without asking, for scripts", { short: "y" }),
      list: flag("List the trusted folders"),
      revoke: option("DIR", "Stop trusting this folder", { completes: "directory" }),
    },
    json: true,
    examples: [
      "parley trust",
      "parley trust --yes project",
      "parley trust --list",
      "parley trust --revoke project",
    ],
    load: async () => (await import("./trust.ts")).trust,
  },
];
