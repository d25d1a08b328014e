// The entry point of the history of sessions.

export { costText } from "./history/cost-text.ts";
export { type ExportedSession, type ExportOptions, exportSession } from "./history/export-session.ts";
export type { History, HistoryHit, HistoryQuery } from "./history/history.ts";
export { type HistoryOptions, openHistory } from "./history/history-file.ts";
export type { HistoryAgent, HistorySession } from "./history/history-record.ts";
export { separateCalls } from "./history/separate-calls.ts";
