// JSON-RPC 2.0 without ACP: one connection, in every JavaScript runtime.

export { abortable, sleep, withTimeout } from "./base/abortable.ts";
export { checkOptions } from "./base/known-options.ts";
export { isObject, optional } from "./base/objects.ts";
export { askedBy, type OpenQuestion, OpenQuestions } from "./base/open-questions.ts";
export { Connection } from "./jsonrpc/connection.ts";
export type {
  BatchCall,
  ConnectionCounters,
  ConnectionLimits,
  ConnectionOptions,
  Handlers,
  LogLevel,
} from "./jsonrpc/connection-options.ts";
export { errorKindOf } from "./jsonrpc/error-kinds.ts";
export type { ErrorDetails, RequestErrorOptions } from "./jsonrpc/errors.ts";
export type { IncomingRequest } from "./jsonrpc/incoming-request.ts";
export type { RequestId } from "./jsonrpc/message-id.ts";
export type { AnswerTaker, PassedAnswer, PassedCall } from "./jsonrpc/passed-call.ts";
export type { RequestOptions } from "./jsonrpc/pending-requests.ts";
