// The tables of `parley trace`.

import { type Command, flag, option } from "../command/command.ts";

export const traceCommands: readonly Command[] = [
  {
    name: "trace show",
    summary: "Print a trace, one line per message and event",
    details:
      "Each line shows the record number, the time since the start, the sender and the message; responses show how long they took. " +
      "Give a record number to print that record in full. Of a chain that parley proxy --record has recorded, it shows the client's " +
      'side, and with --hops every component. With --json, prints one object per line; the last has the type "end".',
    positionals: "FILE [RECORD]",
    completes: "file",
    options: {
      follow: flag("Keep printing while a running tap adds records", { short: "f" }),
      hops: flag("Show which proxy changed what, in a recording of parley proxy --record"),
    },
    json: true,
    examples: [
      "parley trace show session.trace",
      "parley trace show session.trace 12",
      "parley trace show --hops chain.trace",
    ],
    load: async () => (await import("./trace-show.ts")).run,
  },
  {
    name: "trace redact",
    summary: "Copy a trace without its secrets, to share it",
    details:
      "Replaces values that look like secrets, by key (token, password, env, headers and so on) or by form (API keys, bearer tokens, " +
      "private keys), and the names and home directories of users. Ids and order stay, so the copy can be replayed. The original " +
      "does not change. Read the copy before you share it.",
    positionals: "FILE",
    completes: "file",
    options: {
      out: option("FILE", "File to write the copy to (default: stdout)", { completes: "file" }),
      contents: flag(
        "Also hide the text of messages, files and prompts; lengths stay, replayed prompts are blank",
      ),
    },
    json: true,
    examples: ["parley trace redact session.trace --out shared.trace"],
    load: async () => (await import("./trace-redact.ts")).run,
  },
  {
    name: "trace replay",
    summary: "Replay one side of a trace to a live peer",
    details:
      "--as agent serves the recorded agent on stdin and stdout; configure it as the agent's command in a client. --as client starts " +
      "an agent and sends it what the recorded client sent. Exits with 3 if the live peer differs from the recorded one, and prints " +
      "where.",
    completes: "file",
    positionals: "FILE [-- COMMAND [ARGUMENTS]]",
    options: {
      as: option("SIDE", "Side to replay: agent or client", { completes: ["agent", "client"] }),
      pace: option("PACE", "fast, or recorded to keep the recorded pauses", {
        completes: ["fast", "recorded"],
        default: "fast",
      }),
      timeout: option(
        "SECONDS",
        "How long to wait for the live peer (default: 60 for an agent, no limit for a client)",
      ),
    },
    json: true,
    examples: ["parley trace replay session.trace --as client -- my-agent --acp"],
    ownsOutput: true,
    load: async () => (await import("./trace-replay.ts")).run,
  },
];
