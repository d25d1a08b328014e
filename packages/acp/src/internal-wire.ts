// For Parley's own dialects only, without compatibility between versions: what checks messages.

export { normalPath } from "./base/normal-path.ts";
export { isObject, optional } from "./base/objects.ts";
export { dialectMcpMethod } from "./edition/vendor-extensions.ts";
export { errorCodes, errorKindOf, isErrorKind } from "./jsonrpc/error-kinds.ts";
export { RequestError } from "./jsonrpc/errors.ts";
export { gitPatch } from "./model/git-patch.ts";
export {
  Failure,
  isAbsolutePath,
  isCleanText,
  isDateTime,
  isNotObject,
  maxArrayItems,
  modes,
  pointer,
  strayKey,
  tooMany,
  within,
  wrongNumber,
  wrongType,
  wrongValue,
} from "./validation/failure.ts";
export {
  type BoundMethod,
  bindMethod,
  decodeParams,
  decodeResult,
  describeFailure,
  encodeParams,
  encodeResult,
} from "./wire/decode.ts";
export type { MethodRow } from "./wire/method-row.ts";
export { methods as v1Methods } from "./wire/v1/methods.gen.ts";
