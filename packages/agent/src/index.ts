// The public API of the coding agent.

export { type CodingAgentOptions, codingAgent } from "./coding-agent.ts";
export type { HookedCall, HookedOutcome, Hooks } from "./hooks/hooks.ts";
export type { FolderServer, FolderServers, McpSources } from "./mcp/sources.ts";
export {
  type Effort,
  type MediaPart,
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelEvent,
  type ModelFacts,
  type ModelMessage,
  type ModelRequest,
  type ModelWait,
  type Price,
  type StopCause,
  type TextPart,
  type ThinkingPart,
  type TokenUsage,
  type ToolCallPart,
  type ToolDescription,
  type ToolOutcome,
} from "./model/model.ts";
export type { LastingGrants, LastingSubject } from "./permissions/lasting-grants.ts";
export type { AutoApproval } from "./permissions/modes.ts";
export type { ConfiguredModels } from "./providers/choose-model.ts";
export type { AgentFiles, TextWithVersion } from "./tools/base/agent-files.ts";
export type { OutputFolder } from "./tools/base/output-folder.ts";
export type { SeenFiles, SeenLines } from "./tools/base/seen-files.ts";
export {
  type Access,
  type AgentCommand,
  type AgentTerminals,
  type BackgroundJob,
  type BackgroundJobs,
  type CommandHolder,
  type CommandSandbox,
  type JobCommand,
  type Mode,
  type PreparedCall,
  type Presentation,
  type RunContext,
  type SandboxPolicy,
  type SubagentReport,
  type SubagentTask,
  type Tool,
  type ToolCallDraft,
  type ToolContext,
  ToolError,
  type ToolResult,
  type Vetoes,
  type WebAccess,
} from "./tools/base/tool.ts";
