// Replaces the older part of a long conversation by a summary of the model; the user's own words stay as they are.

import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@parley/acp";
import { keptMessagesKey, keptRequestTokensKey } from "@parley/acp/extensions";
import { summaryRequest } from "../model/agent-requests.ts";
import { assistantMessage } from "../model/assistant-message.ts";
import { type Effort, type Model, ModelError, type ModelMessage, type ModelRequest } from "../model/model.ts";
import { tokensOfMessage, tokensOfMessages, tokensOfText } from "../model/tokens.ts";
import { effortOf, maxTokensOf } from "./options.ts";
import { withoutUnusedMedia } from "./prompt-content.ts";
import { withoutOldOutput } from "./prune.ts";
import type { CodingSessionState, CodingTurn, Prefix } from "./session-state.ts";
import { tell } from "./tell.ts";
import { summaryTitle } from "./transcript.ts";
import { showUsage } from "./usage.ts";

/** Leaves room for the answer and for estimation errors. */
const reserveTokens = 16_000;
const keepTokens = 20_000;
/** The part of the window to count on, since our estimates are not exact. */
const roundingShare = 0.98;
/** With less room the conversation has to become shorter. */
const leastAnswer = 4_000;

export interface Compaction {
  readonly turn: CodingTurn;
  readonly model: Model;
  readonly prefix: Prefix;
  /** The topic that the summary should preserve above all. */
  readonly focus?: string;
  /** The user asked for it: summarise everything. */
  readonly isWhole?: boolean;
  /** The provider rejected the request as too long, so our estimate was too low. */
  readonly isUrgent?: boolean;
}

/** How many tokens too long the conversation is. `compactAt`: the part of the context window that it may take. */
export function excessTokens(
  state: Pick<CodingSessionState, "transcript" | "counted">,
  { facts }: Model,
  system: string,
  compactAt = 1,
): number {
  const { contextWindow } = facts;
  const limit = Math.min(
    contextWindow * compactAt,
    contextWindow - Math.min(reserveTokens, contextWindow / 4),
  );
  return Math.max(0, usedTokens(state, system) - limit);
}

/**
 * The most tokens that an answer can have; undefined when the provider decides. Providers refuse a request when its input
 * and the longest answer together are more than the context window. `state` is that of a subagent, else of the session.
 */
export function answerTokens(
  { session }: CodingTurn,
  { facts: { contextWindow, maxOutput } }: Model,
  system: string,
  state: Pick<CodingSessionState, "transcript" | "counted"> = session.data,
): number | undefined {
  const wanted = maxTokensOf(session);
  if (maxOutput === undefined) return wanted;
  const left = contextWindow * roundingShare - usedTokens(state, system);
  const fitting = Math.min(maxOutput, Math.max(leastAnswer, Math.floor(left)));
  return Math.min(wanted ?? fitting, fitting);
}

/** A short limit leaves more room for what is summarised. */
function summaryTokens(turn: CodingTurn, model: Model, system: string): number | undefined {
  const { maxOutput } = model.facts;
  return maxOutput === undefined
    ? undefined
    : Math.min(reserveTokens, answerTokens(turn, model, system) ?? maxOutput);
}

function usedTokens(
  { transcript, counted }: Pick<CodingSessionState, "transcript" | "counted">,
  system: string,
): number {
  const { messages } = transcript;
  if (counted === undefined) return tokensOfText(system) + tokensOfMessages(messages);
  return counted.tokens + tokensOfMessages(messages.slice(counted.messages));
}

/**
 * `nothing`: there was nothing to summarise. `failed`: the model could not summarise it. The user was told, and the
 * conversation is as it was.
 */
