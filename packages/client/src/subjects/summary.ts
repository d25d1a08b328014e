// Summarises a subject in one line, from facts and never from an agent's title.

import { joinVariables, joinWords } from "./command-words.ts";
import { shownLine } from "./shown-text.ts";
import type { RuleSubject } from "./subject.ts";

/**
 * Returns the whole command of a subject as one text; undefined if the subject has none.
 *
 * @example
 * import { commandText } from "@parley/client/policy";
 *
 * console.log(commandText({ argv: ["git", "commit", "-m", "two words"] }));
 */
export function commandText({
  argv,
  shellLine,
}: Pick<RuleSubject, "argv" | "shellLine">): string | undefined {
  return shellLine ?? (argv === undefined ? undefined : joinWords(argv));
}

/** What it is about, as one text; empty where nobody says that. */
export function targetText(subject: Omit<RuleSubject, "origin">): string {
  const { path, host, tool, mode = "" } = subject;
  return path ?? commandText(subject) ?? host ?? (tool === undefined ? mode : `${tool.server}/${tool.name}`);
}

/**
 * Summarises a subject in one line, from facts and never from an agent's title.
 *
 * @example
 * import { summaryOf } from "@parley/client/policy";
 *
 * console.log(summaryOf({ origin: "op", operation: "read", path: "/home/me/notes.txt" }));
 */
export function summaryOf(subject: RuleSubject): string {
  const { operation, path, deletes, host, tool, mode, cwd, env = {} } = subject;
  const where = cwd === undefined ? "" : ` (in ${shownPath(cwd)})`;
  switch (operation) {
    case "exec": {
      const command = commandText(subject);
      return command === undefined
        ? "run a command"
        : `run ${shownCommand(`${joinVariables(env)}${command}`)}${where}`;
    }
    case "net":
      return shownLine(`connect to ${host ?? "an address that is not named"}`);
    case "mcp":
      return shownLine(tool === undefined ? "call a tool" : `call ${tool.server}/${tool.name}`, 1_000);
    case "mode":
      return shownLine(mode === undefined ? "switch the mode" : `switch to mode ${mode}`);
    case "other":
      return "do something that is not said";
    default:
      return `${deletes ? "delete" : operation} ${path === undefined ? "a file that is not named" : shownPath(path)}`;
  }
}

/** The end of a path matters, and so do its blanks. */
function shownPath(path: string): string {
  return shownLine(path.replaceAll(/ (?= |$)|^ /g, "\\u{20}"), longestPath);
}

const longestPath = 8_000;
const longestCommand = 2_000;

/** A line end is another command, and what matters may stand at the end. */
function shownCommand(command: string): string {
  const line = (part: string): string =>
    shownLine(part.trim().replaceAll(/\r\n?|\n/g, " ↵ "), 4 * longestCommand);
  if (command.length <= longestCommand) return line(command);
  const half = longestCommand / 2;
  const left = command.length - longestCommand;
  return `${line(command.slice(0, half))} … ${left} more characters … ${line(command.slice(-half))}`;
}

/** As many are told one by one. */
const mostSummaries = 20;

/** `title` is the agent's own, safe to show: for what nothing else is said of. */
export function summaryOfAll(subjects: readonly RuleSubject[], title?: string): string {
  const isUnsaid = subjects.every(({ operation }) => operation === "other");
  if (isUnsaid && title !== undefined && title !== "") return `do what it calls "${title}"`;
  const all = [...new Set(subjects.map(summaryOf))];
  const more = all.length - mostSummaries;
  return [...all.slice(0, mostSummaries), ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}
