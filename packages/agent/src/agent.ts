// The coding agent: the library's agent with a model and tools behind it.

import {
  type Agent,
  type AgentDefinition,
  type AgentSession,
  agent,
  errorCodes,
  memoryStore,
  RequestError,
  type SessionOrigin,
  type SessionStore,
  type Turn,
  type TurnEnd,
} from "@parley/acp";
import { runLoop } from "./loop/turn-loop.ts";
import { type Model, ModelError } from "./model/model.ts";
import { offlineModel } from "./offline/offline-model.ts";
import { isMode, type Mode } from "./permissions/modes.ts";
import { offeredTools } from "./permissions/offered-tools.ts";
import { commandList, readPrompt } from "./session/commands.ts";
import { contextFiles } from "./session/context-files.ts";
import { runLocalCommand } from "./session/local-commands.ts";
import { modelOf, sessionOptions } from "./session/options.ts";
import { userParts } from "./session/prompt-content.ts";
import { rebuild } from "./session/rebuild.ts";
import { SessionWork, workOf } from "./session/session-work.ts";
import { systemPrompt } from "./session/system-prompt.ts";
import { titleOf } from "./session/title.ts";
import { tools as codingTools } from "./tools/coding-tools.ts";
import type { Tool } from "./tools/tool.ts";

export interface CodingAgentOptions
  extends Pick<AgentDefinition, "log" | "tap" | "versions" | "limits" | "unstable"> {
  /** The version that clients are told. */
  readonly version: string;
  /** What can be chosen beside the offline model. */
  readonly models?: readonly Model[];
  /** The id of the model that sessions begin with. Default: the first one, and the offline model where there is none. */
  readonly model?: string;
  /** In which mode sessions begin. Default "ask". */
  readonly mode?: Mode;
  /** Default: all that there are. */
  readonly tools?: readonly Tool[];
  /** Where sessions live. Default: memory. */
  readonly store?: SessionStore;
  /** How often the model may be asked in one turn. Default 200. */
  readonly maxRequests?: number;
}

export function codingAgent(options: CodingAgentOptions): Agent {
  const {
    version,
    store = memoryStore(),
    mode = "ask",
    tools = codingTools,
    log,
    tap,
    versions,
    limits,
  } = options;
  const { unstable = ["session/fork", "session/new"] } = options;
  const [first = offlineModel(), ...others] = [...(options.models ?? []), offlineModel()];
  const models: readonly [Model, ...Model[]] = [first, ...others];
  const model = models.find(({ facts }) => facts.id === options.model) ?? first;
  const setting: Setting = { store, models, tools, maxRequests: options.maxRequests ?? 200 };
  return agent({
    name: "parley",
    title: "Parley",
    version,
    store,
    steering: true,
    unstable,
    ...(log === undefined ? {} : { log }),
    ...(tap === undefined ? {} : { tap }),
    ...(versions === undefined ? {} : { versions }),
    ...(limits === undefined ? {} : { limits }),
    accepts: { image: true, audio: true, embeddedContext: true },
    open: (session, origin) => open(session, origin, { ...setting, mode, model: model.facts.id }),
    setOption(session, configId, value) {
      if (configId !== "mode" || !isMode(value)) return;
      workOf(session).turnMode = undefined;
      session.setCommands(commandList(value));
    },
    close: (session) => workOf(session).close(),
    prompt: (turn) => prompt(turn, setting),
  });
}

interface Setting {
  readonly models: readonly [Model, ...Model[]];
  readonly store: SessionStore;
  readonly tools: readonly Tool[];
  readonly maxRequests: number;
}

async function open(
  session: AgentSession,
  origin: SessionOrigin,
  { models, store, mode, model }: Setting & { readonly mode: Mode; readonly model: string },
): Promise<void> {
  const work = new SessionWork();
  session.data = work;
  const { sessionId } = session;
  // the library chooses what was chosen before, behind this; commands follow from the mode
  const chosen = origin === "new" ? undefined : (await store.get(sessionId))?.config["mode"];
  if (origin !== "new") await rebuild(store.entries(sessionId), work);
  session.setOptions(sessionOptions({ mode, models, model }));
  session.setCommands(commandList(isMode(chosen) ? chosen : mode));
}

async function prompt(turn: Turn, setting: Setting): Promise<TurnEnd> {
  const { session } = turn;
  const { models } = setting;
  const work = workOf(session);
  const reading = readPrompt(turn.prompt);
  work.beginTurn(reading.type === "prompt" ? reading.mode : undefined);
  const model = () => modelOf(session, models);
  if (reading.type === "local") {
    const isOffline = model().facts.id === "offline";
    return runLocalCommand(reading.command, reading.argument, { turn, work, models, isOffline });
  }
  work.transcript.addUser(userParts(reading.prompt, model().facts));
  const [workspace, files] = await Promise.all([work.workspaceOf(session), contextFiles(session.roots)]);
  try {
    const end = await runLoop({
      turn,
      work,
      model,
      system: () => systemPrompt(session, work.modeNow(session), files),
      tools: (mode) => offeredTools(setting.tools, mode),
      context: { ...workspace.services(turn.client), signal: turn.signal },
      maxRequests: setting.maxRequests,
    });
    nameSession(turn, work);
    return end;
  } catch (error) {
    if (error instanceof ModelError && !turn.signal.aborted) throw requestError(error);
    throw error;
  }
}

function nameSession(turn: Turn, work: SessionWork): void {
  if (work.isTitled) return;
  const title = titleOf(turn.text.replace(/^\s*\/[a-z]+\s*/, "")) ?? titleOf(turn.text);
  if (title === undefined) return;
  work.isTitled = true;
  turn.title(title);
}

/** The model's words reach the user; a silent end or "internal error" helps nobody. */
function requestError(error: ModelError): RequestError {
  const code = error.kind === "auth" ? errorCodes.authRequired : errorCodes.unavailable;
  const retryAfter =
    error.retryAfterMs === undefined ? {} : { retryAfter: Math.ceil(error.retryAfterMs / 1000) };
  return new RequestError(code, error.message, { reason: `model_${error.kind}`, ...retryAfter });
}
