// The tables of `parley sessions`.

import { type Command, flag, option } from "../command/command.ts";

const cwd = option("DIR", "Only sessions in this directory", { short: "C", completes: "directory" });
const limit = option("COUNT", "Maximum number of results", { short: "n", default: "20" });

export const sessionsCommands: readonly Command[] = [
  {
    name: "sessions list",
    summary: "List recent sessions of all agents",
    details:
      "Each line shows the id, age, agent, directory, name (if any) and title. Sessions of Parley's own agent that are not in the " +
      "history, such as those of an editor, are shown from the agent's own log, and marked. With --agent, or a command after --, starts the agent " +
      "and lists the sessions that it has itself, including those of other clients; a star marks those in the history. Continue one " +
      "with `parley run --session ID`.",
    positionals: "[-- COMMAND [ARGUMENTS]]",
    options: {
      agent: option("NAME", "List this agent's own sessions", { short: "a", completes: "agent" }),
      cwd,
      limit,
    },
    json: true,
    examples: ["parley sessions", "parley sessions list --agent claude"],
    isDefault: true,
    load: async () => (await import("./find-sessions.ts")).listSessions,
  },
  {
    name: "sessions show",
    summary: "Print a session",
    details: "SESSION is an id, the beginning of an id, or a name.",
    positionals: "SESSION",
    completes: "session",
    json: true,
    examples: ["parley sessions show 7c41"],
    load: async () => (await import("./print-session.ts")).showSession,
  },
  {
    name: "sessions search",
    summary: "Search the text of sessions",
    details:
      "A message matches if it has all the words. The last word may be the beginning of a word; quoted words must follow each other. " +
      "Exits with 1 if nothing is found.",
    positionals: "WORDS...",
    options: { cwd, limit },
    json: true,
    examples: ['parley sessions search "login form"'],
    load: async () => (await import("./find-sessions.ts")).searchSessions,
  },
  {
    name: "sessions export",
    summary: "Export a session without its secrets, to share it",
    details:
      "Replaces keys, tokens, passwords, your home directory and user name. Secrets from the environment, the config file and stored " +
      "logins are removed wherever they occur. Read the export before you share it.",
    positionals: "SESSION",
    completes: "session",
    options: {
      format: option(
        "FORMAT",
        "markdown, html for a page, or json for all details (default: by the ending of FILE: .html or .json, else markdown)",
        { short: "f", completes: ["markdown", "html", "json"] },
      ),
      out: option("FILE", "File to write to (default: stdout)", { short: "o", completes: "file" }),
      raw: flag("Do not remove anything"),
    },
    json: true,
    examples: ["parley sessions export 7c41 --out session.md"],
    load: async () => (await import("./print-session.ts")).exportStored,
  },
  {
    name: "sessions delete",
    summary: "Delete sessions from the history and from the agent",
    details:
      "Starts each agent that is known by name, and asks it to delete its own copy if it can. An agent that was started with a command " +
      "after -- is not asked.",
    positionals: "SESSION...",
    completes: "session",
    options: {
      "history-only": flag("Delete only from the history; do not start the agent"),
    },
    json: true,
    examples: ["parley sessions delete 7c41"],
    load: async () => (await import("./sessions-delete.ts")).run,
  },
];
