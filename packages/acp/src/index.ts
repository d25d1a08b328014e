// Agents and clients, the errors, and the types that applications write down, for every JavaScript runtime.

export type {
  AgentCapabilities,
  ClientCapabilities,
  SessionInfo,
} from "./edition/agent-edition.ts";
export type { Edition, EditionName, Editions } from "./edition/negotiate.ts";
export type { Log } from "./jsonrpc/connection-options.ts";
export type { RequestErrorKind } from "./jsonrpc/error-kinds.ts";
export { ConnectionError, type ConnectionErrorKind, RequestError } from "./jsonrpc/errors.ts";
export type { Transport } from "./jsonrpc/transport.ts";
export type {
  ElicitationRequest,
  ElicitationResponse,
  PermissionRequest,
} from "./model/ask.ts";
export type { ContentBlock, PermissionOption, SessionConfigOption } from "./model/content.ts";
export { textOf } from "./model/content-text.ts";
export type { Entry } from "./model/entry.ts";
export { McpFailure } from "./model/mcp.ts";
export type { Files, TerminalHandle, Terminals } from "./model/services.ts";
export type { OutgoingUpdate, PromptResult, SessionUpdate, StopReason } from "./model/update.ts";
export { type Agent, type AgentConnection, agent } from "./peer/agent/agent.ts";
export type {
  AgentDefinition,
  AgentOptions,
  AgentRequest,
  LoginRequest,
  OpenRequest,
  SessionHandlers,
} from "./peer/agent/agent-definition.ts";
export type {
  DisplayTerminal,
  DisplayTerminalOptions,
  PermissionOptions,
  RunTool,
  ToolCallHandle,
  ToolCallStart,
} from "./peer/agent/turn/tool-call.ts";
export type { AgentSession, Inbox, InboxMessage, Turn, TurnClient } from "./peer/agent/turn/turn.ts";
export type { SuccessorOptions, TurnSuccessor } from "./peer/agent/turn/turn-successor.ts";
export type { ExtensionContext, Extensions } from "./peer/base/extensions.ts";
export type { Between } from "./peer/base/own-proxies.ts";
export { type Client, client } from "./peer/client/client.ts";
export type {
  ClientConnection,
  ForkOptions,
  ReopenOptions,
  SessionOptions,
  SessionPage,
} from "./peer/client/client-connection.ts";
export type { ClientDefinition } from "./peer/client/client-definition.ts";
export type { ConnectionSnapshot } from "./peer/client/connection-snapshot.ts";
export type {
  ClientPolicy,
  EffectRequest,
  PolicyContext,
  PolicyDecision,
  PolicyRequest,
  PolicyServices,
} from "./peer/client/policy/client-policy.ts";
export type { PermissionAnswer } from "./peer/client/policy/permissions.ts";
export type {
  CallOptions,
  CallResult,
  ClientSession,
  Prompt,
  PromptOptions,
  RequestContext,
  SessionEnd,
  SessionListener,
  SessionState,
} from "./peer/client/session/client-session.ts";
export { httpTransport } from "./peer/http/http-transport.ts";
export type { McpReceipt } from "./peer/mcp/receipts.ts";
export type { SessionMcpServer } from "./peer/mcp/session-servers.ts";
export { webSocketTransport } from "./transport/websocket.ts";
export type { UnstableFeature, UnstableFeatures } from "./validation/unstable-features.ts";
