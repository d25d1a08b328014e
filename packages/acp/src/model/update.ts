// Session updates and the outcomes of prompts.

import type { RequestErrorKind } from "../jsonrpc/error-kinds.ts";
import type { Meta, UnknownTag, Usage } from "./types.gen.ts";

export type {
  OutgoingCommand,
  OutgoingConfigOption,
  OutgoingMcpServer,
  OutgoingUpdate,
} from "./outgoing.ts";
export type { Diff, SessionUpdate, ToolCallContent, ToolCallUpdate, UnknownUpdate } from "./types.gen.ts";

/** Why the work on a prompt ended. Newer peers send further reasons: give a `switch` over it a `default:`. */
export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "max_turn_requests"
  | "refusal"
  | "cancelled"
  | "error"
  | `_${string}`
  | UnknownTag;

/** What went wrong in the work on a prompt: the contents of a `RequestError`. */
export interface PromptError {
  readonly kind: RequestErrorKind;
  /** The code on the wire. */
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** How the work on a prompt ended. */
export interface PromptResult {
  readonly stopReason: StopReason;
  /** With stop reason "error": what the agent said went wrong. */
  readonly error?: PromptError;
  readonly usage?: Usage;
  /** Custom data of the agent's answer. */
  readonly _meta?: Meta;
  /** The agent merged this prompt into work that was already running, and shares its outcome. */
  readonly joined?: true;
}
