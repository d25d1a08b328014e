// What the user answers for a session is kept in its history, and holds again when the session is continued.

import type { HistorySession } from "@parley/client/history";
import type { SessionGrant, SessionRecording } from "@parley/client/internal";
import type { Decision } from "@parley/client/policy";
import { directoryIdentity } from "@parley/client/policy";
import type { HistoryOpener } from "./history-opener.ts";

export class KeptGrants {
  /** By the agent's id of the session. */
  readonly #bySession = new Map<string, readonly SessionGrant[]>();

  rulesOf(sessionId: string): readonly SessionGrant[] {
    return this.#bySession.get(sessionId) ?? [];
  }

  /** Reads what was answered in earlier processes. */
  async load(history: HistoryOpener | undefined, known: HistorySession, sessionId: string): Promise<void> {
    // a history that fails is reported by its writes, and then everything is asked again
    const grants = (await history?.open())?.grants(known.id).catch(() => []);
    this.#bySession.set(sessionId, (await grants) ?? []);
  }

  /** Keeps what was answered for the session. */
  decided({ remembered = [], workspace: path }: Decision, recording: SessionRecording | undefined): void {
    for (const rule of remembered)
      if (rule.scope === "session") recording?.granted(rule, { path, identity: directoryIdentity(path) });
  }
}
