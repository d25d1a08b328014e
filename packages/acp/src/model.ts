// The types of sessions: content, updates, questions, files and terminals, the same in every version of the protocol.

export type * from "./model/ask.ts";
export type { Entry, EntryBody } from "./model/entry.ts";
export type {
  CustomUpdate,
  OutgoingCommand,
  OutgoingCommandInput,
  OutgoingConfigOption,
  OutgoingMcpServer,
  OutgoingPlan,
  OutgoingUpdate,
} from "./model/outgoing.ts";
// named, because the generated file has a type of the same name
export type {
  ClientFiles,
  CreateTerminalOptions,
  Files,
  ReadTextOptions,
  TerminalHandle,
  TerminalOutput,
  Terminals,
  WriteTextOptions,
} from "./model/services.ts";
export type * from "./model/types.gen.ts";
export type { PromptError, PromptResult, StopReason } from "./model/update.ts";
