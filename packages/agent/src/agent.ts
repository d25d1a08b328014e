// The coding agent: the library's agent with a model and tools behind it.

import {
  type Agent,
  type AgentDefinition,
  type AgentSession,
  agent,
  memoryStore,
  type SessionOrigin,
  type SessionStore,
} from "@parley/acp";
import { questionsOf } from "./mcp/elicitation.ts";
import type { Effort, Model } from "./model/model.ts";
import { offlineModel } from "./offline/offline-model.ts";
import { type AutoApproval, isMode, type Mode } from "./permissions/modes.ts";
import type { ConfiguredModels } from "./providers/configured-models.ts";
import { modeOf, type OptionDefaults, sessionOptions } from "./session/options.ts";
import { checkRoots } from "./session/roots.ts";
import { SessionWork, workOf } from "./session/session-work.ts";
import type { Tool } from "./tools/base/tool.ts";

export interface CodingAgentOptions
  extends Pick<
    AgentDefinition,
    | "log"
    | "tap"
    | "versions"
    | "limits"
    | "unstable"
    | "authMethods"
    | "login"
    | "logout"
    | "isLoggedIn"
    | "clientTimeoutMs"
  > {
  /** The version that clients are told. */
  readonly version: string;
  /** What can be chosen beside the offline model. */
  readonly models?: readonly Model[];
  /** The id of the model that sessions begin with. Default: the first one, and the offline model where there is none. */
  readonly model?: string;
  /** In place of these two, asked whenever they are needed: a login may add models. */
  readonly configured?: () => ConfiguredModels;
  /** In which mode sessions begin. Default "ask". */
  readonly mode?: Mode;
  /** How much models think that can. Default "medium". */
  readonly effort?: Effort;
  /** What mode ask does not ask about. Default "reads". */
  readonly autoApprove?: AutoApproval;
  /** Default: all that there are. */
  readonly tools?: readonly Tool[];
  /** Where sessions live. Default: memory. */
  readonly store?: SessionStore;
  /** How often the model may be asked in one turn. Default 200. */
  readonly maxRequests?: number;
  /**
   * Hosts that may be fetched though they are of this machine or of a private network, as a URL has them:
   * `localhost:3000`, or `*` for all. The user is asked all the same. Default: none.
   */
  readonly privateHosts?: readonly string[];
}

export function codingAgent(options: CodingAgentOptions): Agent {
  const { version, store = memoryStore(), mode = "ask", tools, log, tap, versions, limits } = options;
  const { unstable = ["session/fork", "session/new"], effort = "medium", autoApprove = "reads" } = options;
  const { privateHosts = [], authMethods, login, logout, isLoggedIn, clientTimeoutMs } = options;
  const offline = offlineModel();
  const configured = options.configured ?? (() => ({ models: options.models ?? [], chosen: options.model }));
  const setting: AgentSetting = {
    store,
    tools,
    maxRequests: options.maxRequests ?? 200,
    privateHosts,
    get models(): AgentSetting["models"] {
      const [first = offline, ...others] = [...configured().models, offline];
      return [first, ...others];
    },
  };
  const defaults = () => {
    const { models } = setting;
    const { chosen } = configured();
    const model = models.find(({ facts }) => facts.id === chosen) ?? models[0];
    return { mode, models, model: model.facts.id, effort, autoApprove };
  };
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
    ...(clientTimeoutMs === undefined ? {} : { clientTimeoutMs }),
    ...(authMethods === undefined ? {} : { authMethods }),
    ...(login === undefined ? {} : { login }),
    ...(logout === undefined ? {} : { logout }),
    ...(isLoggedIn === undefined ? {} : { isLoggedIn }),
    accepts: { image: true, audio: true, embeddedContext: true },
    mcp: { http: true, sse: true },
    open: (session, origin) => open(session, origin, { store, version, defaults: defaults() }),
    setOption(session, configId, value) {
      if (configId !== "mode" || !isMode(value)) return;
      const work = workOf(session);
      work.turnMode = undefined;
      session.setCommands(work.commands(value));
    },
    close: (session) => workOf(session).close(),
    // loaded when it is needed first: a client that only shakes hands does not wait for it
    prompt: async (turn) => (await import("./answer-prompt.ts")).answerPrompt(turn, setting),
  });
}

/** What a turn needs of it. */
export interface AgentSetting {
  readonly models: readonly [Model, ...Model[]];
  readonly store: SessionStore;
  /** Default: all that there are. */
  readonly tools: readonly Tool[] | undefined;
  readonly maxRequests: number;
  readonly privateHosts: readonly string[];
}

interface Beginning {
  readonly store: SessionStore;
  readonly version: string;
  readonly defaults: OptionDefaults;
}

async function open(
  session: AgentSession,
  origin: SessionOrigin,
  { store, version, defaults }: Beginning,
): Promise<void> {
  // one that comes back may be read where its folder has gone
  if (origin === "new" || origin === "fork") await checkRoots(session.roots);
  const work = new SessionWork({
    version,
    changed: () => session.setCommands(work.commands(modeOf(session))),
    questions: questionsOf(session),
  });
  session.data = work;
  const { sessionId } = session;
  // the library chooses what was chosen before, behind this; commands follow from the mode
  const chosen = origin === "new" ? undefined : (await store.get(sessionId))?.config["mode"];
  work.hasHistory = origin !== "new";
  session.setOptions(sessionOptions(defaults));
  session.setCommands(work.commands(isMode(chosen) ? chosen : defaults.mode));
  // they start while the user writes
  work.mcp.use(session);
}
