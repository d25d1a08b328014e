// Records all sessions of a managed agent into the history.

import type { Entry } from "@parley/acp";
import type { HistoryAgent, HistorySession } from "./history-record.ts";
import { type BegunSession, type ManagedRecorder, managedRecorder } from "./managed-recorder.ts";
import type { RecordingHistory } from "./recording-history.ts";

interface NewlyBegun extends BegunSession {
  readonly how: "new" | "loaded" | "resumed";
  /** The id of the session that it replaces. */
  readonly replaces?: string;
}

/** `agent` is called when a session begins. `failed` is called for each session that cannot be recorded. */
export function recordSessions(
  history: RecordingHistory,
  agent: () => HistoryAgent,
  failed: (error: unknown) => void,
) {
  const recorders = new Map<string, ManagedRecorder>();
  const closing = new Set<Promise<void>>();
  const close = (recorder: ManagedRecorder): void => {
    const closed = recorder
      .close()
      .catch(failed)
      .finally(() => closing.delete(closed));
    closing.add(closed);
  };
  /** Known by the id that the agent has for it. */
  const find = async ({
    sessionId,
  }: Pick<BegunSession, "sessionId">): Promise<HistorySession | undefined> => {
    const all = await history.list({ agent: agent(), limit: Number.POSITIVE_INFINITY });
    return all.find(({ agentSessionId }) => agentSessionId === sessionId);
  };
  const original = async (sessionId: string): Promise<string | undefined> => {
    const recorder = recorders.get(sessionId);
    await recorder?.stored();
    return recorder?.id ?? (await find({ sessionId }))?.id;
  };
  return {
    begin(session: NewlyBegun): void {
      const { sessionId, how, replaces = sessionId } = session;
      const recorder =
        recorders.get(replaces) ??
        managedRecorder(history, {
          agent: agent(),
          original,
          find: how === "new" ? undefined : find,
          failed,
        });
      recorders.delete(replaces);
      recorders.set(sessionId, recorder);
      recorder.begin(session);
    },
    entry(sessionId: string, entry: Entry): void {
      recorders.get(sessionId)?.entry(sessionId, entry);
    },
    ended(sessionId: string): void {
      const recorder = recorders.get(sessionId);
      recorders.delete(sessionId);
      if (recorder !== undefined) close(recorder);
    },
    async finish(): Promise<void> {
      for (const recorder of recorders.values()) close(recorder);
      recorders.clear();
      await Promise.all(closing);
    },
  };
}
