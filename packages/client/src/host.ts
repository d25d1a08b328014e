// The entry point of session hosts: they run the agent of a session, and have its queue and its questions.

export {
  AgentHost,
  type AgentHostOptions,
  type AgentWays,
  type HostAsker,
  type HostedAgent,
} from "./host/agent-host.ts";
export { editionText, eventReporter, type Reporter, UnreadOutput } from "./host/event-reporter.ts";
export { LateUpdates } from "./host/late-updates.ts";
export { type Host, type HostedSessionOptions, type HostOptions, openHost } from "./host/open-host.ts";
export { ReadingPace } from "./host/reading-pace.ts";
export { openBranch } from "./host/rewind.ts";
export type {
  BranchPoint,
  KnownSession,
  OpenedSession,
  SessionAgent,
  SessionBranches,
  SessionHostOptions,
  StoredSession,
} from "./host/session-agent.ts";
export { isTaken } from "./host/session-end.ts";
export { SessionHost } from "./host/session-host.ts";
export type { TurnChanges, UndoneTurn } from "./host/turn-changes.ts";
export { restoreTurns, type TurnReview, takeTurnsBack, type UndoneFiles } from "./host/turn-review.ts";
