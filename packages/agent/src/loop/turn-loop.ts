// Runs a turn: asks the model and runs its tool calls until it makes no more; the transcript stays valid throughout.

import type { ContentBlock, StopReason } from "@parley/acp";
import type { Hooks } from "../hooks/hooks.ts";
import { continueRequest } from "../model/agent-requests.ts";
import { type Model, ModelError } from "../model/model.ts";
import type { Mode } from "../permissions/modes.ts";
import { type LocalCommand, readPrompt } from "../session/commands.ts";
import { answerTokens, compact, excessTokens } from "../session/compaction.ts";
import { effortOf, maxTokensOf } from "../session/options.ts";
import {
  tellOfUnusedMedia,
  userParts,
  withFittedImages,
  withoutUnusedMedia,
} from "../session/prompt-content.ts";
import { pruneOutput } from "../session/prune.ts";
import type { CodingTurn, Prefix } from "../session/session-state.ts";
import { shortenAttachments } from "../session/shorten-attachments.ts";
import { tell } from "../session/tell.ts";
import { showUsage } from "../session/usage.ts";
import type { Access, Tool, ToolContext } from "../tools/base/tool.ts";
import { LoopGuard } from "./loop-guard.ts";
import { type ModelStep, modelStep } from "./model-step.ts";
import type { RunCallOptions } from "./run-call.ts";
import { runCalls } from "./run-calls.ts";
import { runSubagent } from "./subagent.ts";

export interface LoopOptions {
  readonly turn: CodingTurn;
  /** The model chosen now; read before each request. */
  model(): Model;
  /** Runs a slash command that does not need the model. */
  local(command: LocalCommand, argument: string): Promise<void>;
  /** Replaces a command of the project, the user or an MCP server by the prompt that it stands for. */
  expand(prompt: readonly ContentBlock[]): Promise<readonly ContentBlock[]>;
  /** The tools that a mode allows. */
  tools(mode: Mode): readonly Tool[];
  /** The tools of all modes. */
  all(): readonly Tool[];
  prefix(): Prefix;
  /** What the model has to know now and may change; undefined when it is not told. */
  situation(): string | undefined;
  /** The rules of folders that calls have touched for the first time. */
  nestedRules(paths: readonly string[]): Promise<string | undefined>;
  readonly context: ToolContext;
  readonly hooks: Hooks | undefined;
  readonly maxRequests: number;
  readonly compactAt?: number;
}

const cutOff = "This call was not run: the answer was cut off at the token limit.";
/** How often in a row an answer that was cut off goes on. */
const maxCuts = 3;

/** The transcript already has the user's message. */
export async function runLoop(options: LoopOptions): Promise<StopReason> {
  const { turn } = options;
  const { data: state } = turn.session;
  const guard = new LoopGuard();
  const budget = { left: options.maxRequests };
  try {
    let hasText = false;
    let cuts = 0;
    for (let requests = 0; requests < options.maxRequests; requests++) {
      const step = await request(options);
      hasText ||= step.hasText;
      if (step.cause === "refusal") return "refusal";
      if (step.cause === "length") {
        await step.drafts.abandon(cutOff);
        state.transcript.settle(cutOff);
        cuts += 1;
        // a limit that the user has chosen is meant to end the answer
        if (cuts > maxCuts || maxTokensOf(turn.session) !== undefined) return "max_tokens";
        state.transcript.addUser([{ type: "text", text: continueRequest }]);
        continue;
      }
      cuts = 0;
      const { context } = options;
      const { drafts } = step;
      const tools = options.tools(state.modeNow(turn.session));
      const paths: string[] = [];
      const given: RunCallOptions = {
        turn,
        tools,
        all: options.all(),
        context,
        drafts,
        hooks: options.hooks,
        touched: (access) => void paths.push(...pathsOf(access)),
        delegate: (task, call) =>
          runSubagent(task, call, {
            turn,
            model: options.model(),
            tools,
            context,
            hooks: options.hooks,
            budget,
          }),
      };
      await runCalls(step.calls, given, (call, outcome) =>
        state.transcript.addOutcome(guard.checked(call, outcome)),
      );
      turn.signal.throwIfAborted();
      const rules = await options.nestedRules(paths);
      if (rules !== undefined) state.transcript.addNote(rules);
      const isSteered = await takeInbox(options);
      // /clear during the turn ends it
      if (state.transcript.isEmpty) return "end_turn";
      if (isSteered) guard.reset();
      else if (!(await guard.mayGoOn(turn))) return "end_turn";
      if (step.calls.length > 0 || isSteered) continue;
      if (!hasText) await turn.say("_The model gave no answer._");
      return "end_turn";
    }
    return "max_turn_requests";
  } finally {
    state.transcript.settle(
      turn.signal.aborted ? "The user aborted this call." : "This call was not run: the turn ended.",
    );
  }
}

