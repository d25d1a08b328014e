// Session updates and the outcomes of prompts.

import { errorKindOf, type RequestErrorKind } from "../jsonrpc/error-kinds.ts";
import type { Meta, SessionUpdate, UnknownTag, Usage } from "./types.gen.ts";

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

/** The error that ended a prompt: the contents of a `RequestError`. */
export interface PromptError {
  /** The kind of error, the same in every version of the protocol. Give a `switch` over it a `default:`. */
  readonly kind: RequestErrorKind;
  /** The code on the wire. Prefer `kind`. */
  readonly code: number;
  /** One sentence for a person. */
  readonly message: string;
  /** More about the error, as JSON. */
  readonly data?: unknown;
}

/** How the work on a prompt ended. */
export interface PromptResult {
  /** Why it ended; "end_turn" when the agent was done. Give a `switch` over it a `default:`. */
  readonly stopReason: StopReason;
  /** The error that the agent reported. Present with stop reason "error". */
  readonly error?: PromptError;
  /**
   * The tokens of this turn, if the agent reports them.
   *
   * @experimental
   */
  readonly usage?: Usage;
  /** Custom data of the agent's answer. */
  readonly _meta?: Meta;
  /** Present if the prompt joined a turn that was already running, and has the result of that turn. */
  readonly joined?: true;
}

/** The update of one kind: `UpdateOf<"notice">`. */
export type UpdateOf<Kind extends string> = Extract<SessionUpdate, { readonly sessionUpdate: Kind }>;

export type WireError = Omit<PromptError, "kind">;

export function promptError(error: WireError): PromptError {
  return { ...error, kind: errorKindOf(error.code, error.data) };
}

export function wireError({ kind: _, ...error }: PromptError): WireError {
  return error;
}
