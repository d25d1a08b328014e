// One request to the model: what it says is shown as it comes, and kept. Also what was said before a failure or a
// cancel is kept, since the user has seen it.

import type { Turn } from "@parley/acp";
import { assistantMessage } from "../model/assistant-message.ts";
import type { Model, ModelRequest, StopCause, TokenUsage, ToolCallPart, Wait } from "../model/model.ts";
import { ModelError } from "../model/model.ts";
import type { SpokenPart } from "../session/transcript.ts";
import { type Drafts, drafts } from "./drafts.ts";

export interface ModelStep {
  readonly calls: readonly ToolCallPart[];
  /** There was something for the user to read. */
  readonly hasSpoken: boolean;
  readonly cause: StopCause;
  readonly usage: TokenUsage | undefined;
  /** What was shown of calls while they were written. */
  readonly drafts: Drafts;
}

/** `said` gets the parts whatever happens, before this returns or throws. */
export async function modelStep(
  turn: Turn,
  model: Model,
  request: Omit<ModelRequest, "signal">,
  said: (parts: readonly SpokenPart[]) => void,
): Promise<ModelStep> {
  const spoken = assistantMessage();
  const drafted = drafts(turn);
  let hasSpoken = false;
  // a pause that nobody explains looks like a hang
  const onWait = ({ reason, delayMs }: Wait) => {
    void turn.think(`${reason} Trying again in ${Math.ceil(delayMs / 1000)} s.\n`);
  };
  try {
    for await (const event of model.stream({ ...request, signal: turn.signal, onWait })) {
      turn.signal.throwIfAborted();
      switch (event.type) {
        case "text":
          spoken.add(event);
          if (event.text !== "") {
            hasSpoken = true;
            await turn.say(event.text);
          }
          break;
        case "thinking":
          spoken.add(event);
          if (event.text !== "") await turn.think(event.text);
          break;
        case "tool_call": {
          const call = { ...event, id: uniqueId(event.id, spoken.calls) };
          drafted.settle(event.id, call);
          spoken.add(call);
          break;
        }
        case "tool_input":
          drafted.add(event);
          break;
        case "end":
          return {
            calls: spoken.calls,
            hasSpoken,
            cause: event.cause,
            usage: event.usage,
            drafts: drafted,
          };
      }
    }
  } finally {
    said(spoken.message.content);
  }
  turn.signal.throwIfAborted();
  throw new ModelError("cut_off", `${model.facts.name} stopped in the middle of its answer: try again`);
}

/** An id that was used before would give one call two outcomes. */
function uniqueId(id: string, calls: readonly ToolCallPart[]): string {
  let unique = id;
  for (let n = 2; calls.some((call) => call.id === unique); n++) unique = `${id}-${n}`;
  return unique;
}
