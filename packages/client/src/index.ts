// The entry point of the client kit: agents that are restarted after a crash, and prompts with files.

export type { AgentSpec, CommandSpec, RemoteSpec, SessionSetup } from "./agents/agent-spec.ts";
export type { AgentSandbox } from "./launch/agent-sandbox.ts";
export { LaunchError, type LaunchErrorKind } from "./launch/launch-error.ts";
export type { LaunchEvent } from "./launch/launch-event.ts";
export type { Asker, ElicitationQuestion } from "./managed/asker.ts";
export { connectAgent } from "./managed/connect-agent.ts";
export type { ConnectAgentOptions, ManagedAgentEvent } from "./managed/connect-options.ts";
export type { LoginCommand, LoginMethod, LoginVariable } from "./managed/login-method.ts";
export type { ManagedAgent } from "./managed/managed-agent.ts";
export { type AgentProblem, type AgentProblemKind, problemOf } from "./managed/problem.ts";
export type { AttachedText } from "./prompt-input/chat-input.ts";
export type { AcceptedContent } from "./prompt-input/mentioned-file.ts";
export {
  type PromptBlocks,
  type PromptInput,
  PromptInputError,
  type PromptTarget,
  promptContent,
} from "./prompt-input/prompt-content.ts";
