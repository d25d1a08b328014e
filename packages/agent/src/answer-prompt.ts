// Answers one prompt: reads it, runs the model loop and reports failures to the client.

import { type PromptResult, RequestError, type StopReason } from "@parley/acp";
import { optional } from "@parley/acp/internal";
import { runLoop } from "./loop/turn-loop.ts";
import { type Model, ModelError, type ToolDescription } from "./model/model.ts";
import { offlineModelId } from "./offline/offline-model.ts";
import { type Mode, offeredTools } from "./permissions/modes.ts";
import { clientVetoes } from "./permissions/vetoes.ts";
import { type LocalCommand, readPrompt } from "./session/commands.ts";
import type { Prefix } from "./session/compaction.ts";
import { runLocalCommand } from "./session/local-commands.ts";
import { modelOf } from "./session/options.ts";
import { tellOfUnusedMedia, userParts } from "./session/prompt-content.ts";
import { rebuild } from "./session/rebuild.ts";
import { type CodingTurn, checkRoots, type SessionState } from "./session/session-state.ts";
import { type ContextFile, contextFiles, situation, systemPrompt } from "./session/system-prompt.ts";
import { tell } from "./session/tell.ts";
import type { CommandSandbox, Tool } from "./tools/base/tool.ts";
import { tools as codingTools } from "./tools/coding-tools.ts";
import { openWorkspace } from "./tools/workspace.ts";

export interface PromptOptions {
  readonly models: readonly [Model, ...Model[]];
  readonly tools: readonly Tool[] | undefined;
  readonly maxRequests: number;
  /** The part of the context window that a conversation may take before it is summarised. */
  readonly compactAt?: number;
  readonly privateHosts: readonly string[];
  readonly sandbox: CommandSandbox;
  /** Takes PATH for commands from the user's login shell. */
  readonly loginShell: boolean;
  /** The folder of the user's own instructions, skills and commands. */
  readonly userFolder?: string;
  readonly offlineNotice: () => boolean;
  /** Whether the end of a turn says how many tokens it took. */
  readonly reportsUsage: boolean;
}

export async function answerPrompt(turn: CodingTurn, options: PromptOptions): Promise<PromptResult> {
  turn.session.data.turnTokens = undefined;
  turn.session.data.hasFailedToCompact = false;
  let stopReason: StopReason;
  try {
    stopReason = await answer(turn, options);
  } catch (error) {
    if (!turn.signal.aborted) throw error;
    stopReason = "cancelled";
  }
  const { turnTokens } = turn.session.data;
  return { stopReason, ...optional({ usage: options.reportsUsage ? turnTokens : undefined }) };
}

