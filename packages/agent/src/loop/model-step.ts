// Sends one request to the model, streams its answer to the client and keeps it, even if it fails halfway.

import type { Turn } from "@parley/acp";
import { type AssistantPart, assistantMessage } from "../model/assistant-message.ts";
import type { Model, ModelRequest, StopCause, TokenUsage, ToolCallPart, Wait } from "../model/model.ts";
import { ModelError } from "../model/model.ts";
import type { Tool } from "../tools/base/tool.ts";
import { type Drafts, drafts } from "./drafts.ts";

/** Who gets the answer while it is written: a turn, or nobody. */
export type Listener = Pick<Turn, "signal" | "say" | "think" | "announce" | "update">;

export interface ModelStep {
  readonly calls: readonly ToolCallPart[];
  readonly hasText: boolean;
  readonly cause: StopCause;
  readonly usage: TokenUsage | undefined;
  /** Calls that were shown while the model wrote them. */
  readonly drafts: Drafts;
}

/** `tools` are those of all modes. Calls `keep` with the parts of the answer before it returns or throws. */
export async function modelStep(
  turn: Listener,
  model: Model,
  request: Omit<ModelRequest, "signal">,
  tools: readonly Tool[],
  keep: (parts: readonly AssistantPart[]) => void,
): Promise<ModelStep> {
  const answer = assistantMessage();
  const callDrafts = drafts(turn, tools);
  let hasText = false;
  try {
    for await (const event of model.stream({ onWait: sayWait(turn), ...request, signal: turn.signal })) {
      turn.signal.throwIfAborted();
      switch (event.type) {
        case "text":
          answer.add(event);
          if (event.text !== "") {
            hasText = true;
            await turn.say(event.text);
          }
          break;
        case "thinking":
          answer.add(event);
          if (event.text !== "") await turn.think(event.text);
          break;
        case "tool_call": {
          const call = { ...event, id: uniqueId(event.id, answer.calls) };
          callDrafts.settle(event.id, call);
          answer.add(call);
          break;
        }
        case "tool_input":
          callDrafts.add(event);
          break;
        case "end":
          return { calls: answer.calls, hasText, cause: event.cause, usage: event.usage, drafts: callDrafts };
      }
    }
  } finally {
    keep(answer.message.content);
  }
  turn.signal.throwIfAborted();
  throw new ModelError("cut_off", `${model.facts.name} stopped in the middle of its answer: try again`);
}

/** Tells the user of a pause before a request is repeated. */
export function sayWait(turn: Pick<Turn, "think">): (wait: Wait) => void {
  return ({ reason, delayMs }) => {
    void turn.think(`${reason} Trying again in ${Math.ceil(delayMs / 1000)} s.\n`);
  };
}

/** Makes the id unique within the answer, since every call needs exactly one outcome. */
function uniqueId(id: string, calls: readonly ToolCallPart[]): string {
  let unique = id;
  for (let n = 2; calls.some((call) => call.id === unique); n++) unique = `${id}-${n}`;
  return unique;
}
