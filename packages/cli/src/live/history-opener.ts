// Opens the history while the agent starts, and reports a session that another process uses. Other failures never stop the work.

import type { HistorySession } from "@parley/client/history";
import type { HistoryFile, SessionRecording } from "@parley/client/internal";
import { historyPath } from "../settings/data-folder.ts";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { busySession, isBusy, isFenced } from "./live-error.ts";

export interface HistoryOpener {
  /** Loads the module of the history and begins to open the file. */
  open(): Promise<HistoryFile>;
  /** Prints why a session cannot be recorded. */
  failed(error: unknown): void;
  close(): Promise<void>;
}

export function historyOpener(notice: (text: string) => void, secrets: SecretsLoader): HistoryOpener {
  let opening: Promise<HistoryFile> | undefined;
  async function load(): Promise<HistoryFile> {
    const loading = import("./recording.ts");
    const [{ historyFile, openHistory }, known] = await Promise.all([loading, secrets()]);
    const history = historyFile(openHistory({ path: historyPath(), secrets: known }));
    // writes report the failure
    history.open().catch(() => undefined);
    return history;
  }
  return {
    open() {
      opening ??= load();
      return opening;
    },
    failed(error) {
      // `checkNew` reports that another process uses the session, and the agent that it has been taken over
      if (isBusy(error) || isFenced(error)) return;
      const reason = error instanceof Error ? error.message : String(error);
      notice(`cannot store this session in the history: ${safeLine(reason)}`);
    },
    async close() {
      await (await opening)?.close();
    },
  };
}

/** Claims a recorded session. Throws a LiveError with its id if another process uses it, unless it is to be taken over. */
export async function claimKnown(
  history: HistoryOpener | undefined,
  { id, name }: HistorySession,
  takeOver = false,
): Promise<void> {
  try {
    await (await history?.open())?.claim(id, { takeOver });
  } catch (error) {
    if (isBusy(error)) throw Object.assign(busySession(name ?? id, error), { session: id });
    // writes report the failure
  }
}

/** Releases a recorded session that was claimed, but not opened: a chat may stay open for days. */
export async function releaseKnown(
  history: HistoryOpener | undefined,
  { id }: HistorySession,
): Promise<void> {
  // it is released when the history is closed, at the latest
  await (await history?.open())?.release(id).catch(() => undefined);
}

/** Throws a LiveError if another process has just started a session of this name. */
export async function checkNew(recording: SessionRecording | undefined, name: string): Promise<void> {
  await recording?.ready();
  if (isBusy(recording?.problem)) throw busySession(name, recording?.problem);
}
