// What would happen, in one line of our own words: built from what we know, never from an agent's title.

import type { Subject } from "../subject.ts";
import { joinWords } from "./command-words.ts";
import { shownLine } from "./shown-text.ts";

export function summaryOf(subject: Subject): string {
  const { operation, path, argv, shellLine, host, tool, mode, cwd } = subject;
  const where = cwd === undefined ? "" : ` (in ${cwd})`;
  switch (operation) {
    case "exec": {
      const command = shellLine ?? (argv === undefined ? undefined : joinWords(argv));
      return command === undefined ? "run a command" : shownLine(`run ${command}${where}`, 2_000);
    }
    case "network":
      return shownLine(`connect to ${host ?? "an address that is not named"}`);
    case "mcp":
      return shownLine(tool === undefined ? "call a tool" : `call ${tool.server}/${tool.name}`);
    case "mode":
      return shownLine(mode === undefined ? "switch the mode" : `switch to mode ${mode}`);
    case "other":
      return "do something that is not said";
    default:
      return shownLine(`${operation} ${path ?? "a file that is not named"}`, 2_000);
  }
}

/** `title` is the agent's own, safe to show: for what nothing else is said of. */
export function summaryOfAll(subjects: readonly Subject[], title?: string): string {
  const isUnsaid = subjects.every(({ operation }) => operation === "other");
  if (isUnsaid && title !== undefined && title !== "") return `do what it calls "${title}"`;
  return [...new Set(subjects.map(summaryOf))].join("; ");
}
