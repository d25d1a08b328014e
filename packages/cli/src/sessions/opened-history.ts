// The history of this user, for the commands that read it.

import { join } from "node:path";
import type { History, HistorySession } from "@parley/client/history";
import { CommandError, usageError } from "../command-error.ts";
import { dataFolder } from "../data-folder.ts";
import { printable } from "../wire-printer.ts";

export function historyPath(): string {
  return join(dataFolder(), "history.db");
}

/** Closed when the work is done. */
export async function withHistory<Result>(work: (history: History) => Promise<Result>): Promise<Result> {
  const { openHistory } = await import("@parley/client/history");
  const history = openHistory({ path: historyPath() });
  try {
    return await work(history);
  } catch (error) {
    const { StoreError } = await import("@parley/acp/node");
    if (!(error instanceof StoreError)) throw error;
    throw new CommandError("history", error.message, `the history is ${historyPath()}; see docs/run.md`);
  } finally {
    await history.close();
  }
}

export async function sessionNamed(history: History, word: string | undefined): Promise<HistorySession> {
  if (word === undefined) throw usageError("which session?", "parley sessions list has their ids");
  const session = await history.find(word);
  if (session === undefined) {
    throw new CommandError(
      "not_found",
      `there is no session ${printable(word)}, or more than one`,
      "parley sessions list has their ids",
    );
  }
  return session;
}
