// Exports for Parley's own packages only, without compatibility between versions.

export { ByteTail } from "./base/byte-tail.ts";
export { type Deadline, deadline } from "./base/deadline.ts";
export { isObject } from "./base/is-object.ts";
export { optional } from "./base/optional.ts";
export { withTimeout } from "./base/timeout.ts";
export { readEnvelopeHead } from "./jsonrpc/message-id.ts";
export { PromptQueue } from "./peer/base/prompt-queue.ts";
export { type Clock, realClock } from "./testing/clock.ts";
