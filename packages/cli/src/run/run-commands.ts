// Agents at work without a user interface.

import type { Command } from "../command/command.ts";

export const runCommands: readonly Command[] = [
  {
    name: "run",
    summary: "give an agent one prompt and print what it does, for scripts and pipes",
    details:
      "The prompt is what you type, --file, or what is piped in; piped text beside a prompt is attached to it. @FILE in\n" +
      "your own words shows the agent that file; a name that is no file stays text. The agent is ours unless --agent names\n" +
      "another or its command follows --. Nobody is asked: what no rule allows is refused, unless you sit at a terminal.\n" +
      "Ctrl-C asks the agent to stop, a second one ends it. Exit codes: 0 done, 1 the agent failed or refused, 2 usage,\n" +
      "3 a permission was refused by policy, 4 timeout, 5 the agent did not start, 6 login needed, 130 cancelled.",
    positionals: "[PROMPT] [-- COMMAND [ARGUMENTS]]",
    options: {
      agent: {
        type: "string",
        short: "a",
        value: "NAME",
        completes: "agent",
        summary: "which agent (default: parley)",
      },
      cwd: {
        type: "string",
        short: "C",
        value: "DIR",
        completes: "directory",
        summary: "where it works (default: here)",
      },
      "add-dir": {
        type: "string",
        value: "DIR",
        completes: "directory",
        multiple: true,
        summary: "a directory beside it that the agent may use too",
      },
      session: {
        type: "string",
        short: "s",
        value: "NAME",
        completes: "session",
        summary: "go on with the session of this name or id, the agent's own too; a new name begins one",
      },
      continue: {
        type: "boolean",
        short: "c",
        summary: "go on with the session that was used last in this directory",
      },
      format: {
        type: "string",
        short: "f",
        value: "FORMAT",
        completes: ["text", "json", "quiet"],
        default: "text",
        summary: "text, json (a line per event) or quiet (the last message)",
      },
      file: {
        type: "string",
        value: "FILE",
        completes: "file",
        multiple: true,
        summary: "read the prompt from a file; - is stdin",
      },
      image: {
        type: "string",
        value: "FILE",
        completes: "file",
        multiple: true,
        summary: "show the agent an image",
      },
      policy: { type: "string", value: "FILE", completes: "file", summary: "rules about what is allowed" },
      allow: { type: "string", value: "RULE", multiple: true, summary: "allow this without asking" },
      deny: { type: "string", value: "RULE", multiple: true, summary: "never allow this" },
      mode: { type: "string", value: "MODE", summary: "the agent's mode for this session" },
      model: { type: "string", value: "MODEL", summary: "the agent's model for this session" },
      set: {
        type: "string",
        value: "OPTION=VALUE",
        multiple: true,
        summary: "any other option of the agent's",
      },
      timeout: {
        type: "string",
        value: "TIME",
        summary: "give up after 90, 90s, 10m or 1h (default: never)",
      },
      mcp: {
        type: "string",
        value: "SERVER",
        completes: "file",
        multiple: true,
        summary: "an MCP server: NAME=URL, or a file with mcpServers",
      },
      "no-history": {
        type: "boolean",
        summary: "keep nothing of this session; what another agent keeps is its own",
      },
      verbose: { type: "boolean", short: "v", summary: "show what the agent writes to stderr" },
    },
    json: true,
    load: () => import("./run.ts"),
  },
  {
    name: "tour",
    summary: "watch our own agent at work, offline, in a folder that is thrown away",
    details:
      "It is what npm start runs. At a terminal it asks what to do; else it shows one whole turn and says how to go on.",
    options: {},
    json: true,
    load: () => import("../demo/tour.ts"),
  },
];
