// Shared by Parley's own packages only: no promise of compatibility between versions.

export { type Deadline, deadline } from "./jsonrpc/deadline.ts";
export { readEnvelopeHead } from "./jsonrpc/message-id.ts";
export { type Clock, realClock } from "./testing/clock.ts";
