// The entry point for front ends: the model of a session that runs elsewhere. It runs in browsers.

export type {
  Conversation,
  ConversationEvent,
  ConversationOptions,
  OpenQuestion,
} from "./conversation/conversation.ts";
export { hostWords } from "./conversation/host-words.ts";
export { modelWait } from "./conversation/model-wait.ts";
export { openConversation } from "./conversation/open-conversation.ts";
export { parentCallOf } from "./conversation/parent-call.ts";
export type { SafeTexts } from "./conversation/safe-status.ts";
export type {
  AgentFacts,
  Answers,
  CommandBase,
  CommandKind,
  CommandOf,
  HostQuestion,
  ModelWait,
  Notice,
  OutcomeOf,
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
export type { ChatInput, PastedImage } from "./prompt-input/chat-input.ts";
