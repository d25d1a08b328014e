// The turn: ask the model, run what it calls, tell it what came of it, until it has nothing more to do. Wherever it
// is cut off, the transcript stays one that a model takes.

import { type ContentBlock, RequestError, type Turn, type TurnEnd } from "@parley/acp";
import {
  type MediaPart,
  type Model,
  ModelError,
  type TextPart,
  type ToolDescription,
} from "../model/model.ts";
import type { Mode } from "../permissions/modes.ts";
import { type LocalCommand, readPrompt } from "../session/commands.ts";
import { compact, isFull } from "../session/compaction.ts";
import { effortOf, maxTokensOf } from "../session/options.ts";
import { userParts, withoutForeignMedia } from "../session/prompt-content.ts";
import type { SessionWork } from "../session/session-work.ts";
import { shortenAttachments } from "../session/shorten-attachments.ts";
import { tokensOfMessages, tokensOfText } from "../session/tokens.ts";
import type { Tool, ToolContext } from "../tools/base/tool.ts";
import { type ModelStep, modelStep } from "./model-step.ts";
import { runCalls } from "./run-calls.ts";

export interface LoopSetting {
  readonly turn: Turn;
  readonly work: SessionWork;
  /** As chosen now; asked before each request. */
  model(): Model;
  system(): string;
  /** Answers a command without the model. */
  local(command: LocalCommand, argument: string): Promise<TurnEnd>;
  /** What may be called in a mode. */
  tools(mode: Mode): readonly Tool[];
  readonly context: ToolContext;
  /** Requests to the model in one turn. */
  readonly maxRequests: number;
}

/** The user's message is in the transcript already. */
export async function runLoop(setting: LoopSetting): Promise<TurnEnd> {
  const { turn, work } = setting;
  try {
    let hasSpoken = false;
    for (let requests = 0; requests < setting.maxRequests; requests++) {
      const step = await request(setting);
      hasSpoken ||= step.hasSpoken;
      if (step.cause === "refusal") return "refusal";
      if (step.cause === "length") {
        work.transcript.settle("It was not run: the answer was cut off at the limit of tokens.");
        return "max_tokens";
      }
      const { context } = setting;
      const { drafts } = step;
      const tools = setting.tools(work.modeNow(turn.session));
      await runCalls(step.calls, { turn, work, tools, context, drafts }, (outcome) =>
        work.transcript.addOutcome(outcome),
      );
      turn.signal.throwIfAborted();
      const isSteered = await takeInbox(setting);
      // what was cleared meanwhile is not taken up again
      if (work.transcript.isEmpty) return "end_turn";
      if (step.calls.length > 0 || isSteered) continue;
      // silence looks like a fault of ours
      if (!hasSpoken) await turn.say("_The model gave no answer._");
      return "end_turn";
    }
    return "max_turn_requests";
  } finally {
    work.transcript.settle(
      turn.signal.aborted ? "It was aborted by the user." : "It was not run: the turn ended.",
    );
  }
}

/** One answer of the model. A conversation that is too long for it is compacted, and the request made once more. */
async function request(setting: LoopSetting): Promise<ModelStep> {
  const { turn, work } = setting;
  const model = setting.model();
  const system = setting.system();
  if (isFull(work, model, system)) await shortenAttachments({ turn, work, model }, 1 / 2);
  if (isFull(work, model, system)) await compact({ turn, work, model });
  try {
    return await ask(setting, model, system);
  } catch (error) {
    turn.signal.throwIfAborted();
    if (!(error instanceof ModelError) || error.kind !== "overflow") throw error;
    await shortenAttachments({ turn, work, model }, 1 / 8);
    await compact({ turn, work, model, isUrgent: true });
    return await ask(setting, model, system);
  }
}

async function ask(setting: LoopSetting, model: Model, system: string): Promise<ModelStep> {
  const { turn, work } = setting;
  const { session } = turn;
  const { transcript } = work;
  turn.signal.throwIfAborted();
  const tools = setting.tools(work.modeNow(session)).map(described);
  const messages = withoutForeignMedia(transcript.messages.slice(), model.facts);
  const step = await modelStep(
    turn,
    model,
    { system, messages, tools, effort: effortOf(session), maxTokens: maxTokensOf(session) },
    (parts) => transcript.addAssistant(parts),
  );
  await showUsage(setting, model, step, system);
  return step;
}

function described({ name, description, inputSchema }: Tool): ToolDescription {
  return { name, description, inputSchema };
}

/** How full the context is now, not how much was ever sent. */
async function showUsage(
  { turn, work }: LoopSetting,
  { facts }: Model,
  { usage }: ModelStep,
  system: string,
): Promise<void> {
  if (usage !== undefined) {
    work.spend(usage, facts);
    work.counted = { tokens: usage.input + usage.output, messages: work.transcript.messages.length };
  }
  const used = work.counted?.tokens ?? tokensOfText(system) + tokensOfMessages(work.transcript.messages);
  await turn.usage({
    used,
    size: facts.contextWindow,
    ...(work.cost === undefined ? {} : { cost: { amount: work.cost, currency: "USD" } }),
  });
  if (work.turnTokens !== undefined) turn.setTokens(work.turnTokens);
}

/** What the user said meanwhile; true when the model has something to say to it. */
async function takeInbox(setting: LoopSetting): Promise<boolean> {
  const { turn, work } = setting;
  let isAny = false;
  for (let message = turn.inbox.take(); message !== undefined; message = turn.inbox.take()) {
    const reading = readPrompt(message.prompt);
    if (reading.type === "local") {
      await setting.local(reading.command, reading.argument);
      continue;
    }
    if (reading.mode !== undefined) work.turnMode = reading.mode;
    if (work.transcript.addUser(await steeringParts(setting, reading.prompt))) isAny = true;
  }
  return isAny;
}

/** It is part of the conversation already: the work goes on without what the model cannot take. */
async function steeringParts(
  { turn, model }: LoopSetting,
  prompt: readonly ContentBlock[],
): Promise<(TextPart | MediaPart)[]> {
  const { facts } = model();
  try {
    return userParts(prompt, facts);
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    await turn.notice("warning", error.message);
    const words = prompt.filter(({ type }) => type === "text");
    return [...userParts(words, facts), { type: "text", text: `[${error.message}]` }];
  }
}
