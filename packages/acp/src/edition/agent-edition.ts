// The agent's end of a connection in one version of the protocol: what the client asks, in the model's
// terms, and what the agent says, on the wire. State and input in, outputs out; no clock, no promise.

import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer, PermissionAsk } from "../model/ask.ts";
import type { AuthMethod, SessionConfigOption } from "../model/content.ts";
import type { SessionPage } from "../model/store.ts";
import type { Outcome, Update } from "../model/update.ts";
import type { AgentIntroduction, AgentOp, ClientFeatures, Introduction, SessionFace } from "./agent-ops.ts";

/** What is sent to the client. */
export interface WireCall {
  readonly method: string;
  readonly params: unknown;
}

export type Lost = (what: string) => void;

/** One session as this version shows it. */
export interface AgentSessionEdition {
  /**
   * The updates that leave for one update of the model, usually one. `lost` hears what this version cannot say, in
   * words for a person; without it, nobody asks.
   */
  encode(update: Update, lost?: Lost): object | readonly object[] | undefined;
  /** The client has a terminal of this id, so that it can show it. */
  addClientTerminal(terminalId: string): void;
}

/** When a prompt is answered, and with what. */
export interface PromptPolicy {
  /** Answered once the message is part of the conversation, and not at the end of the work. */
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
  /** Whether a session's answer carries its commands; otherwise they follow it as an update. */
  readonly facesCarryCommands: boolean;
  /** Requests outside the schema that this version still takes. */
  readonly legacyMethods: ReadonlySet<string>;
  /** What a session's answer says beside the schema, for peers that still read it. */
  legacyFace(face: SessionFace): object;
  /** The ways to log in, as this version writes them. */
  authMethods(methods: readonly AuthMethod[]): readonly object[];
  /** What the client said of itself. */
  client(params: object): Introduction<ClientFeatures>;
  /** The answer to initialize. */
  introduce(agent: AgentIntroduction): object;
  /** What a request means; nothing for one that this version does not route. `options` are the session's own. */
  decode(method: string, params: object, options: OptionsOf): AgentOp | undefined;
  /** The result for what an operation gave; see `AgentOpResult`. */
  encode(op: AgentOp, result: AgentOpResult): object;
  /** A session that has been opened, with what it showed. */
  session(face: SessionFace, client: ClientFeatures): AgentSessionEdition;
  /** `lost` hears what the question does not say in this version. */
  permission(sessionId: string, ask: PermissionAsk, lost?: Lost): WireCall;
  permissionAnswer(result: object): PermissionAnswer;
  /** The update that follows the answer, where the question had to be shown as something that must come to an end. */
  permissionOver(ask: PermissionAsk, answer: PermissionAnswer): object | undefined;
  elicitation(sessionId: string, ask: ElicitationAsk): WireCall;
  elicitationAnswer(result: object): ElicitationAnswer;
}

export type OptionsOf = (sessionId: string) => readonly SessionConfigOption[];

export type AgentOpResult =
  | { readonly kind: "none" }
  | { readonly kind: "face"; readonly face: SessionFace; readonly client: ClientFeatures }
  | { readonly kind: "page"; readonly page: SessionPage }
  | {
      readonly kind: "options";
      readonly options: readonly SessionConfigOption[];
      readonly client: ClientFeatures;
    };
