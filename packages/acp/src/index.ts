// The library without Node: agents and clients, JSON-RPC, transports, errors. Runs wherever JavaScript runs.

export type {
  Activation,
  AgentFeatures,
  ClientFeatures,
} from "./edition/agent-ops.ts";
export type { SessionListing } from "./edition/client-edition.ts";
export type { ProtocolVersion } from "./edition/negotiate.ts";
export { Connection } from "./jsonrpc/connection.ts";
export type {
  BatchCall,
  ConnectionCounters,
  ConnectionOptions,
  Handlers,
} from "./jsonrpc/connection-options.ts";
export {
  ConnectionError,
  type ConnectionErrorKind,
  connectionErrorKinds,
  RequestError,
  rpcCodes,
} from "./jsonrpc/errors.ts";
export type { IncomingRequest } from "./jsonrpc/incoming-request.ts";
export { type ConnectionLimits, defaultConnectionLimits } from "./jsonrpc/limits.ts";
export type { Log, LogLevel } from "./jsonrpc/log.ts";
export type { RequestId } from "./jsonrpc/message-id.ts";
export type { RequestOptions } from "./jsonrpc/pending-requests.ts";
export type { EndReason, Fault, Sink, Transport } from "./jsonrpc/transport.ts";
export {
  type ByteChannel,
  type ByteReceiver,
  type TextPlatform,
  webPlatform,
} from "./transport/byte-channel.ts";
export { type ByteTransportOptions, byteTransport } from "./transport/byte-transport.ts";
export { defaultFrameLimits, type FrameLimits } from "./transport/frame-limits.ts";
export { type MemoryPairOptions, memoryPair } from "./transport/memory.ts";
export {
  type ByteStreams,
  fromWebStreams,
  type MessageStreams,
  toWebStreams,
} from "./transport/web-streams.ts";
export {
  type WebSocketLike,
  type WebSocketTransportOptions,
  webSocketTransport,
} from "./transport/websocket.ts";
export type { UnstableMethods } from "./wire/decode.ts";
