// The table of `parley run`.

import { type Command, flag, option } from "../command/command.ts";
import { otherOptions, placeOptions, rightsOptions } from "../live/live-option-table.ts";

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
      "  7    another client has taken the session\n" +
      "  130  cancelled",
    positionals: "[PROMPT] [-- COMMAND [ARGUMENTS]]",
    options: {
      ...placeOptions,
      format: option("FORMAT", "text, json (one line per event) or quiet (only the last message)", {
        short: "f",
        completes: ["text", "json", "quiet"],
        default: "text",
      }),
      file: option("FILE", "Read the prompt from a file; - is stdin", { completes: "file", multiple: true }),
      image: option("FILE", "Attach an image", { completes: "file", multiple: true }),
      ...rightsOptions,
      print: flag('The same as parley run: parley -p "what to do"', { short: "p" }),
      timeout: option("TIME", "Stop after 90, 90s, 10m or 1h (default: no limit)"),
      ...otherOptions,
    },
    impliedBy: "print",
    json: true,
    examples: [
      'parley run "read README.md"',
      'parley run --agent claude "fix the failing test"',
      'parley -p "read README.md"',
      'parley run --allow "write src/**" --allow "exec npm test" "fix the tests"',
      'git diff | parley run --agent claude "review this change"',
      'parley run --continue "now write a test for it"',
      'parley run --format quiet "read notes.txt" -- my-agent --acp',
    ],
    load: async () => (await import("./run.ts")).run,
  },
];
