// The tables of `parley permissions`.

import { type Command, flag, option } from "../command/command.ts";

const cwd = option("DIR", "Workspace (default: current directory)", { short: "C", completes: "directory" });

const rules =
  "RULE is an operation and what it is about. read and write: a path as in .gitignore (a name matches at any depth; with a slash it is " +
  "below the workspace; /x and ~/x are absolute); deleting is writing. exec: exactly these words, in the workspace itself; " +
  "exec (packages/*) npm test names other directories; exec git log ** allows any further words and so trusts the program; exec ** is " +
  "every line. net: a host. mcp: SERVER/TOOL. *: everything. deny and ask are generous: deny exec rm also finds sudo rm -rf x. " +
  "See docs/policy.md.";

export const permissionsCommands: readonly Command[] = [
  {
    name: "permissions list",
    summary: "List the rules in force and where they come from",
    details:
      "Rules come from the machine (/etc/parley/policy), the user (policy in the config directory), the workspace (.parley/policy, if you trust it) and " +
      "remembered answers, which are shown with their ids and expiry.",
    options: { cwd },
    json: true,
    examples: ["parley permissions"],
    isDefault: true,
    load: async () => (await import("./permission-rules.ts")).listRules,
  },
  {
    name: "permissions add",
    summary: "Remember a rule, like an answer to a permission question",
    details: `${rules}\nPut permanent rules into a policy file; \`parley permissions list\` shows its path.`,
    positionals: "allow|ask|deny RULE",
    completes: ["allow", "ask", "deny"],
    options: {
      cwd,
      scope: option("SCOPE", "workspace, or always for every directory (only reads and exact commands)", {
        completes: ["workspace", "always"],
        default: "workspace",
      }),
      for: option("TIME", "How long it lasts: 12h, 30d (default: 30d for workspace, 90d for always)"),
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
    options: { all: flag("Revoke all remembered rules of all directories") },
    json: true,
    examples: ["parley permissions revoke 3f2a", "parley permissions revoke --all"],
    load: async () => (await import("./permission-rules.ts")).revokeRules,
  },
  {
    name: "permissions check",
    summary: "Test what the rules decide about an operation",
    details:
      "Examples: `parley permissions check write src/a.ts`, `check exec git log -1`, `check exec 'a && b'`. Words after a command " +
      "belong to it. Says which rule decided, and whether the system holds it for commands in a sandbox or only Parley does. A second " +
      "line tells where the answer differs for an agent that uses its own tools. Exits with 0 for allow, 3 for deny and 4 for ask.",
    positionals: "OPERATION [PATH|COMMAND...|HOST|SERVER/TOOL]",
    commandAfter: /^exec$/,
    options: {
      cwd,
      "add-dir": option("DIR", "Assume that the agent may also use this directory", {
        completes: "directory",
        multiple: true,
      }),
      policy: option("FILE", "Also use the rules of this file", { completes: "file" }),
      allow: option("RULE", "Assume this rule for a run", { multiple: true }),
      ask: option("RULE", "Assume that this is asked", { multiple: true }),
      deny: option("RULE", "Assume this denial for a run", { multiple: true }),
      sandbox: option("PROFILE", "Assume this sandbox of commands: workspace, read-only, strict or off", {
        completes: ["workspace", "read-only", "strict", "off"],
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
    summary: "Verify that the log was not changed",
    details:
      "Each line of a log is chained to the previous one and signed with your key; each log names the previous log. Exits with 1 if a line " +
      "was changed, added, removed or cut off, or if a log is missing. A log without an end belongs to a running or killed process; " +
      "this is reported and is not an error.",
    positionals: "[FILE...]",
    completes: "file",
    json: true,
    examples: ["parley permissions verify"],
    load: async () => (await import("./permissions-log.ts")).verifyLogs,
  },
];
