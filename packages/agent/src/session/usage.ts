// Tells the client how full the context is now, and what the session has cost.

import type { Model } from "../model/model.ts";
import { tokensOfMessages, tokensOfText } from "../model/tokens.ts";
import type { CodingTurn } from "./session-state.ts";

/** Not the sum of all requests. */
export async function showUsage(turn: CodingTurn, { facts }: Model, system: string): Promise<void> {
  const { counted, transcript, cost } = turn.session.data;
  const used = counted?.tokens ?? tokensOfText(system) + tokensOfMessages(transcript.messages);
  await turn.usage({
    used,
    size: facts.contextWindow,
    ...(cost !== undefined && { cost: { amount: Number(cost.toPrecision(12)), currency: "USD" } }),
  });
}
