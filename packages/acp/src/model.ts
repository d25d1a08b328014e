// The types of sessions: content, updates, questions, files and terminals, the same in every version of the protocol.

export type * from "./model/agent-status.ts";
export type * from "./model/ask.ts";
export type { JsonConfigOption, JsonValue, OperationPermissionSubject } from "./model/custom-types.ts";
export type { Entry, EntryBody } from "./model/entry.ts";
export type {
  McpBridge,
  McpBridgedServer,
  McpBridgeSession,
  McpBridgeTarget,
  McpCall,
  McpCallOptions,
  McpChannel,
  McpConnectOptions,
  McpErrorBody,
  McpKit,
  McpParams,
  McpProvider,
} from "./model/mcp.ts";
export type {
  CustomUpdate,
  OutgoingCommand,
  OutgoingCommandInput,
  OutgoingConfigOption,
  OutgoingMcpServer,
  OutgoingPlan,
  OutgoingUpdate,
} from "./model/outgoing.ts";
export type * from "./model/services.ts";
export type * from "./model/types.gen.ts";
export type { PromptError, PromptResult, StopReason, UpdateOf } from "./model/update.ts";
