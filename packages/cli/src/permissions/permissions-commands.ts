// The tables of `parley permissions`.

import { type Command, flag, option } from "../command/command.ts";
import { sandboxChoices } from "../settings/sandbox-choice.ts";

const cwd = option("DIR", "Workspace (default: current directory)", { short: "C", completes: "directory" });

const rules =
  "RULE is an operation and a pattern. read, write: a path as in .gitignore. A name matches at any depth, a path with a slash is " +
  "relative to the workspace, /x and ~/x are absolute. Deleting counts as writing. exec: exactly these words, in the workspace " +
  "directory. exec (packages/*) npm test is for other directories. exec git log ** allows any further words, so it trusts the program. " +
  "exec ** allows every line. net: a host. mcp: SERVER/TOOL. *: everything. deny and ask match more than the exact words: " +
  "deny exec rm also matches sudo rm -rf x. See docs/policy.md.";

export const permissionsCommands: readonly Command[] = [
  {
    name: "permissions list",
    summary: "List the rules in force and where they come from",
    details:
      "Rules come from the machine (/etc/parley/policy), the user (policy in the config directory), the workspace (.parley/policy, if you " +
      "trust it) and remembered answers. Remembered answers are shown with id and expiry. Rules that apply only in other directories " +
      "come last.",
    options: {
      cwd,
      session: option("SESSION", "List what you answered for this session", { completes: "session" }),
    },
    json: true,
    examples: ["parley permissions", "parley permissions list --session k3x9"],
    isDefault: true,
    load: async () => (await import("./session-grants.ts")).list,
  },
  {
    name: "permissions add",
    summary: "Add a rule for this directory, or for every directory",
    details: `${rules}\nPut permanent rules into a policy file; \`parley permissions list\` shows its path.`,
    positionals: "allow|ask|deny RULE",
    completes: ["allow", "ask", "deny"],
    options: {
      cwd,
      scope: option("SCOPE", "workspace, or always for every directory (only reads and exact commands)", {
        completes: ["workspace", "always"],
        default: "workspace",
      }),
      for: option(
        "TIME",
        "How long the rule lasts, such as 12h or 30d (default: 30d for workspace, 90d for always)",
      ),
    },
    json: true,
    examples: [
      'parley permissions add allow "write src/**"',
      'parley permissions add allow "exec npm test" --for 12h',
    ],
    load: async () => (await import("./permission-rules.ts")).addRule,
  },
  {
    name: "permissions revoke",
    summary: "Revoke remembered rules",
    details: "Takes effect at once, also for running agents.",
    positionals: "ID...",
    options: {
      all: flag("Revoke all remembered rules of all directories; with --session, all of that session"),
      session: option("SESSION", "Revoke what you answered for this session, which must not be open", {
        completes: "session",
      }),
    },
    json: true,
    examples: ["parley permissions revoke 3f2a", "parley permissions revoke --all"],
    load: async () => (await import("./session-grants.ts")).revoke,
  },
  {
    name: "permissions check",
    summary: "Test what the rules decide about an operation",
    details:
      "Examples: `parley permissions check write src/a.ts`, `check exec git log -1`, `check exec 'a && b'`. Words after a command " +
      "belong to it. Prints the rule that decided, and whether the operating system enforces it in a sandbox or only Parley does. A second " +
      "line is printed if the answer differs for an agent that uses its own tools. Exits with 0 for allow, 3 for deny and 4 for ask.",
    positionals: "OPERATION [PATH|COMMAND...|HOST|SERVER/TOOL]",
    commandAfter: /^exec$/,
    options: {
      cwd,
      "add-dir": option("DIR", "Assume that the agent may also use this directory", {
        completes: "directory",
        multiple: true,
      }),
      policy: option("FILE", "Also use the rules of this file", { completes: "file" }),
      allow: option("RULE", "Assume this allow rule for a run", { multiple: true }),
      ask: option("RULE", "Assume this ask rule for a run", { multiple: true }),
      deny: option("RULE", "Assume this deny rule for a run", { multiple: true }),
      sandbox: option("PROFILE", "Assume this sandbox for commands: workspace, read-only, strict or off", {
        completes: sandboxChoices,
      }),
    },
    json: true,
    examples: ["parley permissions check write src/main.ts", "parley permissions check exec npm test"],
    load: async () => (await import("./permissions-check.ts")).run,
  },
  {
    name: "permissions log",
    summary: "Show what agents were allowed, refused and did",
    options: {
      limit: option("COUNT", "Number of most recent entries", { short: "n", default: "50" }),
      refused: flag("Only refusals"),
    },
    json: true,
    examples: ["parley permissions log --refused"],
    load: async () => (await import("./permissions-log.ts")).showLog,
  },
  {
    name: "permissions verify",
    summary: "Check the log for damage and missing lines",
    details:
      "Each line of a log has a number and a checksum. Each log names the previous log. Exits with 1 if a line was damaged, added, removed " +
      "or cut off, or if a log is missing. This reveals accidents, not attacks: somebody with your rights can rewrite a log. A log " +
      "without an end belongs to a running or killed process. This is reported and is not an error.",
    positionals: "[FILE...]",
    completes: "file",
    json: true,
    examples: ["parley permissions verify"],
    load: async () => (await import("./permissions-log.ts")).verifyLogs,
  },
];
