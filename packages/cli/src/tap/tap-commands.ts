// The table of `parley tap`.

import type { Command } from "../command/command.ts";
import { option } from "../command/command.ts";

export const tapCommands: readonly Command[] = [
  {
    name: "tap",
    summary: "Run an agent and record all traffic between it and its client",
    details:
      "Put it in front of the agent's command in your editor's settings and work as usual. Bytes, signals and the exit code " +
      "pass through unchanged. Only you can read the trace. It contains everything, including secrets: use `parley trace redact` " +
      "before you share it.",
    positionals: "-- COMMAND [ARGUMENTS]",
    options: {
      out: option(
        "FILE",
        "Trace file; a number is added if the name is taken (default: a file in the state directory)",
        { completes: "file" },
      ),
      "max-bytes": option("SIZE", "Maximum size of the trace", { default: "1g" }),
      "max-line": option("SIZE", "Keep only the beginning of messages longer than this", { default: "8m" }),
      queue: option("SIZE", "Drop records when more than this waits for a slow disk", { default: "64m" }),
    },
    load: async () => (await import("./tap.ts")).run,
  },
];
