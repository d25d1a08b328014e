// The table of `parley run`.

import { type Command, flag, option } from "../command/command.ts";
import { editionNames } from "../settings/edition-choice.ts";
import { sandboxWords } from "../settings/sandbox-choice.ts";

export const runCommands: readonly Command[] = [
  {
    name: "run",
    summary: "Send one prompt to an agent and print its output",
    details:
      "The prompt comes from the arguments, --file or stdin; piped text is attached to a typed prompt. @FILE in the prompt attaches that " +
      "file; if there is no such file, it stays text. The agent is Parley's own unless --agent names another or its command follows --.\n\n" +
      "Permission questions are asked only at a terminal; otherwise everything that no rule allows is refused. Ctrl-C asks the agent to " +
      "stop, a second Ctrl-C kills it.\n\n" +
      "exit codes:\n" +
      "  0    success\n" +
      "  1    the agent failed or refused\n" +
      "  2    invalid usage\n" +
      "  3    the policy refused a permission, or the agent broke a rule\n" +
      "  4    timeout\n" +
      "  5    the agent did not start, or the session is in use\n" +
      "  6    login needed\n" +
      "  130  cancelled",
    positionals: "[PROMPT] [-- COMMAND [ARGUMENTS]]",
    options: {
      agent: option("NAME", "Agent to use (default: parley)", { short: "a", completes: "agent" }),
      url: option("URL", "Address of a remote agent; its token is taken from PARLEY_TOKEN"),
      "token-file": option("FILE", "File with the token of the address, instead of PARLEY_TOKEN", {
        completes: "file",
      }),
      takeover: flag("Take the session from another client of the address that has it"),
      header: option("NAME=VALUE", "HTTP header to send to the address", { multiple: true }),
      edition: option(
        "NAME",
        "Edition of the protocol that the agent speaks: v1, v2, pharo or scoped (default: v2 or v1, as it answers)",
        { completes: editionNames },
      ),
      cwd: option("DIR", "Working directory (default: current directory)", {
        short: "C",
        completes: "directory",
      }),
      "add-dir": option("DIR", "Another directory that the agent may use", {
        completes: "directory",
        multiple: true,
      }),
      session: option(
        "NAME",
        "Continue the session with this name or id (also an id of the agent); a new name starts one",
        { short: "s", completes: "session" },
      ),
      continue: flag("Continue the most recent session in this directory", { short: "c" }),
      format: option("FORMAT", "text, json (one line per event) or quiet (only the last message)", {
        short: "f",
        completes: ["text", "json", "quiet"],
        default: "text",
      }),
      file: option("FILE", "Read the prompt from a file; - is stdin", { completes: "file", multiple: true }),
      image: option("FILE", "Attach an image", { completes: "file", multiple: true }),
      policy: option("FILE", "Permission rules for this run", { completes: "file" }),
      allow: option("RULE", "Allow this without asking; see parley help permissions add", { multiple: true }),
      ask: option("RULE", "Ask about this every time", { multiple: true }),
      deny: option("RULE", "Never allow this", { multiple: true }),
      sandbox: option(
        "PROFILE",
        "Sandbox of commands: workspace (default), read-only, strict or off; agent puts the agent itself into one",
        { completes: sandboxWords, multiple: true },
      ),
      reviewer: option("COMMAND", "Command that answers permission questions before you: allow, deny or ask"),
      mode: option("MODE", "Session mode of the agent"),
      model: option("MODEL", "Model of the agent"),
      set: option("OPTION=VALUE", "Set any other config option of the agent", { multiple: true }),
      timeout: option("TIME", "Stop after 90, 90s, 10m or 1h (default: no limit)"),
      mcp: option("SERVER", "MCP server: NAME=URL, or a JSON file with mcpServers", {
        completes: "file",
        multiple: true,
      }),
      "no-history": flag("Do not store this session; other agents may still store their own copy"),
      verbose: flag("Show the agent's stderr", { short: "v" }),
    },
    json: true,
    examples: [
      'parley run "read README.md"',
      'parley run --agent claude "fix the failing test"',
      'parley run --allow "write src/**" --allow "exec npm test" "fix the tests"',
      'git diff | parley run --agent claude "review this change"',
      'parley run --continue "now write a test for it"',
      'parley run --format quiet "read notes.txt" -- my-agent --acp',
    ],
    load: async () => (await import("./run.ts")).run,
  },
];
