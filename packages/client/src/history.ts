// The entry point of the history of sessions.

export { type ExportedSession, type ExportOptions, exportSession } from "./history/export-session.ts";
export {
  type History,
  type HistoryHit,
  type HistoryOptions,
  type HistoryQuery,
  openHistory,
} from "./history/history.ts";
export {
  type HistoryAgent,
  type HistorySession,
  isSameAgent,
  type NewHistorySession,
} from "./history/history-record.ts";
export {
  type BegunSession,
  type LiveRecorder,
  type LiveRecorderOptions,
  liveRecorder,
} from "./history/live-recorder.ts";
export { separateCalls } from "./history/separate-calls.ts";
export type { SessionRecorder } from "./history/session-recorder.ts";
