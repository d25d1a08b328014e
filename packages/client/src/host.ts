// The entry point of session hosts: they run the agent of a session, and have its queue and its questions.

export { editionText } from "./host/event-reporter.ts";
export { type Host, type HostedSessionOptions, type HostOptions, openHost } from "./host/open-host.ts";
export { isTaken } from "./host/session-end.ts";
export type { TurnChanges, UndoneTurn } from "./host/turn-changes.ts";
export { restoreTurns, type TurnReview, takeTurnsBack, type UndoneFiles } from "./host/turn-review.ts";
