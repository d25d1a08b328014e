// What a session at the client holds, as JSON.

import { anyObject, count, fields, flag, listOf, type Shape, text } from "../../../base/shape.ts";
import type { AvailableCommand, Meta, SessionConfigOption } from "../../../model/content.ts";
import { type AskState, askShape } from "./ask-records.ts";
import type { SessionState } from "./client-session.ts";
import { type OpenPromptsState, openPromptsShape } from "./prompt-handle.ts";
import { type SessionEventsState, sessionEventsShape } from "./session-events.ts";
import { type ToolCallsState, toolCallsShape } from "./tool-call-tracker.ts";

export interface ConnectedSessionState {
  readonly sessionId: string;
  readonly roots: readonly string[];
  readonly _meta?: Meta;
  readonly configOptions: readonly SessionConfigOption[];
  readonly availableCommands: readonly AvailableCommand[];
  readonly state: SessionState;
  readonly isReplaying: boolean;
  readonly isRefusing: boolean;
  /** Of the edition. */
  readonly edition: object;
  readonly toolCalls: ToolCallsState;
  readonly events: SessionEventsState;
  readonly asks: readonly AskState[];
  readonly prompts: OpenPromptsState;
  /** The numbers of the prompts that are sent one at a time: the one that runs, then those that wait. */
  readonly queue: readonly number[];
}

/** `edition`: the shape of the edition's part. */
export function sessionStateShape(edition: Shape): Shape {
  return fields(
    {
      sessionId: text,
      roots: listOf(text),
      configOptions: listOf(anyObject),
      availableCommands: listOf(anyObject),
      state: text,
      isReplaying: flag,
      isRefusing: flag,
      edition,
      toolCalls: toolCallsShape,
      events: sessionEventsShape,
      asks: listOf(askShape),
      prompts: openPromptsShape,
      queue: listOf(count),
    },
    { _meta: anyObject },
  );
}
