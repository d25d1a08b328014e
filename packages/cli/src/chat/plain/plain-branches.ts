// Going back to an earlier prompt in the plain face, beginning anew, and what fills the context.

import type { RewindOutcome } from "@parley/client/conversation";
import { safeText } from "../../terminal/sanitise.ts";
import { noCompaction, ofAgent } from "../branches/agent-commands.ts";
import { contextLines } from "../branches/context-lines.ts";
import {
  isWorking,
  promptFacts,
  promptLine,
  rewindLines,
  undoHelp,
  undoLabel,
} from "../branches/rewind-lines.ts";
import type { Conversations } from "../conversation/conversations.ts";
import { type Choice, type PickInput, pickByNumber } from "./pick-by-number.ts";

export interface PlainBranchOptions extends PickInput {
  readonly conversation: Conversations;
  /** Puts a text into the line that is typed. Absent: it is only said. */
  put?(text: string): void;
}

/** The choice that goes back to the branch that was left. */
const undo = Symbol("undo");

export async function runBranchCommand(
  action: "rewind" | "context" | "clearContext" | "compact",
  rest: string,
  options: PlainBranchOptions,
): Promise<void> {
  const { conversation, say } = options;
  const session = conversation.current;
  if (action === "rewind") return rewind(rest, options);
  const sent = ofAgent(session, action === "clearContext" ? "clear" : action, rest);
  if (sent !== undefined) return session.send({ text: sent });
  if (action === "context") return say(contextLines(session.view, { hasBars: false }).join("\n"));
  if (session.phase === "starting") return say("The agent is starting: try again when it is ready.");
  if (action === "compact") return say(noCompaction(session.agent.name));
  conversation.open({ kind: "like", of: session });
}

async function rewind(rest: string, options: PlainBranchOptions): Promise<void> {
  const session = options.conversation.current;
  const { from } = session.branches ?? {};
  if (rest === "undo") {
    if (from !== undefined) return went(await session.undoRewind(), options);
    return options.say("There is no rewind to undo: this session was not begun by one.");
  }
  if (session.turn !== undefined) return options.say(isWorking);
  const prompts = session.prompts.toReversed().map((prompt): Choice<string | typeof undo> => {
    return { label: `${promptLine(prompt)} (${promptFacts(prompt)})`, value: prompt.messageId };
  });
  const back = from === undefined ? [] : [{ label: `${undoLabel}: ${undoHelp}`, value: undo } as const];
  const chosen = await pickByNumber("Rewind to before", [...prompts, ...back], options);
  if (chosen === undefined) return;
  await went(await (chosen === undo ? session.undoRewind() : session.rewind(chosen)), options);
}

async function went(outcome: RewindOutcome, { conversation, say, put }: PlainBranchOptions): Promise<void> {
  const { cwd } = conversation.open({ kind: "kept", id: outcome.session.historyId ?? "" });
  say(rewindLines(outcome, cwd, "the list of sessions (/resume)").join("\n"));
  const { text } = outcome.input ?? {};
  if (text === undefined) return;
  say(`Your prompt was: ${safeText(text)}`);
  // a line cannot have several
  if (!text.includes("\n")) put?.(text);
}
