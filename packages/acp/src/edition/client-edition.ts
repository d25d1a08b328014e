// The client's side of one protocol version: encodes requests, and decodes what the agent sends.

import type { Shape } from "../base/shape.ts";
import type { ElicitationRequest, PermissionRequest } from "../model/ask.ts";
import type { ContentBlock, Meta, SessionConfigOption } from "../model/content.ts";
import type { JsonValue } from "../model/custom-types.ts";
import type { TextEncoding } from "../model/services.ts";
import type { PromptResult, SessionUpdate } from "../model/update.ts";
import type { UnstableFeatures } from "../validation/unstable-features.ts";
import type { Activation, AgentIntroduction, Credentials, SessionSetup, WireCall } from "./agent-edition.ts";
import type { MessageNames } from "./message-names.ts";
import type { Edition } from "./negotiate.ts";

/** Receives what an edition makes of a session's messages. A prompt is identified by the number it was sent with. */
export interface ClientSessionSink {
  readonly toolCalls: {
    /** Whether the agent has said that the call has come further than this status. */
    isBeyond(toolCallId: string, status: string): boolean;
  };
  update(update: SessionUpdate): void;
  accepted(prompt: number, messageId: string): void;
  outcome(prompt: number, outcome: PromptResult): void;
  failed(prompt: number, error: Error): void;
}

/** One session as this version shows it. */
export interface ClientSessionEdition {
  /** Sets the session's options as the agent last listed them. */
  setOptions(options: readonly SessionConfigOption[]): void;
  /** The whole list after the agent answered a change with this list. */
  optionsChanged(options: readonly SessionConfigOption[]): readonly SessionConfigOption[];
  receive(update: object, out: ClientSessionSink): void;
  /** During a replay messages are no echo of ours, and only the last state counts. */
  setReplaying(replaying: boolean, out: ClientSessionSink): void;
  promptSent(prompt: number, content: readonly ContentBlock[], out: ClientSessionSink): void;
  /**
   * The agent has taken a message into the work that runs, or has begun other work with it. Only where prompts are sent
   * one at a time.
   */
  steered?(prompt: number, content: readonly ContentBlock[], isJoined: boolean, out: ClientSessionSink): void;
  promptAnswered(prompt: number, result: object, out: ClientSessionSink): void;
  promptFailed(prompt: number, error: Error, out: ClientSessionSink): void;
  /** The user cancelled: open prompts end as cancelled, whatever the agent says. */
  cancelled(): void;
  /** The connection has ended, and the work with it. Open prompts fail afterwards. */
  interrupted(out: ClientSessionSink): void;
  /** All that it holds, as JSON, for another session to go on from. */
  readonly state: object;
}

interface FileTarget {
  readonly path: string;
  /** False when the path was resolved. */
  readonly followLinks?: boolean;
  readonly _meta?: Meta;
}

/** The requests that an agent may send to a v1 client. */
export type ServiceOp =
  | ({
      readonly op: "read";
      readonly line?: number;
      readonly limit?: number;
      readonly encoding?: TextEncoding;
    } & FileTarget)
  | ({
      readonly op: "write";
      readonly content: string;
      readonly encoding?: TextEncoding;
      readonly overwrite?: boolean;
      readonly createDirectories?: boolean;
    } & FileTarget)
  | {
      readonly op: "create_terminal";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
      readonly outputByteLimit?: number;
      readonly timeoutMs?: number;
      readonly _meta?: Meta;
    }
  | { readonly op: "output" | "release"; readonly terminalId: string }
  | { readonly op: "wait"; readonly terminalId: string; readonly timeoutMs?: number }
  | { readonly op: "kill"; readonly terminalId: string; readonly signal?: string };

export interface ClientEdition {
  readonly name: Edition;
  /** Whether several prompts of one session may be at the agent at once. */
  readonly pipelinesPrompts: boolean;
  agent(result: object): AgentIntroduction;
  /** Credentials are given only where the peer understands them. */
  login(methodId: string, meta: Meta | undefined, credentials?: Credentials): WireCall;
  logout(meta: Meta | undefined): WireCall;
  open(activation: Activation): WireCall;
  activate(sessionId: string, activation: Activation, replay: boolean): WireCall;
  /** Reads the session from the answer. `sessionId` counts where the answer does not repeat it. */
  setup(result: object, sessionId?: string): SessionSetup;
  setOption(
    sessionId: string,
    option: SessionConfigOption,
    value: JsonValue,
    meta: Meta | undefined,
  ): WireCall;
  /** The options after a change; undefined where the answer does not say. */
  optionsAfter(method: string, result: object): readonly SessionConfigOption[] | undefined;
  /** Updates of unstable features that are not enabled are of an unknown kind. `state`: goes on from there. */
  session(unstable: UnstableFeatures, names: MessageNames, state?: object): ClientSessionEdition;
  /** What the state of a session is made of. */
  readonly stateShape: Shape;
  /** `titleOf` is for questions about a call that do not say what it is called. */
  permission(
    params: object,
    titleOf: (sessionId: string, toolCallId: string) => string | undefined,
  ): { readonly sessionId: string; readonly ask: PermissionRequest };
  /** Undefined for an unknown mode. */
  elicitation(
    params: object,
  ):
    | { readonly sessionId?: string; readonly requestId?: number | string; readonly ask: ElicitationRequest }
    | undefined;
  /** The service that a request of the agent asks for; undefined where this version has no such request. */
  service(method: string, params: object): { readonly sessionId: string; readonly op: ServiceOp } | undefined;
  /**
   * Makes what older or less strict agents send fit the schema, before it is validated. Describes a repair of what no
   * version allows.
   */
  repair(method: string, value: unknown): string | undefined;
}
