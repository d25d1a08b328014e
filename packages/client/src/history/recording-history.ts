// A history that records, for the managed agent and the command.

import type { Entry } from "@parley/acp";
import type { History } from "./history.ts";
import type { NewHistorySession } from "./history-record.ts";
import type { SessionRecorder } from "./session-recorder.ts";

/** What `openHistory` returns: it can record, too. */
export interface RecordingHistory extends History {
  /** Opens the file now; without it the first call does. */
  open(): Promise<void>;
  /** Starts to record a session that has just been opened. One with the name of an older one replaces it. */
  begin(session: NewHistorySession): Promise<SessionRecorder>;
  /** Keeps others out of a session until the history is closed. Rejects with RequestError -32066 while another process is in it. */
  claim(id: string): Promise<void>;
  /** Reads the prompts of a session, oldest first. */
  prompts(id: string): AsyncIterable<Extract<Entry, { kind: "prompt" }>>;
  /** Goes on with a session that was recorded before. Rejects with RequestError -32066 while another process does. */
  resume(id: string, agentSessionId?: string): Promise<SessionRecorder>;
}

/** Throws a TypeError for a history that `openHistory` has not made. */
export function recordingHistory(history: History): RecordingHistory {
  if (isRecording(history)) return history;
  throw new TypeError("history: expected what openHistory() of @parley/client/history returns");
}

function isRecording(history: Partial<RecordingHistory> | null): history is RecordingHistory {
  return typeof history?.begin === "function" && typeof history.resume === "function";
}
