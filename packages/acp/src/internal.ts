// Shared by Parley's own packages only: no promise of compatibility between versions.

export { ByteTail } from "./base/byte-tail.ts";
export { type Deadline, deadline } from "./base/deadline.ts";
export { isObject } from "./base/is-object.ts";
export { nearestWord } from "./base/nearest-word.ts";
export { optional } from "./base/optional.ts";
export { withTimeout } from "./base/timeout.ts";
export { readEnvelopeHead } from "./jsonrpc/message-id.ts";
export { PromptQueue } from "./peer/base/prompt-queue.ts";
export { type Clock, realClock } from "./testing/clock.ts";
