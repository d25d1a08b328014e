// Sends one request to the model, streams its answer to the client and keeps it, even if it fails halfway.

import type { Turn } from "@parley/acp";
import { extensionIn, retryKey } from "@parley/acp/extensions";
import { type AssistantPart, assistantMessage } from "../model/assistant-message.ts";
import type { Model, ModelRequest, ModelWait, StopCause, TokenUsage, ToolCallPart } from "../model/model.ts";
import { ModelError } from "../model/model.ts";
import { withdraw } from "../session/withdraw.ts";
import type { Tool } from "../tools/base/tool.ts";
import { type Drafts, drafts } from "./drafts.ts";

/** Who gets the answer while it is written: a turn, or nobody. */
export type Listener = Pick<Turn, "signal" | "say" | "think" | "announce" | "update" | "notice" | "client">;

export interface ModelStep {
  readonly calls: readonly ToolCallPart[];
  readonly hasText: boolean;
  readonly cause: StopCause;
  readonly usage: TokenUsage | undefined;
  /** Calls that were shown while the model wrote them. */
  readonly drafts: Drafts;
}

/** A request of a step. `onWait` is also called when a pause was followed by an answer: with undefined. */
export interface StepRequest extends Omit<ModelRequest, "signal" | "onWait"> {
  readonly onWait?: (wait: ModelWait | undefined) => void;
}

/** `tools` are those of all modes. Calls `keep` with the parts of the answer before it returns or throws. */
export async function modelStep(
  turn: Listener,
  model: Model,
  request: StepRequest,
  tools: readonly Tool[],
  keep: (parts: readonly AssistantPart[]) => void,
): Promise<ModelStep> {
  const answer = assistantMessage();
  let callDrafts = drafts(turn, tools);
  let hasText = false;
  let isWaiting = false;
  const say = request.onWait ?? sayWait(turn);
  const onWait = (wait: ModelWait) => {
    isWaiting = true;
    say(wait);
  };
  try {
    for await (const event of model.stream({ ...request, onWait, signal: turn.signal })) {
      turn.signal.throwIfAborted();
      if (isWaiting) say(undefined);
      isWaiting = false;
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
        case "interrupted": {
          await callDrafts.abandon(brokenOff);
          callDrafts = drafts(turn, tools);
          const dropped = answer.interrupt(event);
          if (dropped === "") break;
          hasText = answer.message.content.some(({ type }) => type === "text");
          await withdraw(turn, dropped, event.reason);
          break;
        }
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

const brokenOff = "This call was not run: the answer broke off, and the model is asked again.";

/** Tells the user of a pause before a request is repeated, and of its end. Clients that know no pauses get a thought. */
export function sayWait(
  turn: Pick<Turn, "think" | "update" | "client">,
): (wait: ModelWait | undefined) => void {
  return (wait) => {
    if (extensionIn(turn.client.capabilities._meta, retryKey) !== true) {
      if (wait === undefined) return;
      return void turn.think(`${wait.reason} Trying again in ${Math.ceil(wait.delayMs / 1000)} s.\n`);
    }
    const { reason, delayMs, attempt = 0, attempts } = wait ?? {};
    const retry = wait === undefined ? null : { attempt: attempt + 1, of: attempts, delayMs, reason };
    void turn.update({ sessionUpdate: "session_info_update", _meta: { [retryKey]: retry } });
  };
}

/** Makes the id unique within the answer, since every call needs exactly one outcome. */
function uniqueId(id: string, calls: readonly ToolCallPart[]): string {
  let unique = id;
  for (let n = 2; calls.some((call) => call.id === unique); n++) unique = `${id}-${n}`;
  return unique;
}