/** Runs one turn: prepares the conversation, runs the loop and names the session. */
async function answer(turn: CodingTurn, options: PromptOptions): Promise<StopReason> {
  const { session } = turn;
  const { models, tools = codingTools } = options;
  const { data: state } = session;
  // deferred to the first prompt, so that opening and closing a session costs nothing
  if (state.hasHistory) {
    await rebuild(session.history(), state, turn.messageId);
    state.hasHistory = false;
  }
  const reading = readPrompt(turn.prompt);
  state.turnMode = reading.type === "prompt" ? reading.mode : undefined;
  const model = () => modelOf(session, models);
  const vetoes = clientVetoes(turn);
  const all = () => [...tools, ...state.mcp.tools];
  const offered = (mode: Mode) => offeredTools(all(), mode);
  const isOffline = () => model().facts.id === offlineModelId;
  const prefixWith = (context: readonly ContextFile[]): Prefix => {
    const roots = session.roots.join("\n");
    if (state.system?.roots !== roots) state.system = { roots, text: systemPrompt(session, context) };
    // the offline model has no cache, and knows the mode by its tools
    const sent = isOffline() ? offered(state.modeNow(session)) : all();
    return { system: state.system.text, tools: sent.map(describedTool) };
  };
  const local = (command: LocalCommand, argument: string) =>
    runLocalCommand(command, argument, {
      turn,
      models,
      isOffline: isOffline(),
      async prefix() {
        await state.mcp.ready(turn);
        return prefixWith(await contextFiles(session.roots, vetoes));
      },
    });
  if (reading.type === "local") {
    await local(reading.command, reading.argument);
    return "end_turn";
  }
  const isFirst = !state.transcript.messages.some(({ role }) => role === "assistant");
  let prompt = reading.prompt;
  let parts: ReturnType<typeof userParts> = [];
  let hasContent = false;
  state.transcript.beginTurn();
  try {
    await state.mcp.ready(turn);
    prompt = await state.mcp.expand(prompt, turn.signal);
  } finally {
    // also on failure, since the session history has the prompt
    parts = userParts(prompt);
    hasContent = state.transcript.addUser(parts);
  }
  if (!hasContent) throw emptyPrompt();
  await tellOfUnusedMedia(turn, parts, model().facts);
  await checkRoots(session.roots);
  const [workspace, files] = await Promise.all([
    state.workspaceOf(session, (given) =>
      openWorkspace({ ...given, sandbox: options.sandbox, loginShell: options.loginShell }),
    ),
    contextFiles(session.roots, vetoes),
  ]);
  const usesOwn = await workspace.usesOwn(vetoes, state.modeNow(session));
  const services = workspace.services(turn.client, vetoes, usesOwn);
  try {
    const end = await runLoop({
      turn,
      model,
      local,
      prefix: () => prefixWith(files),
      situation: () =>
        isOffline() ? undefined : situation(state.modeNow(session), services.jobs.running, new Date()),
      tools: offered,
      all,
      context: {
        ...services,
        signal: turn.signal,
        web: { privateHosts: options.privateHosts },
        ...optional({ vetoes }),
      },
      maxRequests: options.maxRequests,
      ...optional({ compactAt: options.compactAt }),
    });
    if (end === "refusal") forgetTurn(state);
    if (isFirst && isOffline() && options.offlineNotice()) await announceOffline(turn);
    nameSession(turn);
    return end;
  } catch (error) {
    if (!(error instanceof ModelError) || turn.signal.aborted) throw error;
    if (error.kind !== "refused") throw requestError(error);
    await tell(turn, error.message);
    forgetTurn(state);
    return "refusal";
  }
}

function describedTool({ name, description, inputSchema }: Tool): ToolDescription {
  return { name, description, inputSchema };
}

/** The client removes a refused prompt and what follows from the conversation, so the model does not get it again. */
function forgetTurn(state: SessionState): void {
  state.transcript.forgetTurn();
  state.counted = undefined;
  state.situation = undefined;
}

const offlineTitle = "This is the offline model: fixed rules, no AI";
const offlineHelp = "For real help configure a model, see `parley help agent`.";

/** Shown as a notice, so that scripts can use the answer as it is; without notices, at the end of the answer. */
async function announceOffline(turn: CodingTurn): Promise<void> {
  if (turn.client.capabilities.notices) return turn.notice("info", offlineTitle, offlineHelp);
  const text = `\n\n_${offlineTitle}. ${offlineHelp}_`;
  await turn.say({ type: "text", text, annotations: { audience: ["user"] } });
}

function nameSession({ text, session }: CodingTurn): void {
  if (session.data.isTitled) return;
  const title = titleOf(text.replace(/^\s*\/[a-z]+\s*/, "")) ?? titleOf(text);
  if (title === undefined) return;
  session.data.isTitled = true;
  session.setTitle(title);
}

function emptyPrompt(): RequestError {
  const message = "The prompt is empty. Write something or attach a file.";
  return new RequestError("invalid_params", message, { data: { reason: "empty_prompt", path: "/prompt" } });
}

function requestError(error: ModelError): RequestError {
  const known =
    error.kind === "auth" ? "auth_required" : error.kind === "rate_limit" ? "rate_limited" : undefined;
  const reason = known ?? `model_${error.kind}`;
  const retryAfter = error.retryAfterMs === undefined ? undefined : Math.ceil(error.retryAfterMs / 1000);
  return new RequestError(known ?? "unavailable", error.message, {
    data: { reason, ...optional({ retryAfter }) },
  });
}

const maxTitleLength = 60;

/** The first line of text, without Markdown and not too long. */
function titleOf(text: string): string | undefined {
  const line = text
    .split("\n")
    .map((each) =>
      each
        .replaceAll(/[`*_#>]+/g, "")
        .replaceAll(/\s+/g, " ")
        .trim(),
    )
    .find((each) => each !== "");
  if (line === undefined) return undefined;
  if (line.length <= maxTitleLength) return line;
  const cut = line.slice(0, maxTitleLength);
  const end = cut.lastIndexOf(" ");
  return `${end > maxTitleLength / 2 ? cut.slice(0, end) : cut}…`;
}