export async function compact(compaction: Compaction): Promise<"done" | "nothing" | "failed"> {
  const { turn, model, isWhole = false, isUrgent = false } = compaction;
  const { data: state } = turn.session;
  const { transcript } = state;
  const { messages } = transcript;
  const share = isUrgent ? 4 : 1;
  const budget = Math.min(keepTokens, model.facts.contextWindow / 4) / share;
  const requestTokens = Math.floor(Math.min(keepTokens, model.facts.contextWindow / 5) / share);
  const kept = isWhole ? 0 : keptMessages(messages, budget);
  const older = messages.slice(0, messages.length - kept);
  if (older.length === 0) return "nothing";
  // the user's messages stay, so there is nothing to leave out
  if (!isWhole && !isUrgent && older.every(({ role }) => role === "user")) return "nothing";
  const compactionId = randomUUID();
  const show = (
    update: Omit<
      Extract<SessionUpdate, { sessionUpdate: "compaction_update" }>,
      "sessionUpdate" | "compactionId"
    >,
  ) => turn.update({ sessionUpdate: "compaction_update", compactionId, ...update });
  await show({ status: "in_progress" });
  let summary: string;
  try {
    summary = `${summaryTitle}\n\n${await summarise(compaction, older)}`;
  } catch (error) {
    if (turn.signal.aborted) await show({ status: "cancelled" });
    else
      await show({ status: "failed", error: error instanceof Error ? error.message : "the summary failed" });
    turn.signal.throwIfAborted();
    if (!(error instanceof ModelError) || error.kind === "auth") throw error;
    await tell(turn, `The conversation could not be summarised and stays unchanged: ${error.message}`);
    return "failed";
  }
  transcript.compact(summary, { kept, requestTokens });
  state.renew();
  await show({
    status: "completed",
    summary: [{ type: "text", text: summary }],
    _meta: { [keptMessagesKey]: kept, [keptRequestTokensKey]: requestTokens },
  });
  await showUsage(turn, model, compaction.prefix.system);
  const { length } = older;
  const note = `The conversation was getting long: its first ${length === 1 ? "message was" : `${length} messages were`} replaced by a summary.`;
  // `/compact` answers by itself
  if (!turn.client.capabilities.compaction && !isWhole) await tell(turn, note, "info");
  return "done";
}

/** How many of the last messages fit the budget, not starting with an outcome. */
function keptMessages(messages: readonly ModelMessage[], budget: number): number {
  let tokens = 0;
  let kept = 0;
  for (let i = messages.length - 1; i > 0; i--) {
    const message = messages[i];
    if (message === undefined) break;
    tokens += tokensOfMessage(message);
    // the current request stays, however long it is
    const isCurrent = i === messages.length - 1 && message.role === "user";
    if (tokens > budget && !isCurrent) break;
    if (message.role !== "tool") kept = messages.length - i;
  }
  return kept;
}

/**
 * Asks again with less when the conversation is too long to be summarised: without thinking, which takes room too, then
 * without output of tools, then with the last part only.
 */
async function summarise(compaction: Compaction, older: readonly ModelMessage[]): Promise<string> {
  const { model, turn } = compaction;
  const { messages: words } = withoutOldOutput(older, 0);
  const last = words.slice(words.length - keptMessages(words, model.facts.contextWindow / 3));
  const attempts: readonly (readonly [messages: readonly ModelMessage[], effort: Effort])[] = [
    // another effort would not find the conversation in the cache
    [older, effortOf(turn.session)],
    [older, "none"],
    [words, "none"],
    [last, "none"],
  ];
  let failure: unknown;
  for (const [messages, effort] of attempts) {
    if (messages.length === 0) continue;
    try {
      const summary = await summaryOf(compaction, messages, effort);
      const lost = older.length - messages.length;
      return lost === 0
        ? summary
        : `${summary}\n[The ${lost} messages before that were too long to be summarised.]`;
    } catch (error) {
      if (!(error instanceof ModelError) || error.kind !== "overflow") throw error;
      failure = error;
    }
  }
  throw failure;
}

async function summaryOf(
  { turn, model, prefix, focus }: Compaction,
  older: readonly ModelMessage[],
  effort: Effort,
): Promise<string> {
  const { signal, session } = turn;
  const text =
    focus === undefined ? summaryRequest : `${summaryRequest}\nAbove all, keep everything about: ${focus}`;
  const messages = withoutUnusedMedia(older.slice(), model.facts);
  const request: ModelRequest = {
    ...prefix,
    messages: [...messages, { role: "user", content: [{ type: "text", text }] }],
    effort,
    maxTokens: summaryTokens(turn, model, prefix.system),
    cacheKey: session.sessionId,
    signal,
  };
  const answer = assistantMessage();
  let isCut = false;
  for await (const event of model.stream(request)) {
    signal.throwIfAborted();
    if (event.type === "interrupted") answer.interrupt(event);
    else answer.add(event);
    if (event.type !== "end") continue;
    isCut = event.cause === "length";
    if (event.usage !== undefined) session.data.spend(event.usage, model.facts);
  }
  signal.throwIfAborted();
  const summary = answer.message.content.map((part) => (part.type === "text" ? part.text : "")).join("");
  if (summary.trim() === "")
    throw new ModelError("cut_off", `${model.facts.name} gave no summary: try again`);
  return isCut ? `${summary.trim()}\n[the summary was cut off here]` : summary.trim();
}
