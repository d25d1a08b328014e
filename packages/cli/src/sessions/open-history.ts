// Opens the history and finds sessions in it.

import { join } from "node:path";
import type { History, HistorySession } from "@parley/client/history";
import { CommandError, usageError } from "../command/command-error.ts";
import { dataFolder } from "../settings/data-folder.ts";
import { escapedLine } from "../terminal/sanitise.ts";
import { sessionLines } from "./session-line.ts";

const shownSessions = 10;

export function historyPath(): string {
  return join(dataFolder(), "history.db");
}

/** Closes the history when the work is done. */
export async function withHistory<Result>(work: (history: History) => Promise<Result>): Promise<Result> {
  const { openHistory } = await import("@parley/client/history");
  const history = openHistory({ path: historyPath() });
  try {
    return await work(history);
  } finally {
    await history.close();
  }
}

/** Throws a usage error for a second session. */
export function oneSession([word, extra]: readonly string[], command: string): string | undefined {
  if (extra === undefined) return word;
  throw usageError(
    `${command}: expected one session, got also ${escapedLine(extra)}`,
    `see parley help ${command}`,
  );
}

export async function sessionNamed(history: History, word: string | undefined): Promise<HistorySession> {
  if (word === undefined) throw usageError("expected a session", "parley sessions list prints the ids");
  const session = await history.find(word);
  if (session !== undefined) return session;
  const all = await history.list({ limit: Number.POSITIVE_INFINITY });
  const matching = all.filter(({ id, name }) => name === word || id.startsWith(word));
  // as `parley run -s` does
  const [here, another] = matching.filter(({ name, cwd }) => name === word && cwd === process.cwd());
  if (here !== undefined && another === undefined) return here;
  if (matching.length > 1) {
    const shown = sessionLines(matching.slice(0, shownSessions), Date.now()).map(
      (line) => `  ${line.trimEnd()}`,
    );
    const more = matching.length > shown.length ? ["  and more"] : [];
    const message = `${escapedLine(word)} matches ${matching.length} sessions:`;
    throw new CommandError("ambiguous", [message, ...shown, ...more].join("\n"), "use the whole id");
  }
  const message = `session ${escapedLine(word)} not found`;
  throw new CommandError("not_found", message, "parley sessions list prints the ids");
}
