// What happens in a session, in the vocabulary of version 2. Facts that only another edition has stand beside
// it and are never renamed: a v1 diff keeps its path and texts.

import type * as wire from "../wire/v2/types.gen.ts";

/** Version 2 lists changes and may give a patch; version 1 gives the texts of one file. Either may be absent. */
export type Diff = wire.Diff & {
  path?: string;
  oldText?: string | null;
  newText?: string;
};

export type ToolCallContent = Exclude<wire.ToolCallContent, { type: "diff" }> | ({ type: "diff" } & Diff);

export interface ToolCallUpdate extends Omit<wire.ToolCallUpdate, "content"> {
  content?: ToolCallContent[] | null;
}

/** An update of a kind that the edition does not know, as it came. */
export interface UnknownUpdate {
  sessionUpdate: wire.UnknownTag;
  unknown: true;
  raw: unknown;
}

/** One update of a session. Patches go by id: absent keeps, null clears, a value replaces, chunks append. */
export type Update =
  | Exclude<
      wire.SessionUpdate,
      { sessionUpdate: "tool_call_update" | "tool_call_content_chunk" | wire.UnknownTag }
    >
  | ({ sessionUpdate: "tool_call_update" } & ToolCallUpdate)
  | {
      sessionUpdate: "tool_call_content_chunk";
      toolCallId: string;
      content: ToolCallContent;
      _meta?: wire.Meta | null;
    }
  | UnknownUpdate;

export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "max_turn_requests"
  | "refusal"
  | "cancelled"
  | "error"
  | (string & {});

/** How the work on a prompt ended. */
export interface Outcome {
  readonly stopReason: StopReason;
  /** With stop reason "error": what the agent said went wrong. */
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  readonly usage?: wire.Usage;
  /** Custom data of the agent's answer. */
  readonly meta?: wire.Meta;
  /** The agent merged this prompt into work that was already running, and shares its outcome. */
  readonly joined?: true;
}
