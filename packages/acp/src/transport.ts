// The parts of a custom transport, and transports for tests and web streams, in every JavaScript runtime.

export { type BoundedBody, boundedBody } from "./base/bounded-body.ts";
export type {
  Dialect,
  DialectClock,
  DialectMachine,
  DialectMachines,
  DialectMessage,
  DialectOptions,
  DialectStep,
} from "./edition/dialect.ts";
export type { Attachment, EndReason, Fault, Lines, Sink, Transport } from "./jsonrpc/transport.ts";
export type { ByteChannel, ByteReceiver, FrameLimits, TextPlatform } from "./transport/byte-channel.ts";
export { type ByteTransportOptions, byteTransport } from "./transport/byte-transport.ts";
export type { HttpTransportOptions } from "./transport/http/http-options.ts";
export { type MemoryPairOptions, memoryPair } from "./transport/memory.ts";
export {
  type TextChannel,
  type TextReceiver,
  type TextTransportOptions,
  textTransport,
} from "./transport/text-transport.ts";
export { isLoopback, plainTextProblem } from "./transport/unencrypted-address.ts";
export {
  type ByteStreams,
  fromWebStreams,
  type MessageStreams,
  toWebStreams,
  type WebStreamOptions,
} from "./transport/web-streams.ts";
export type { OpenWebSocket, WebSocketLike, WebSocketTransportOptions } from "./transport/websocket.ts";
export { wrapSink, wrapTransport } from "./transport/wrap-transport.ts";
