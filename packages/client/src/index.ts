// What every client needs and would write by hand. What is heavy is loaded when it is used.

export {
  type AgentEntry,
  type CommandEntry,
  commandEntry,
  type Quirks,
  type RemoteEntry,
} from "./agents/agent-entry.ts";
export { agentEnvironment } from "./agents/environment.ts";
export { type OwnAgent, readyAgents } from "./agents/ready-agents.ts";
export {
  type LaunchEvent,
  type LaunchedAgent,
  type LaunchOptions,
  launchAgent,
} from "./launch/launch-agent.ts";
export { LaunchError, type LaunchErrorDetails, type LaunchErrorKind } from "./launch/launch-error.ts";
export type {
  Asker,
  ElicitationQuestion,
  LoginCommand,
  LoginMethod,
  LoginVariable,
} from "./live/asker.ts";
export { type LiveAgent, liveAgent } from "./live/live-agent.ts";
export type {
  LiveEvent,
  LiveGate,
  LiveOptions,
  LivePlace,
  PromptContent,
  RecordedSession,
  Recorder,
} from "./live/live-options.ts";
export type { LivePrompt } from "./live/live-prompt.ts";
export type { LiveSession } from "./live/live-session.ts";
export type { Problem, ProblemKind } from "./live/problem.ts";
export type { SessionSetup } from "./live/session-setup.ts";
export type { AcceptedContent } from "./prompt-input/mentioned-file.ts";
export {
  type PromptBlocks,
  type PromptInput,
  PromptInputError,
  type PromptTarget,
  promptContent,
} from "./prompt-input/prompt-content.ts";
export type { Effect, Operation, Scope, Subject, SubjectOrigin } from "./subject.ts";
