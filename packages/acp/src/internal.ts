// Exports for Parley's own packages only, without compatibility between versions.

export { ByteTail } from "./base/byte-tail.ts";
export { type Deadline, deadline } from "./base/deadline.ts";
export { hostWithPort } from "./base/host-with-port.ts";
export { exceedsJsonBytes } from "./base/json-size.ts";
export { nearestWord } from "./base/nearest-word.ts";
export { normalPath } from "./base/normal-path.ts";
export { bindMethods } from "./base/objects.ts";
export {
  type CustomShape,
  type ObjectShape,
  problemsOf,
  type Shape,
  type ShapePath,
  type ShapeProblem,
  wantedBy,
} from "./base/shape.ts";
export { isDialectError } from "./edition/dialect-tells.ts";
export { editionOf, nameOf, type ProtocolVersion, versionOf } from "./edition/negotiate.ts";
export { Call } from "./forward/call.ts";
export { Peer } from "./forward/peer.ts";
export type { Port, Taker } from "./forward/port.ts";
export { argumentText } from "./jsonrpc/errors.ts";
export { exactIdIn, idKey, idToJson, type RequestId, readEnvelopeHead } from "./jsonrpc/message-id.ts";
export { operationSubject, optionValue } from "./model/custom-types.ts";
export { textDiff } from "./model/git-patch.ts";
export { bytesFromText, isByteEncoding, shownText, textFromBytes } from "./model/text-encodings.ts";
export { unsupportedContent } from "./peer/base/bound-wire.ts";
export { PromptQueue } from "./peer/base/prompt-queue.ts";
export { isOfTurn, takenState } from "./peer/base/taken-session.ts";
export { clientSessionMethods } from "./peer/client/session/client-session.ts";
export { PromptHandle } from "./peer/client/session/prompt-handle.ts";
export { SessionEvents } from "./peer/client/session/session-events.ts";
export { askedAbout } from "./peer/client/session/tool-call-tracker.ts";
export {
  charsOf,
  joinedText,
  type UnreadLimits,
  unreadLimits,
} from "./peer/client/session/unread-updates.ts";
export { unstableFeatures } from "./validation/unstable-features.ts";
export { methodTable } from "./wire/methods.gen.ts";
