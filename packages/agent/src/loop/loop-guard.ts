// Notices a model that makes the same calls with the same outcomes again and again: tells the model, then asks the user.

import { createHash } from "node:crypto";
import type { Turn } from "@parley/acp";
import type { ToolCallPart, ToolOutcome } from "../model/model.ts";
import { tell } from "../session/tell.ts";
import { textPart } from "../tools/base/define-tool.ts";
import { askUser } from "./ask-user.ts";

/** The model is told when it did the same so many times. */
const tellsModel = 3;
const asksUser = 6;
/** The most calls that a cycle may have. */
const longestCycle = 3;

const stop = "Stop here";
const goOn = "Continue";

/** Of one turn. */
export class LoopGuard {
  /** What was called and what came of it, oldest first. */
  #seen: string[] = [];

  /** The outcome for the model: with a warning when it goes round in circles. */
  checked({ name, input }: ToolCallPart, outcome: ToolOutcome): ToolOutcome {
    this.#seen.push(hashOf([name, input, outcome.isError, outcome.content]));
    this.#seen = this.#seen.slice(-asksUser * longestCycle);
    const { times, calls } = this.#repetition();
    if (times < tellsModel) return outcome;
    const what = calls === 1 ? "this call" : `these ${calls} calls`;
    const warning = `[You have made ${what} ${times} times with the same outcome. Do not repeat it: do something else, or tell the user what is stopping you.]`;
    return { ...outcome, content: [...outcome.content, textPart(warning)] };
  }

  /** Call it when something new happened, such as a message of the user. */
  reset(): void {
    this.#seen = [];
  }

  /** False when the turn has to end. Asks the user, who is told if that is not possible. */
  async mayGoOn(turn: Turn): Promise<boolean> {
    const { times, calls } = this.#repetition();
    if (times < asksUser) return true;
    const what = calls === 1 ? "the same call" : `the same ${calls} calls`;
    const question = `The model has made ${what} ${times} times with the same outcome. Let it continue?`;
    let answer: string | undefined;
    try {
      await turn.tool({ title: question, kind: "other" }, async (call) => {
        // what approves everything by itself chooses the first
        answer = await askUser(turn, { call, title: question }, question, [stop, goOn]);
      });
    } catch {
      turn.signal.throwIfAborted();
      await tell(turn, `The model made ${what} ${times} times with the same outcome, and was stopped.`);
    }
    turn.signal.throwIfAborted();
    this.reset();
    if (answer === goOn) return true;
    const text = `\n\n_I stopped because I was making ${what} again and again with the same outcome. Tell me how to continue._`;
    await turn.say({ type: "text", text, annotations: { audience: ["user"] } });
    return false;
  }

  /** How often the last calls were made in a row, as one call or as a cycle of a few. */
  #repetition(): { readonly times: number; readonly calls: number } {
    let most = { times: 0, calls: 1 };
    for (let calls = 1; calls <= longestCycle; calls++) {
      const times = repetitions(this.#seen, calls);
      if (times > most.times) most = { times, calls };
    }
    return most;
  }
}

function repetitions(seen: readonly string[], calls: number): number {
  const cycle = seen.slice(-calls);
  let times = 0;
  for (let end = seen.length; end >= calls; end -= calls) {
    if (!cycle.every((hash, i) => seen[end - calls + i] === hash)) break;
    times += 1;
  }
  return times;
}

function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64");
}
