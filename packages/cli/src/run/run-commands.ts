// The table of `parley run`.

import type { Command } from "../command/command.ts";

export const runCommands: readonly Command[] = [
  {
    name: "run",
    summary: "Send one prompt to an agent and print its output",
    details:
      "The prompt comes from the arguments, --file or stdin; piped text is attached to a typed prompt. @FILE in the prompt attaches that " +
      "file; if there is no such file, it stays text. The agent is Parley's own unless --agent names another or its command follows --.\n" +
      "Permission questions are asked only at a terminal; otherwise everything that no rule allows is refused. Ctrl-C asks the agent to " +
      "stop, a second Ctrl-C kills it.\n" +
      "Exit codes: 0 done, 1 the agent failed or refused, 2 usage, 3 a permission was refused by policy, 4 timeout, 5 the agent did not " +
      "start, 6 login needed, 130 cancelled.",
    positionals: "[PROMPT] [-- COMMAND [ARGUMENTS]]",
    options: {
      agent: {
        type: "string",
        short: "a",
        value: "NAME",
        completes: "agent",
        summary: "Agent to use (default: parley)",
      },
      cwd: {
        type: "string",
        short: "C",
        value: "DIR",
        completes: "directory",
        summary: "Working directory (default: current directory)",
      },
      "add-dir": {
        type: "string",
        value: "DIR",
        completes: "directory",
        multiple: true,
        summary: "Another directory that the agent may use",
      },
      session: {
        type: "string",
        short: "s",
        value: "NAME",
        completes: "session",
        summary: "Continue the session with this name or id (also an id of the agent); a new name starts one",
      },
      continue: {
        type: "boolean",
        short: "c",
        summary: "Continue the most recent session in this directory",
      },
      format: {
        type: "string",
        short: "f",
        value: "FORMAT",
        completes: ["text", "json", "quiet"],
        default: "text",
        summary: "text, json (one line per event) or quiet (only the last message)",
      },
      file: {
        type: "string",
        value: "FILE",
        completes: "file",
        multiple: true,
        summary: "Read the prompt from a file; - is stdin",
      },
      image: {
        type: "string",
        value: "FILE",
        completes: "file",
        multiple: true,
        summary: "Attach an image",
      },
      policy: { type: "string", value: "FILE", completes: "file", summary: "Permission rules for this run" },
      allow: {
        type: "string",
        value: "RULE",
        multiple: true,
        summary: "Allow this without asking; see parley help permissions add",
      },
      deny: { type: "string", value: "RULE", multiple: true, summary: "Never allow this" },
      mode: { type: "string", value: "MODE", summary: "Session mode of the agent" },
      model: { type: "string", value: "MODEL", summary: "Model of the agent" },
      set: {
        type: "string",
        value: "OPTION=VALUE",
        multiple: true,
        summary: "Set any other config option of the agent",
      },
      timeout: {
        type: "string",
        value: "TIME",
        summary: "Stop after 90, 90s, 10m or 1h (default: no limit)",
      },
      mcp: {
        type: "string",
        value: "SERVER",
        completes: "file",
        multiple: true,
        summary: "MCP server: NAME=URL, or a JSON file with mcpServers",
      },
      "no-history": {
        type: "boolean",
        summary: "Do not store this session; other agents may still store their own copy",
      },
      verbose: { type: "boolean", short: "v", summary: "Show the agent's stderr" },
    },
    json: true,
    load: () => import("./run.ts"),
  },
];