/** One answer of the model. Shortens a conversation that is too long, and retries once. */
async function request(options: LoopOptions): Promise<ModelStep> {
  const { turn } = options;
  const model = options.model();
  await makeRoom(options, model, options.prefix());
  try {
    return await ask(options, model);
  } catch (error) {
    turn.signal.throwIfAborted();
    if (!(error instanceof ModelError) || error.kind !== "overflow") throw error;
    await shortenAttachments({ turn, model }, 1 / 8);
    const end = await compact({ turn, model, prefix: options.prefix(), isUrgent: true });
    if (end === "failed") throw error;
    return await ask(options, model);
  }
}

/** What is lost least comes first: attachments, then old output of tools, then a summary. */
async function makeRoom({ turn, compactAt }: LoopOptions, model: Model, prefix: Prefix): Promise<void> {
  const { data: state } = turn.session;
  const excess = () => excessTokens(state, model, prefix.system, compactAt);
  if (excess() > 0) await shortenAttachments({ turn, model }, 1 / 2);
  if (excess() > 0) await pruneOutput(turn, model, excess());
  if (excess() === 0 || state.hasFailedToCompact) return;
  state.hasFailedToCompact = (await compact({ turn, model, prefix })) === "failed";
}

async function ask(options: LoopOptions, model: Model): Promise<ModelStep> {
  const { turn } = options;
  // a summary may have renewed it
  const prefix = options.prefix();
  const { session } = turn;
  const { data: state } = session;
  const { transcript } = state;
  turn.signal.throwIfAborted();
  const situation = options.situation();
  if (situation !== undefined && situation !== state.situation) transcript.addNote(situation);
  state.situation = situation;
  const fitted = await withFittedImages(transcript.messages.slice(), model.facts);
  const messages = withoutUnusedMedia(fitted, model.facts);
  const step = await modelStep(
    turn,
    model,
    {
      ...prefix,
      messages,
      effort: effortOf(session),
      maxTokens: answerTokens(turn, model, prefix.system),
      cacheKey: session.sessionId,
    },
    options.all(),
    (parts) => transcript.addAssistant(parts),
  );
  const { usage } = step;
  if (usage !== undefined) {
    state.spend(usage, model.facts);
    state.counted = { tokens: usage.input + usage.output, messages: transcript.messages.length };
  }
  await showUsage(turn, model, prefix.system);
  return step;
}

/** Takes the prompts sent during the turn. True when the model has to answer one of them. */
async function takeInbox(options: LoopOptions): Promise<boolean> {
  const { turn } = options;
  const { data: state } = turn.session;
  let isAny = false;
  for (let message = turn.inbox.take(); message !== undefined; message = turn.inbox.take()) {
    const reading = readPrompt(message.prompt);
    if (reading.type === "local") {
      await options.local(reading.command, reading.argument);
      continue;
    }
    if (reading.mode !== undefined) state.turnMode = reading.mode;
    const prompt = await options.expand(reading.prompt).catch(async (error: unknown) => {
      turn.signal.throwIfAborted();
      await tell(turn, error instanceof Error ? error.message : "The command failed.");
      return undefined;
    });
    if (prompt === undefined) continue;
    const parts = userParts(prompt);
    await tellOfUnusedMedia(turn, parts, options.model().facts);
    if (state.transcript.addUser(parts)) isAny = true;
  }
  return isAny;
}

function pathsOf(access: Access): readonly string[] {
  if (access.type === "run") return [access.cwd];
  return access.type === "read" || access.type === "write" ? access.paths : [];
}
