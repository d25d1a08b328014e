// Exports for Parley's own packages only, without compatibility between versions: sessions, the gate and the history.

export { beginsWork } from "./history/begins-work.ts";
export { type HistoryFile, historyFile } from "./history/history-file.ts";
export { isSameAgent } from "./history/history-record.ts";
export type { SessionGrant } from "./history/session-grants.ts";
export {
  type BegunSession,
  type RecordingOptions,
  recordSessions,
  SessionRecording,
} from "./history/session-recording.ts";
export {
  AgentHost,
  type AgentHostOptions,
  type AgentWays,
  type HostAsker,
  type HostedAgent,
} from "./host/agent-host.ts";
export { eventReporter, UnreadOutput } from "./host/event-reporter.ts";
export { openBranch } from "./host/rewind.ts";
export type {
  BranchPoint,
  KnownSession,
  OpenedSession,
  SessionAgent,
  SessionBranches,
  SessionHostOptions,
} from "./host/session-agent.ts";
export { SessionHost } from "./host/session-host.ts";
export { type AllSessions, type AllSessionsQuery, allSessions } from "./managed/all-sessions.ts";
export { type ManagedConnection, manageAgent } from "./managed/manage-agent.ts";
export type {
  ManageAgentOptions,
  ManagedSessionOptions,
  RecordedSession,
} from "./managed/managed-options.ts";
export type { ManagedPrompt } from "./managed/managed-prompt.ts";
export type { ManagedSession } from "./managed/managed-session.ts";
