// Prompts the agent behind, in the session of a turn, and shows what it does as work of the turn.

import type { ContentBlock } from "../../../model/content.ts";
import type { Successor } from "../../../model/successor.ts";
import type { OutgoingUpdate, PromptResult, SessionUpdate } from "../../../model/update.ts";
import type { RunningTurn } from "./running-turn.ts";

/** How the agent behind is prompted. */
export interface SuccessorOptions {
  /** Whether the client sees what the agent behind says and does. Default true. */
  readonly show?: boolean;
  /** Called with each update of the agent behind. */
  readonly onUpdate?: (update: SessionUpdate) => void;
}

/** The agent behind, in a chain of agents. */
export interface TurnSuccessor {
  /**
   * Prompts the agent behind, in a session of its own that goes with this one. Its questions reach the client, and its turn is
   * cancelled with this one.
   *
   * @param content What to ask it. Default: the prompt of the turn.
   */
  prompt(content?: string | readonly ContentBlock[], options?: SuccessorOptions): Promise<PromptResult>;
}

/** What the agent behind says and does; what it says of its session is not of this one. */
const shown = /^(?:agent_|tool_call|plan|terminal_|notice$)/;

export function turnSuccessor(successor: Successor, turn: RunningTurn): TurnSuccessor {
  return {
    async prompt(content = turn.prompt, { show = true, onUpdate } = {}) {
      turn.checkOpen("turn.successor.prompt");
      const blocks = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
      return successor.prompt(turn.session, blocks, {
        signal: turn.signal,
        update(update) {
          onUpdate?.(update);
          if (show && !turn.hasEnded && shown.test(update.sessionUpdate))
            void turn.update(update as OutgoingUpdate); // what an agent sent can be sent on
        },
        async permission(ask) {
          const { options, ...question } = ask;
          const chosen = await turn.questions.permission({ ...question, options: [...options] });
          return chosen === undefined
            ? { outcome: "cancelled" }
            : { outcome: "selected", optionId: chosen.optionId };
        },
        elicit: (ask) => turn.elicit(ask),
      });
    },
  };
}
