// Exports for Parley's own packages only, without compatibility between versions.

export { ByteTail } from "./base/byte-tail.ts";
export { type Deadline, deadline, sleep, withTimeout } from "./base/deadline.ts";
export { nearestWord } from "./base/nearest-word.ts";
export { isObject, optional } from "./base/objects.ts";
export { type ObjectShape, problemsOf, type Shape, type ShapePath } from "./base/shape.ts";
export { editionOf, type ProtocolVersion, versionOf } from "./edition/negotiate.ts";
export { argumentText } from "./jsonrpc/errors.ts";
export { readEnvelopeHead } from "./jsonrpc/message-id.ts";
export { unsupportedContent } from "./peer/base/prompt-content.ts";
export { PromptQueue } from "./peer/base/prompt-queue.ts";
export type { InternalPromptOptions } from "./peer/client/connected-session.ts";
export { PromptHandle } from "./peer/client/prompt-handle.ts";
export { SessionEvents } from "./peer/client/session-events.ts";
export { charsOf, joinedText, type UnreadLimits, unreadLimits } from "./peer/client/unread-updates.ts";
export { type Clock, realClock } from "./testing/gates.ts";
export { wrapSink, wrapTransport } from "./transport/wrap-transport.ts";
