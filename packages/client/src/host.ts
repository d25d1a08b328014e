// The entry point of session hosts: they run the agent of a session, and have its queue and its questions.

export { LateUpdates } from "./host/late-updates.ts";
export { ReadingPace } from "./host/reading-pace.ts";
export type { KnownSession, OpenedSession, SessionAgent } from "./host/session-agent.ts";
export { isTaken } from "./host/session-end.ts";
export { SessionHost, type SessionHostOptions } from "./host/session-host.ts";
export type { TurnChanges } from "./host/session-turns.ts";
