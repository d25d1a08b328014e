// The history of sessions.

import type { Command, Option } from "../command/command.ts";

const cwd: Option = {
  type: "string",
  short: "C",
  value: "DIR",
  completes: "directory",
  summary: "only sessions of this directory",
};
const limit: Option = { type: "string", short: "n", value: "COUNT", default: "20", summary: "how many" };

export const sessionCommands: readonly Command[] = [
  {
    name: "sessions list",
    summary: "list the sessions of all agents, the last used first",
    details:
      "Every line has the id, the age, the agent, the directory, the name if it has one, and the title.\n" +
      "With --agent, or a command after --, the agent is started and asked for the sessions that it has itself, also those of\n" +
      "other clients; a star is in front of those that are in the history. parley run --session ID goes on with one.",
    positionals: "[-- COMMAND [ARGUMENTS]]",
    options: {
      agent: {
        type: "string",
        short: "a",
        value: "NAME",
        completes: "agent",
        summary: "what this agent lists itself",
      },
      cwd,
      limit,
    },
    json: true,
    load: () => import("./sessions-list.ts"),
  },
  {
    name: "sessions show",
    summary: "print a session as it went",
    details: "A session is meant by its id, the beginning of it, or its name.",
    positionals: "SESSION",
    completes: "session",
    options: {},
    json: true,
    load: () => import("./sessions-show.ts"),
  },
  {
    name: "sessions search",
    summary: "find sessions by what was said in them",
    details:
      "Messages must have all the words; the last one may be the beginning of a word, and words in quotes must follow\n" +
      "each other. Exits with 1 when nothing is found.",
    positionals: "WORDS...",
    options: { cwd, limit },
    json: true,
    load: () => import("./sessions-search.ts"),
  },
  {
    name: "sessions export",
    summary: "write a session down without its secrets, to share it",
    details:
      "Keys, tokens, passwords, your home and its name are replaced, by where they stand and by their value: secrets of the\n" +
      "environment, of the config and of stored logins are looked for everywhere. Read it before you share it.",
    positionals: "SESSION",
    completes: "session",
    options: {
      format: {
        type: "string",
        short: "f",
        value: "FORMAT",
        completes: ["markdown", "json"],
        default: "markdown",
        summary: "markdown, or json with everything",
      },
      out: {
        type: "string",
        short: "o",
        value: "FILE",
        completes: "file",
        summary: "where to write it (default: stdout)",
      },
      raw: { type: "boolean", summary: "leave in what the history has" },
    },
    json: true,
    load: () => import("./sessions-export.ts"),
  },
  {
    name: "sessions delete",
    summary: "delete sessions from the history, and at the agent",
    details:
      "An agent that is known by name and can delete sessions deletes its own copy too: it is started for that. One that was\n" +
      "started by a command keeps what it keeps.",
    positionals: "SESSION...",
    completes: "session",
    options: {
      "history-only": { type: "boolean", summary: "leave what the agent keeps, and do not start it" },
    },
    json: true,
    load: () => import("./sessions-delete.ts"),
  },
];
