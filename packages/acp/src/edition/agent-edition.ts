// The agent's side of one protocol version: decodes requests into operations, and encodes what the agent sends.

import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer, PermissionAsk } from "../model/ask.ts";
import type { AuthMethod, SessionConfigOption } from "../model/content.ts";
import type { Outcome, Update } from "../model/update.ts";
import type {
  AgentIntroduction,
  AgentOp,
  ClientFeatures,
  Introduction,
  ListedSessions,
  SessionSetup,
} from "./agent-ops.ts";

/** A request or a notification to send. */
export interface WireCall {
  readonly method: string;
  readonly params: unknown;
}

/** Called with what a version cannot express, in words for a person. */
export type Lost = (what: string) => void;

/** One session as this version shows it. */
export interface AgentSessionEdition {
  /**
   * The messages for one update of the model: usually one, sometimes none or several.
   */
  encode(update: Update, lost?: Lost): object | readonly object[] | undefined;
  /** The client has a terminal with this id, and can show it. */
  addClientTerminal(terminalId: string): void;
}

/** When a prompt is answered, and with what. */
export interface PromptPolicy {
  /** A prompt is answered, and its message echoed, once it is part of the conversation: not at the end of the work. */
  readonly answersAtInsertion: boolean;
  /** The method that carries the tokens of a turn; unstable, so it must be listed. */
  readonly usageMethod: string;
  /** The result for a prompt whose message was inserted. */
  inserted(messageId: string): object;
  /** The result for a prompt whose work has ended. Throws RequestError where the version says so. */
  ended(outcome: Outcome): object;
}

export interface AgentEdition {
  readonly version: number;
  readonly prompts: PromptPolicy;
  /** The answer that opens a session has its commands; otherwise they follow as an update. */
  readonly setupHasCommands: boolean;
  /** `initialize` may be repeated until the first other request. */
  readonly reinitializes: boolean;
  /** A change of a file is shown by its texts, not by a patch. */
  readonly showsDiffTexts: boolean;
  /** The ways to log in, as this version writes them. */
  authMethods(methods: readonly AuthMethod[]): readonly object[];
  /** The params of `initialize` as this version expects them, before they are validated. */
  initializeParams(params: unknown): unknown;
  client(params: object): Introduction<ClientFeatures>;
  /** The answer to initialize. */
  introduce(agent: AgentIntroduction): object;
  /** The operation that a request asks for; undefined for one that this version does not route. */
  decode(method: string, params: object, options: OptionsOf): AgentOp | undefined;
  /** The answer to a request whose operation gave this result. */
  encode(method: string, result: AgentOpResult): object;
  session(setup: SessionSetup, client: ClientFeatures): AgentSessionEdition;
  permission(sessionId: string, ask: PermissionAsk, lost?: Lost): WireCall;
  permissionAnswer(result: object): PermissionAnswer;
  /** The update that ends what stood for the question, where this version needed such a thing. */
  permissionOver(ask: PermissionAsk, answer: PermissionAnswer): object | undefined;
  elicitation(sessionId: string, ask: ElicitationAsk): WireCall;
  elicitationAnswer(result: object): ElicitationAnswer;
}

export type OptionsOf = (sessionId: string) => readonly SessionConfigOption[];

export type AgentOpResult =
  | { readonly kind: "none" }
  | { readonly kind: "session"; readonly setup: SessionSetup; readonly client: ClientFeatures }
  | { readonly kind: "page"; readonly page: ListedSessions }
  | {
      readonly kind: "options";
      readonly options: readonly SessionConfigOption[];
      readonly client: ClientFeatures;
    };
