// Answers one prompt: reads it, runs the model loop and reports failures to the client.

import { type ContentBlock, type PromptResult, RequestError, type StopReason } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { Hooks } from "./hooks/hooks.ts";
import { runLoop } from "./loop/turn-loop.ts";
import { type Model, ModelError, type ToolDescription } from "./model/model.ts";
import { familyOf } from "./model/model-family.ts";
import { offlineModelId } from "./offline/offline-model.ts";
import { type Mode, offeredTools } from "./permissions/modes.ts";
import { clientVetoes } from "./permissions/vetoes.ts";
import { localProviderIds } from "./providers/builtin-providers.ts";
import { type LocalCommand, ownNames, readPrompt } from "./session/commands.ts";
import { houseRules, nestedRules, type RulesFile } from "./session/house-rules.ts";
import { runLocalCommand } from "./session/local-commands.ts";
import { modelOf, modeOf } from "./session/options.ts";
import { tellOfUnusedMedia, userParts } from "./session/prompt-content.ts";
import { rebuild } from "./session/rebuild.ts";
import {
  type CodingSessionState,
  type CodingTurn,
  checkRoots,
  type Prefix,
} from "./session/session-state.ts";
import { situation, systemPrompt } from "./session/system-prompt.ts";
import { tell } from "./session/tell.ts";
import { projectFolders } from "./skills/project-folders.ts";
import { foldersOutside, readableSkills, type Skill, skillTool } from "./skills/skills.ts";
import type { CommandSandbox, Tool } from "./tools/base/tool.ts";
import { codingTools } from "./tools/coding-tools.ts";
import { openWorkspace } from "./tools/workspace.ts";

export interface PromptOptions {
  readonly models: readonly [Model, ...Model[]];
  readonly tools?: readonly Tool[];
  readonly extraTools?: readonly Tool[];
  readonly systemPrompt?: string | ((ours: string) => string);
  /** Finds the models of servers on this machine. */
  readonly discover?: () => Promise<void>;
  readonly maxRequests: number;
  /** The part of the context window that a conversation may take before it is summarised. */
  readonly compactAt?: number;
  readonly privateHosts: readonly string[];
  readonly sandbox: CommandSandbox;
  /** Takes PATH for commands from the user's login shell. */
  readonly loginShell: boolean;
  /** The folder of the user's own instructions, skills and commands. */
  readonly userFolder?: string;
  readonly hooks: Hooks | undefined;
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
  } finally {
    await turn.session.data.undo.end();
  }
  const { turnTokens } = turn.session.data;
  return { stopReason, ...optional({ usage: options.reportsUsage ? turnTokens : undefined }) };
}

