// The client's end of a connection in one version of the protocol. State and input in, outputs out; no
// clock, no promise.

import type { ElicitationAnswer, ElicitationAsk, PermissionAnswer, PermissionAsk } from "../model/ask.ts";
import type { ContentBlock, SessionConfigOption } from "../model/content.ts";
import type { Outcome, Update } from "../model/update.ts";
import type { WireCall } from "./agent-edition.ts";
import type { Activation, AgentIntroduction, SessionFace } from "./agent-ops.ts";

/** Where one session's outputs go. A prompt is known by the number that it was sent under. */
export interface ClientSessionSink {
  update(update: Update): void;
  accepted(prompt: number, messageId: string): void;
  outcome(prompt: number, outcome: Outcome): void;
  failed(prompt: number, error: Error): void;
}

/** One session as this version shows it. */
export interface ClientSessionEdition {
  /** What the agent's answer said about the session's options; later answers and updates keep it current. */
  setOptions(options: readonly SessionConfigOption[]): void;
  /** The whole list after a change that the agent answered with a list of its own. */
  optionsChanged(options: readonly SessionConfigOption[]): readonly SessionConfigOption[];
  receive(update: object, out: ClientSessionSink): void;
  /** History is being replayed: its messages are no echo of ours, and of its states only the last one is true now. */
  setReplaying(replaying: boolean, out: ClientSessionSink): void;
  promptSent(prompt: number, content: readonly ContentBlock[], out: ClientSessionSink): void;
  promptAnswered(prompt: number, result: object, out: ClientSessionSink): void;
  promptFailed(prompt: number, error: Error, out: ClientSessionSink): void;
  /** The user cancelled: open prompts end as cancelled, whatever the agent says. */
  cancelled(): void;
  /** The agent has gone: its work is over, and nobody else will say so. Open prompts fail afterwards. */
  interrupted(out: ClientSessionSink): void;
}

export interface SessionListing {
  readonly sessionId: string;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly title?: string;
  /** RFC 3339, where the agent says. */
  readonly updatedAt?: string;
}

/** What an agent may ask a v1 client to do. */
export type ServiceOp =
  | { readonly op: "read"; readonly path: string; readonly line?: number; readonly limit?: number }
  | { readonly op: "write"; readonly path: string; readonly content: string }
  | {
      readonly op: "create_terminal";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string;
      readonly outputByteLimit?: number;
    }
  | { readonly op: "output" | "wait" | "kill" | "release"; readonly terminalId: string };

export interface ClientEdition {
  readonly version: number;
  /** Whether several prompts of one session may be at the agent at once. */
  readonly pipelinesPrompts: boolean;
  agent(result: object): AgentIntroduction;
  login(methodId: string): WireCall;
  logout(): WireCall;
  open(activation: Activation): WireCall;
  activate(sessionId: string, activation: Activation, replay: boolean): WireCall;
  /** What the agent's answer shows; `sessionId` is ours where the answer does not repeat it. */
  face(result: object, sessionId?: string): SessionFace;
  setOption(sessionId: string, option: SessionConfigOption, value: string | boolean): WireCall;
  /** The options after a change, or nothing where the answer does not say. */
  optionsAfter(method: string, result: object): readonly SessionConfigOption[] | undefined;
  session(): ClientSessionEdition;
  /** `titleOf` is for questions about a call that do not say what it is called. */
  permission(
    params: object,
    titleOf: (sessionId: string, toolCallId: string) => string | undefined,
  ): { readonly sessionId: string; readonly ask: PermissionAsk };
  permissionResult(answer: PermissionAnswer): object;
  /** Nothing for a mode that nobody knows. */
  elicitation(
    params: object,
  ):
    | { readonly sessionId?: string; readonly requestId?: number | string; readonly ask: ElicitationAsk }
    | undefined;
  elicitationResult(answer: ElicitationAnswer): object;
  /** What a request of the agent asks this machine to do; nothing where this version has no such request. */
  service(method: string, params: object): { readonly sessionId: string; readonly op: ServiceOp } | undefined;
  /** Makes what older or looser agents send fit the schema, before it is validated. */
  repair(method: string, value: unknown): void;
}
