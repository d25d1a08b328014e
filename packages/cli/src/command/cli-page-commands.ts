// The table of the command that prints docs/cli.md.

import type { Command } from "./command.ts";

export const cliPageCommands: readonly Command[] = [
  {
    name: "cli-page",
    summary: "Print docs/cli.md",
    internal: true,
    load: async () => (await import("./cli-page.ts")).run,
  },
];