/** Runs one turn: prepares the conversation, runs the loop and names the session. */
async function answer(turn: CodingTurn, options: PromptOptions): Promise<StopReason> {
  const { session } = turn;
  const models = await knownModels(turn, options);
  const tools = withExtras(options.tools ?? codingTools, options.extraTools ?? []);
  const { data: state } = session;
  const vetoes = clientVetoes(turn);
  state.grants.isKept = vetoes === undefined;
  // deferred to the first prompt, so that opening and closing a session costs nothing
  if (state.hasHistory) {
    await rebuild(session.history(), state, turn.messageId);
    state.hasHistory = false;
  }
  const { userFolder } = options;
  const places = { projectFolders: projectFolders(session.roots), ...optional({ userFolder }) };
  if (await state.custom.refresh(places, ownNames))
    session.setAvailableCommands(state.commands(modeOf(session)));
  const reading = readPrompt(turn.prompt);
  state.turnMode = reading.type === "prompt" ? reading.mode : undefined;
  const model = () => modelOf(session, models);
  let skills: readonly Skill[] = [];
  const all = () => [...tools, ...(skills.length === 0 ? [] : [skillTool(skills)]), ...state.mcp.tools];
  const offered = (mode: Mode) => offeredTools(all(), mode);
  const isOffline = () => model().facts.id === offlineModelId;
  const rulesNow = () => houseRules({ roots: session.roots, vetoes, userFolder });
  // the offline model uses none
  const lookForSkills = async () => {
    skills = isOffline() ? [] : await readableSkills(state.custom.skills, vetoes);
  };
  const prefixWith = (rules: readonly RulesFile[]): Prefix => {
    const family = familyOf(model().facts.id);
    // another family has another cache, so that nothing is lost
    const key = [family, ...session.roots].join("\n");
    if (state.prefix?.key !== key) {
      const own = optional({ more: options.systemPrompt });
      const system = systemPrompt(session, { rules, family, skills, ...own });
      state.prefix = { key, system, tools: all().map(describedTool) };
    }
    // the offline model has no cache, and knows the mode by its tools
    if (!isOffline()) return state.prefix;
    return { system: state.prefix.system, tools: offered(state.modeNow(session)).map(describedTool) };
  };
  const local = (command: LocalCommand, argument: string) =>
    runLocalCommand(command, argument, {
      turn,
      models,
      isOffline: isOffline(),
      async prefix() {
        await Promise.all([state.mcp.ready(turn), lookForSkills()]);
        return prefixWith(await rulesNow());
      },
    });
  if (reading.type === "local") {
    await local(reading.command, reading.argument);
    return "end_turn";
  }
  const expand = async (given: readonly ContentBlock[]) => {
    const custom = await state.custom.expand(given, vetoes);
    // a file of the project does not use the prompts of the user's servers
    return custom === given ? state.mcp.expand(given, turn.signal) : custom;
  };
  const isFirst = !state.transcript.messages.some(({ role }) => role === "assistant");
  let prompt = reading.prompt;
  let parts: ReturnType<typeof userParts> = [];
  let hasContent = false;
  state.transcript.beginTurn();
  try {
    await Promise.all([state.mcp.ready(turn), lookForSkills()]);
    if (!isOffline()) await tellOfChangedTools(turn, all().map(describedTool));
    prompt = await expand(prompt);
  } finally {
    // also on failure, since the session history has the prompt
    parts = userParts(prompt);
    hasContent = state.transcript.addUser(parts);
  }
  if (!hasContent) throw emptyPrompt();
  await tellOfUnusedMedia(turn, parts, model().facts);
  await checkRoots(session.roots);
  const [workspace, rules, git] = await Promise.all([
    state.workspaceOf(session, (given) =>
      openWorkspace({
        ...given,
        sandbox: options.sandbox,
        loginShell: options.loginShell,
        readOnly: () => state.mcp.files,
      }),
    ),
    rulesNow(),
    // once a turn: the model knows what it changes itself
    isOffline() ? undefined : state.git.line(session, turn.signal),
  ]);
  const usesOwn = await workspace.usesOwn(vetoes, state.modeNow(session));
  const services = workspace.services(turn.client, vetoes, usesOwn, foldersOutside(skills));
  try {
    const end = await runLoop({
      turn,
      model,
      local,
      expand,
      prefix: () => prefixWith(rules),
      situation() {
        if (isOffline()) return undefined;
        return situation(state.modeNow(session), { jobs: services.jobs.running, git, now: new Date() });
      },
      async nestedRules(paths) {
        if (isOffline()) return undefined;
        return nestedRules(paths, state.knownFolders, { roots: session.roots, vetoes });
      },
      tools: offered,
      all,
      context: {
        ...services,
        signal: turn.signal,
        web: { privateHosts: options.privateHosts },
        ...optional({ vetoes }),
      },
      maxRequests: options.maxRequests,
      hooks: options.hooks,
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

/** A server on this machine knows the window and the efforts of its model: what it says is waited for. */
async function knownModels(
  { session }: CodingTurn,
  options: PromptOptions,
): Promise<PromptOptions["models"]> {
  const [provider = ""] = modelOf(session, options.models).facts.id.split("/", 1);
  if (localProviderIds.includes(provider)) await options.discover?.();
  return options.models;
}

function withExtras(tools: readonly Tool[], extras: readonly Tool[]): readonly Tool[] {
  const byName = new Map([...tools, ...extras].map((tool) => [tool.name, tool]));
  return [...byName.values()];
}

function describedTool({ name, description, inputSchema }: Tool): ToolDescription {
  return { name, description, inputSchema };
}

/** The client removes a refused prompt and what follows from the conversation, so the model does not get it again. */
function forgetTurn(state: CodingSessionState): void {
  state.transcript.forgetTurn();
  state.counted = undefined;
  state.forgetNotes();
}

/** The model keeps the list of tools that it knows, since a changed one would not be in the provider's cache. */
async function tellOfChangedTools(turn: CodingTurn, now: readonly ToolDescription[]): Promise<void> {
  const { data: state } = turn.session;
  const { prefix } = state;
  if (prefix === undefined || state.hasToldOfTools) return;
  if (JSON.stringify(prefix.tools) === JSON.stringify(now)) return;
  state.hasToldOfTools = true;
  const text =
    "The tools of your MCP servers have changed. The model gets the new list after /clear, after /compact and in a new session.";
  await tell(turn, text, "info");
}

const offlineTitle = "This is the offline model: fixed commands, no AI";
const offlineHelp =
  "Type `help` to see its commands. For anything else, configure a model: see `parley help agent`.";

/** Shown as a notice, so that scripts can use the answer as it is; without notices, at the end of the answer. */
async function announceOffline(turn: CodingTurn): Promise<void> {
  if (turn.client.capabilities.notices) return turn.notice("info", offlineTitle, offlineHelp);
  const text = `\n\n_${offlineTitle}. ${offlineHelp}_`;
  await turn.say({ type: "text", text, annotations: { audience: ["user"] } });
}

function nameSession({ text: now, session }: CodingTurn): void {
  if (session.data.isTitled) return;
  const { firstText: text = now } = session.data;
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
