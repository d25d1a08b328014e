// What messages, plans, commands and options are made of, as generated from v2's schema. `undefined` stands for an
// absent field.

export type {
  Annotations,
  AuthMethod,
  AvailableCommand,
  BackgroundWork,
  ContentBlock,
  Cost,
  DiffChange,
  DiffPatch,
  Implementation,
  McpServer,
  Meta,
  PermissionOption,
  PlanEntry,
  SessionConfigOption,
  StateUpdate,
  SystemPrompt,
  TerminalExitStatus,
  ToolCallLocation,
  ToolCallStatus,
  ToolKind,
  Usage,
} from "./types.gen.ts";
