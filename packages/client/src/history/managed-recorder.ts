// Records a managed session into the history, across restarts of its agent.

import type { Entry } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import { type HistoryAgent, type HistorySession, sessionId } from "./history-record.ts";
import type { RecordingHistory } from "./recording-history.ts";
import type { SessionRecorder } from "./session-recorder.ts";

export interface ManagedRecorderOptions {
  readonly agent: HistoryAgent;
  /** The name that the user gave the session. */
  readonly name?: string | undefined;
  /** The title of the agent. Default: the first prompt. */
  readonly title?: string | undefined;
  /** The session to continue. */
  readonly known?: HistorySession | undefined;
  /** Finds the session of which this is a copy, by the agent's id of it, when everything of it is stored. */
  readonly original?: ((agentSessionId: string) => Promise<string | undefined>) | undefined;
  /** Looks for the session to continue when it begins. */
  readonly find?: ((session: BegunSession) => Promise<HistorySession | undefined>) | undefined;
  /** Called once, when nothing can be recorded; the session goes on. */
  readonly failed: (error: unknown) => void;
}

/** The facts of a managed session when it begins. */
export interface BegunSession {
  readonly sessionId: string;
  readonly cwd: string;
  /** The agent's id of the session of which this is a copy. */
  readonly forks?: string;
  /** What the agent has replayed of it. */
  readonly replayed?: readonly Entry[];
}

export interface ManagedRecorder {
  begin(session: BegunSession): void;
  entry(sessionId: string, entry: Entry): void;
  /** The id in the history, once the session has begun. It is known before anything is stored. */
  readonly id: string | undefined;
  /** Resolves when it is known whether the session can be recorded. */
  ready(): Promise<void>;
  /** Resolves when everything so far is stored. */
  stored(): Promise<void>;
  /** Resolves when everything is stored. */
  close(): Promise<void>;
}

export function managedRecorder(history: RecordingHistory, options: ManagedRecorderOptions): ManagedRecorder {
  const { agent, name, title, known, find, original, failed } = options;
  let id: string | undefined;
  /** Entries that came before the store was ready. */
  let early: Entry[] | undefined = [];
  let recorder: SessionRecorder | undefined;
  let opening: Promise<SessionRecorder | undefined> | undefined;

  const opened = async (session: BegunSession): Promise<SessionRecorder | undefined> => {
    try {
      const old = known ?? (await find?.(session));
      if (old !== undefined) id = old.id;
      const forks = session.forks === undefined ? undefined : await original?.(session.forks);
      recorder =
        old === undefined
          ? await history.begin({
              agent,
              agentSessionId: session.sessionId,
              cwd: session.cwd,
              ...optional({ id, name: name || undefined, title: title || undefined, forks }),
            })
          : await history.resume(old.id, session.sessionId);
      // a history that knows the session has it already
      for (const entry of old === undefined ? (session.replayed ?? []) : []) recorder.entry(entry);
      for (const entry of early ?? []) recorder.entry(entry);
    } catch (error) {
      failed(error);
    }
    // a session may go on for days
    early = undefined;
    return recorder;
  };

  return {
    get id() {
      return id;
    },
    begin(session) {
      id ??= known?.id ?? sessionId(agent, session.cwd, name);
      if (opening === undefined) opening = opened(session);
      else {
        // it has another id at its agent now
        opening = opening.then(async (begun) => {
          await begun?.renamed(session.sessionId);
          return begun;
        });
      }
    },
    entry(_sessionId, entry) {
      if (recorder === undefined) early?.push(entry);
      else recorder.entry(entry);
    },
    async ready() {
      await opening;
    },
    async stored() {
      await (await opening)?.stored();
    },
    async close() {
      await (await opening)?.close();
    },
  };
}
