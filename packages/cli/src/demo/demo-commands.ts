// The table of `parley demo`.

import type { Command } from "../command/command.ts";

export const demoCommands: readonly Command[] = [
  {
    name: "demo",
    summary: "Watch Parley's own agent work offline in a temporary folder",
    details:
      "`npm start` runs this command. At a terminal it asks for a task; otherwise it shows one complete turn.",
    json: true,
    load: async () => (await import("./demo.ts")).run,
  },
];
