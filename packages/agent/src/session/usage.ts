// Tells the client how full the context is now, and what the session has cost.

import { cachedShareKey } from "@parley/acp/extensions";
import type { Meta, Usage } from "@parley/acp/model";
import type { Model } from "../model/model.ts";
import { tokensOfMessages, tokensOfText } from "../model/tokens.ts";
import type { CodingTurn } from "./session-state.ts";

/** Not the sum of all requests. */
export async function showUsage(turn: CodingTurn, { facts }: Model, system: string): Promise<void> {
  const { counted, transcript, cost, turnTokens } = turn.session.data;
  const used = counted?.tokens ?? tokensOfText(system) + tokensOfMessages(transcript.messages);
  await turn.usage({
    used,
    size: facts.contextWindow,
    ...(cost !== undefined && { cost: { amount: Number(cost.toPrecision(12)), currency: "USD" } }),
    ...cachedShare(turnTokens),
  });
}

/** Nothing for a provider that does not report its cache. */
function cachedShare(tokens: Usage | undefined): { readonly _meta?: Meta } {
  if (tokens?.cachedReadTokens == null || tokens.inputTokens === 0) return {};
  const share = tokens.cachedReadTokens / tokens.inputTokens;
  return { _meta: { [cachedShareKey]: Math.round(share * 1_000) / 1_000 } };
}
