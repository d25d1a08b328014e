// The history of this user, for the commands that read it.

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

/** Closed when the work is done. */
export async function withHistory<Result>(work: (history: History) => Promise<Result>): Promise<Result> {
  const { openHistory } = await import("@parley/client/history");
  const history = openHistory({ path: historyPath() });
  try {
    return await work(history);
  } finally {
    await history.close();
  }
}

/** The one session that was named; a second one is told and not forgotten. */
export function oneSession([word, extra]: readonly string[], command: string): string | undefined {
  if (extra === undefined) return word;
  throw usageError(
    `${command} takes one session, got ${escapedLine(extra)} too`,
    `see parley help ${command}`,
  );
}

export async function sessionNamed(history: History, word: string | undefined): Promise<HistorySession> {
  if (word === undefined) throw usageError("which session?", "parley sessions list has their ids");
  const session = await history.find(word);
  if (session !== undefined) return session;
  const all = await history.list({ limit: Number.POSITIVE_INFINITY });
  const meant = all.filter(({ id, name }) => name === word || id.startsWith(word));
  // as `parley run -s` does
  const [here, another] = meant.filter(({ name, cwd }) => name === word && cwd === process.cwd());
  if (here !== undefined && another === undefined) return here;
  if (meant.length > 1) {
    const shown = sessionLines(meant.slice(0, shownSessions), Date.now()).map(
      (line) => `  ${line.trimEnd()}`,
    );
    const more = meant.length > shown.length ? ["  and more"] : [];
    const message = `${escapedLine(word)} may be any of ${meant.length} sessions:`;
    throw new CommandError("ambiguous", [message, ...shown, ...more].join("\n"), "give the whole id");
  }
  throw new CommandError(
    "not_found",
    `there is no session ${escapedLine(word)}`,
    "parley sessions list has their ids",
  );
}
