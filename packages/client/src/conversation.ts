// The entry point for front ends: the model of a session that runs elsewhere. It runs in browsers.

export type {
  Conversation,
  ConversationEvent,
  ConversationOptions,
  OpenQuestion,
} from "./conversation/conversation.ts";
export { modelWait } from "./conversation/model-wait.ts";
export { openConversation } from "./conversation/open-conversation.ts";
export { parentCallOf } from "./conversation/parent-call.ts";
export type {
  AgentFacts,
  Answers,
  ChatInput,
  CommandKind,
  CommandOf,
  HostQuestion,
  ModelWait,
  Notice,
  OutcomeOf,
  PastedImage,
  PastPrompt,
  QueuedPrompt,
  ReviewedTurn,
  RewindBranches,
  RewindOutcome,
  RunningTurn,
  SessionCommand,
  SessionLink,
  SessionProblem,
  SessionReference,
  SessionStatus,
  ShownElicitation,
  StatusPatch,
  Tail,
  TailEvent,
  TakenBack,
  TurnSummary,
} from "./conversation/session-link.ts";
