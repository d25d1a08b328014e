// The table of `parley tap`.

import type { Command } from "../command/command.ts";

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
      out: {
        type: "string",
        value: "FILE",
        completes: "file",
        summary:
          "Trace file; a number is added if the name is taken (default: a file in the state directory)",
      },
      "max-bytes": { type: "string", value: "SIZE", default: "1g", summary: "Maximum size of the trace" },
      "max-line": {
        type: "string",
        value: "SIZE",
        default: "8m",
        summary: "Keep only the beginning of messages longer than this",
      },
      queue: {
        type: "string",
        value: "SIZE",
        default: "64m",
        summary: "Drop records when more than this waits for a slow disk",
      },
    },
    load: () => import("./tap.ts"),
  },
];
