// The content types of messages, plans, commands and options.

export type {
  AuthMethod,
  AvailableCommand,
  BackgroundWork,
  ContentBlock,
  Cost,
  DiffChange,
  ExitStatus,
  Implementation,
  McpServer,
  Meta,
  PermissionOption,
  PlanEntry,
  SessionConfigOption,
  StateUpdate,
  SystemPrompt,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
} from "./types.gen.ts";
