// The wire: shown, recorded, played again, translated.

import type { Command, Option } from "../command/command.ts";

const pace: Option = {
  type: "string",
  value: "MS",
  default: "0",
  summary: "pause between the agent's updates, in milliseconds",
};

export const wireCommands: readonly Command[] = [
  {
    name: "demo",
    summary: "watch a client and an agent talk to each other, offline",
    details:
      "Starts an agent as a second process, plays a short conversation over its stdio in a throw-away\n" +
      'folder, and shows every message as it crosses. With --json: one line per message, the last is "end".',
    options: { pace },
    json: true,
    load: () => import("../demo/demo.ts"),
  },
  {
    name: "demo-agent",
    summary: "serve a small scripted agent on stdin and stdout, for any ACP client",
    details:
      "Speaks ACP as lines of JSON-RPC. It is meant to be started by a client, such as an editor;\n" +
      "typed in a shell it waits for a client's first message and exits when its input ends.",
    options: { pace },
    load: () => import("../demo/demo-agent.ts"),
  },
  {
    name: "tap",
    summary: "run an agent and record everything that crosses between it and its client",
    details:
      "Put it in front of the agent's command where your client (an editor) has it, and use the client as\n" +
      "always: every byte is passed on as it came, and so are signals and the exit code. The trace is a file\n" +
      "that only you can read; it holds everything, secrets too: see parley help trace redact.",
    positionals: "-- COMMAND [ARGUMENTS]",
    options: {
      out: {
        type: "string",
        value: "FILE",
        completes: "file",
        summary:
          "where to write the trace; a name that is taken gets a number (default: the state directory)",
      },
      "max-bytes": {
        type: "string",
        value: "SIZE",
        default: "1g",
        summary: "how large the trace may become",
      },
      "max-line": {
        type: "string",
        value: "SIZE",
        default: "8m",
        summary: "of a longer message only the beginning is kept",
      },
      queue: {
        type: "string",
        value: "SIZE",
        default: "64m",
        summary: "how much may wait for a slow disk before records are dropped",
      },
    },
    load: () => import("../tap/tap.ts"),
  },
  {
    name: "trace show",
    summary: "print a trace, one line per message and event",
    details:
      "Every line has the number of its record, the time since the start, who sent it and what it is;\n" +
      'answers have the time that they took. With --json: one object per line, the last is "end".\n' +
      "With the number of a record: all of that one.",
    positionals: "FILE [RECORD]",
    completes: "file",
    options: {
      follow: { type: "boolean", short: "f", summary: "go on with what a running tap adds, up to its end" },
    },
    json: true,
    load: () => import("../trace/trace-show.ts"),
  },
  {
    name: "trace redact",
    summary: "copy a trace without its secrets, to share it",
    details:
      "Replaces what looks like a secret by its key (token, password, env, headers and so on) or by its form\n" +
      "(API keys, bearer tokens, private keys), and the names of users and their homes. Ids and order stay,\n" +
      "so that the copy can be replayed. The original is not touched. Read the copy before you share it.",
    positionals: "FILE",
    completes: "file",
    options: {
      out: {
        type: "string",
        value: "FILE",
        completes: "file",
        summary: "where to write the copy (default: stdout)",
      },
      contents: {
        type: "boolean",
        summary:
          "also hide the text of messages, files and prompts; lengths stay, replayed prompts say nothing",
      },
    },
    json: true,
    load: () => import("../trace/trace-redact.ts"),
  },
  {
    name: "trace replay",
    summary: "play one side of a trace to a live peer",
    details:
      "--as agent serves the recorded agent on stdin and stdout: give it to a client as its agent's command.\n" +
      "--as client starts an agent and does to it what the recorded client did. Exits with 3, and says where,\n" +
      "when the live peer does something else than the recorded one, or nothing at all.",
    completes: "file",
    positionals: "FILE [-- COMMAND [ARGUMENTS]]",
    options: {
      as: {
        type: "string",
        value: "SIDE",
        completes: ["agent", "client"],
        summary: "agent or client: who is played",
      },
      pace: {
        type: "string",
        value: "HOW",
        completes: ["fast", "recorded"],
        default: "fast",
        summary: "fast, or recorded: with the recorded pauses",
      },
      timeout: {
        type: "string",
        value: "SECONDS",
        summary:
          "how long the live peer may be silent when it is its turn (default: 60 for an agent, none for a client)",
      },
    },
    json: true,
    load: () => import("../trace/trace-replay.ts"),
  },
  {
    name: "bridge",
    summary: "put an agent of one version of the protocol behind an editor of the other",
    details:
      "Put it in front of the agent's command where your editor has it. --as is the version that the editor\n" +
      "speaks; the agent may speak either. What the editor's version cannot say is said as nearly as possible\n" +
      "and told once on stderr; docs/bridge.md has the list.",
    positionals: "-- COMMAND [ARGUMENTS]",
    options: {
      as: {
        type: "string",
        value: "v1|v2",
        completes: ["v1", "v2"],
        summary: "the version that the editor speaks",
      },
      strict: {
        type: "boolean",
        summary: "leave out, or refuse, what the other version cannot say, instead of nearly saying it",
      },
      log: {
        type: "string",
        value: "FILE",
        completes: "file",
        summary: "append everything that happens to a file; - is stderr (default: losses, on stderr)",
      },
    },
    load: () => import("./bridge.ts"),
  },
  {
    name: "bridge-mcp",
    summary: "the MCP server that a bridge gives to an agent",
    options: {},
    internal: true,
    load: () => import("./bridge-mcp.ts"),
  },
];
