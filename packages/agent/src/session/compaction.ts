// Replaces the older part of a long conversation by a summary, and never separates a tool call from its outcome.

import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@parley/acp";
import { summaryRequest } from "../model/agent-requests.ts";
import { type Model, ModelError, type ModelMessage } from "../model/model.ts";
import { plainSummary } from "../model/summary.ts";
import { tokensOfMessage, tokensOfMessages, tokensOfText } from "../model/tokens.ts";
import type { CodingTurn, SessionState } from "./session-state.ts";
import { tell } from "./tell.ts";

/** Leaves room for the answer and for estimation errors. */
const reserveTokens = 16_000;
const keepTokens = 20_000;
const summaryTitle = "Summary of the conversation so far:";

export interface Compaction {
  readonly turn: CodingTurn;
  readonly model: Model;
  /** The topic that the summary should preserve above all. */
  readonly focus?: string;
  /** The user asked for it: summarise everything. */
  readonly isWhole?: boolean;
  /** The provider rejected the request as too long, so our estimate was too low. */
  readonly isUrgent?: boolean;
}

/** The `_meta` key with the number of messages that a compaction kept. */
export const keptKey = "parley.dev/keptMessages";

export function isFull({ transcript, counted }: SessionState, { facts }: Model, system: string): boolean {
  const { messages } = transcript;
  const used =
    counted === undefined
      ? tokensOfText(system) + tokensOfMessages(messages)
      : counted.tokens + tokensOfMessages(messages.slice(counted.messages));
  return used > facts.contextWindow - Math.min(reserveTokens, facts.contextWindow / 4);
}

/** False when there was nothing to summarise. */
export async function compact({ turn, model, focus, ...how }: Compaction): Promise<boolean> {
  const { data: state } = turn.session;
  const { transcript } = state;
  const { messages } = transcript;
  const budget = Math.min(keepTokens, model.facts.contextWindow / 4);
  const kept = how.isWhole === true ? 0 : keptMessages(messages, how.isUrgent === true ? budget / 4 : budget);
  const older = messages.slice(0, messages.length - kept);
  if (older.length === 0) return false;
  // the current request must stay: without it the model would not know what to do
  if (how.isWhole !== true && how.isUrgent !== true && isOnlyRequest(older, messages)) return false;
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
    summary = await summarise(model, older, focus, turn.signal);
  } catch (error) {
    await show(
      turn.signal.aborted ? { status: "cancelled" } : { status: "failed", error: "the summary failed" },
    );
    throw error;
  }
  transcript.compact(summary, kept);
  state.counted = undefined;
  await show({ status: "completed", summary: [{ type: "text", text: summary }], _meta: { [keptKey]: kept } });
  const { length } = older;
  const note = `The conversation was getting long: its first ${length === 1 ? "message is" : `${length} messages are`} now a summary.`;
  // `/compact` answers by itself
  if (!turn.client.capabilities.compaction && how.isWhole !== true) await tell(turn, note, "info");
  return true;
}

/** Whether only the user's last message and earlier summaries would be left out. */
function isOnlyRequest(older: readonly ModelMessage[], messages: readonly ModelMessage[]): boolean {
  const request = messages.findLast(({ role }) => role === "user");
  return older.every((message) => {
    const [first] = message.role === "user" ? message.content : [];
    return message === request || (first?.type === "text" && first.text.startsWith(summaryTitle));
  });
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

async function summarise(
  model: Model,
  older: readonly ModelMessage[],
  focus: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const text =
    focus === undefined ? summaryRequest : `${summaryRequest}\nAbove all, keep what concerns: ${focus}`;
  let summary = "";
  try {
    const request = {
      system: "You summarise a conversation between a user and a coding agent.",
      messages: [...older, { role: "user" as const, content: [{ type: "text" as const, text }] }],
      tools: [],
      effort: "none" as const,
      maxTokens: 4_096,
      signal,
    };
    for await (const event of model.stream(request)) {
      signal.throwIfAborted();
      if (event.type === "text") summary += event.text;
    }
  } catch (error) {
    signal.throwIfAborted();
    // fall back to a summary without a model
    if (!(error instanceof ModelError) || error.kind === "auth") throw error;
    summary = "";
  }
  signal.throwIfAborted();
  const body = summary.trim() === "" ? plainSummary(older) : summary.trim();
  return `${summaryTitle}\n\n${body}`;
}
