// What agents may do.

import type { Command, Option } from "../command/command.ts";

const cwd: Option = {
  type: "string",
  short: "C",
  value: "DIR",
  completes: "directory",
  summary: "the workspace (default: here)",
};

const rules =
  "A rule is an operation and what it is done to: read, write or delete with a path (stars are allowed), exec with a\n" +
  "command (exactly these words; a star at the end for harmless further ones, two for any), network with a host, mcp with SERVER/TOOL,\n" +
  "mode with its name. In front of it claim: is about what agents say they do themselves, op: about what parley does\n" +
  "for them, any: about both; deny and ask are about both anyway. docs/policy.md has all of it.";

export const permissionCommands: readonly Command[] = [
  {
    name: "permissions list",
    summary: "list the rules that are in force, and whose they are",
    details:
      "The rules of the machine (/etc/parley/policy), yours (policy in the config directory), those of the workspace\n" +
      "(.parley/policy) and the answers that were remembered, with their ids and how long they last.",
    options: { cwd },
    json: true,
    load: () => import("./permissions-list.ts"),
  },
  {
    name: "permissions add",
    summary: "remember a rule, as an answer would be",
    details: `${rules}\nRules that shall last are better kept in the policy file: parley permissions list says where it is.`,
    positionals: "allow|ask|deny RULE",
    completes: ["allow", "ask", "deny"],
    options: {
      cwd,
      scope: {
        type: "string",
        value: "SCOPE",
        completes: ["workspace", "always"],
        default: "workspace",
        summary: "workspace, or always: everywhere, for reading and exact commands only",
      },
      for: {
        type: "string",
        value: "TIME",
        summary: "how long: 12h, 30d (default: 30d in a workspace, 90d always)",
      },
    },
    json: true,
    load: () => import("./permissions-add.ts"),
  },
  {
    name: "permissions revoke",
    summary: "take back what was remembered",
    details: "It counts at once, also for what runs.",
    positionals: "ID...",
    options: { all: { type: "boolean", summary: "everything that was remembered, everywhere" } },
    json: true,
    load: () => import("./permissions-revoke.ts"),
  },
  {
    name: "permissions check",
    summary: "say what would happen, and which rule says so",
    details:
      "parley permissions check write src/a.ts, check exec git log -1, check claim:exec 'a && b'. What stands behind the\n" +
      "command belongs to it. Exits with 0 for allow, 3 for deny, and 4 where somebody would be asked.",
    positionals: "OPERATION [PATH|COMMAND...|HOST|SERVER/TOOL|MODE]",
    commandAfter: /^(?:claim:|op:)?exec$/,
    options: {
      cwd,
      "add-dir": {
        type: "string",
        value: "DIR",
        completes: "directory",
        multiple: true,
        summary: "as if the agent might use this directory too",
      },
      policy: { type: "string", value: "FILE", completes: "file", summary: "also by the rules of this file" },
      allow: { type: "string", value: "RULE", multiple: true, summary: "as if this was allowed for a run" },
      deny: { type: "string", value: "RULE", multiple: true, summary: "as if this was denied for a run" },
    },
    json: true,
    load: () => import("./permissions-check.ts"),
  },
  {
    name: "permissions log",
    summary: "show what agents were allowed and refused, and what was done",
    options: {
      limit: {
        type: "string",
        short: "n",
        value: "COUNT",
        default: "50",
        summary: "how many of the last ones",
      },
      refused: { type: "boolean", summary: "only what was refused" },
    },
    json: true,
    load: () => import("./permissions-log.ts"),
  },
  {
    name: "permissions verify",
    summary: "check that nobody has changed the log",
    details:
      "Every line of a log is bound to the one before it, and signed with a key of yours; every log names the one before\n" +
      "it. Exits with 1 when a line was changed, put in, taken out or cut off, or a log is missing. A log without an end is\n" +
      "that of a process that runs or was killed: that is told, and nothing is wrong with it.",
    positionals: "[FILE...]",
    completes: "file",
    options: {},
    json: true,
    load: () => import("./permissions-verify.ts"),
  },
];
