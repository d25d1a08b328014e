// The library without Node: agents, clients, JSON-RPC, transports and errors, for every JavaScript runtime.

export type {
  Activation,
  AgentCapabilities,
  ClientCapabilities,
  SessionInfo,
} from "./edition/agent-edition.ts";
export type { Edition, Editions } from "./edition/negotiate.ts";
export { Connection } from "./jsonrpc/connection.ts";
export type {
  BatchCall,
  ConnectionCounters,
  ConnectionLimits,
  ConnectionOptions,
  Handlers,
  Log,
  LogLevel,
} from "./jsonrpc/connection-options.ts";
export {
  ConnectionError,
  type ConnectionErrorKind,
  type ErrorDetails,
  RequestError,
} from "./jsonrpc/errors.ts";
export type { IncomingRequest } from "./jsonrpc/incoming-request.ts";
export type { RequestId } from "./jsonrpc/message-id.ts";
export type { RequestOptions } from "./jsonrpc/pending-requests.ts";
export type { EndReason, Fault, Sink, Transport } from "./jsonrpc/transport.ts";
export type * from "./model/ask.ts";
export type * from "./model/content.ts";
export type { Entry, EntryBody } from "./model/entry.ts";
export { errorCodes } from "./model/error-codes.ts";
export { gitPatch } from "./model/git-patch.ts";
export { memoryStore } from "./model/memory-store.ts";
export type * from "./model/services.ts";
export type * from "./model/store.ts";
export type * from "./model/update.ts";
export { type Agent, type AgentConnection, agent } from "./peer/agent/agent.ts";
export type { AgentDefinition, SessionOrigin } from "./peer/agent/agent-definition.ts";
export type { DisplayTerminal, DisplayTerminalOptions } from "./peer/agent/turn/display-terminal.ts";
export type { Permission } from "./peer/agent/turn/questions.ts";
export type { Inbox, InboxMessage } from "./peer/agent/turn/received-prompt.ts";
export { type ToolCall, type ToolCallStart, textDiff } from "./peer/agent/turn/tool-call.ts";
export type { AgentSession, Turn, TurnEnd } from "./peer/agent/turn/turn.ts";
export type { TurnClient } from "./peer/agent/turn/turn-client.ts";
export {
  authRequired,
  type ExtensionContext,
  type Extensions,
  sessionNotFound,
} from "./peer/base/extensions.ts";
export { type Client, client } from "./peer/client/client.ts";
export type { ClientDefinition, RequestContext } from "./peer/client/client-definition.ts";
export type { AgentCounters } from "./peer/client/client-dispatch.ts";
export type { ClientSession, Prompt } from "./peer/client/client-session.ts";
export type {
  ConnectedAgent,
  KnownSession,
  SessionOptions,
  SessionPage,
} from "./peer/client/connected-agent.ts";
export type { UnreadLimits } from "./peer/client/unread-updates.ts";
export { type HttpTransportOptions, httpTransport } from "./peer/http/http-transport.ts";
export { type Relay, type RelayedEditions, relay } from "./peer/relay/relay.ts";
export type { ClientToolServices, ClientTools, RelayOptions } from "./peer/relay/relay-options.ts";
export type { ByteChannel, ByteReceiver, FrameLimits, TextPlatform } from "./transport/byte-channel.ts";
export { type ByteTransportOptions, byteTransport } from "./transport/byte-transport.ts";
export { type MemoryPairOptions, memoryPair } from "./transport/memory.ts";
export { plainTextProblem } from "./transport/unencrypted-address.ts";
export {
  type ByteStreams,
  fromWebStreams,
  type MessageStreams,
  toWebStreams,
  type WebStreamOptions,
} from "./transport/web-streams.ts";
export {
  type WebSocketLike,
  type WebSocketTransportOptions,
  webSocketTransport,
} from "./transport/websocket.ts";
export type { UnstableFeature, UnstableFeatures } from "./validation/unstable-features.ts";
