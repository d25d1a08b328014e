// Leaves out the output of old tool calls, which a model can have again, before a conversation is summarised.

import type { Model, ModelMessage, ToolOutcome } from "../model/model.ts";
import { tokensOfMessage } from "../model/tokens.ts";
import type { CodingTurn } from "./session-state.ts";
import { tell } from "./tell.ts";

/** The output that recent calls keep. */
const recentTokens = 40_000;
const leftOut = "[The rest of this output was dropped to save space. Call the tool again if you need it.]";
/** A shorter output stays. */
const shortCharacters = 800;
/** What stays of a longer one, at its beginning and at its end: it says what the output was. */
const edgeCharacters = 200;

/**
 * Does nothing when that would save less than `excess` or little: a changed conversation is not in the provider's cache,
 * and a summary that follows anyway should see everything.
 */
export async function pruneOutput(turn: CodingTurn, { facts }: Model, excess: number): Promise<void> {
  const { data: state } = turn.session;
  const { messages, tokens, calls } = withoutOldOutput(
    state.transcript.messages,
    Math.min(recentTokens, facts.contextWindow / 4),
  );
  if (tokens < Math.max(excess, facts.contextWindow / 5)) return;
  state.transcript.replace(messages);
  const { counted } = state;
  if (counted !== undefined) state.counted = { ...counted, tokens: Math.max(0, counted.tokens - tokens) };
  const what = calls === 1 ? "an earlier call" : `${calls} earlier calls`;
  await tell(turn, `The conversation was getting long: the output of ${what} was shortened.`, "info");
}

/** The messages without tool output older than the last `recent` tokens, and how many tokens and calls that saves. */
export function withoutOldOutput(
  messages: readonly ModelMessage[],
  recent: number,
): { readonly messages: readonly ModelMessage[]; readonly tokens: number; readonly calls: number } {
  let age = 0;
  let tokens = 0;
  let calls = 0;
  const changed = messages.toReversed().map((message): ModelMessage => {
    age += tokensOfMessage(message);
    if (message.role !== "tool" || age <= recent) return message;
    const outcomes = message.outcomes.map((outcome) => (isLong(outcome) ? pruned(outcome) : outcome));
    calls += outcomes.filter((outcome, i) => outcome !== message.outcomes[i]).length;
    const shorter = { ...message, outcomes };
    tokens += tokensOfMessage(message) - tokensOfMessage(shorter);
    return shorter;
  });
  return { messages: changed.toReversed(), tokens, calls };
}

function isLong({ content }: ToolOutcome): boolean {
  return content.some((part) => part.type !== "text" || part.text.length > shortCharacters);
}

function pruned(outcome: ToolOutcome): ToolOutcome {
  const text = outcome.content
    .map((part) => (part.type === "text" ? part.text : `[${part.type}]`))
    .join("\n");
  const start = text.slice(0, edgeCharacters);
  const end = text.slice(Math.max(edgeCharacters, text.length - edgeCharacters));
  return { ...outcome, content: [{ type: "text", text: `${start}\n${leftOut}\n${end}`.trim() }] };
}
