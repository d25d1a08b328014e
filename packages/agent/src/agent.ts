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
import type { Model } from "./model/model.ts";
import { offlineModel } from "./offline/offline-model.ts";
import { isMode, type Mode } from "./permissions/modes.ts";
import { commandList } from "./session/commands.ts";
import { sessionOptions } from "./session/options.ts";
import { SessionWork, workOf } from "./session/session-work.ts";
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
  /**
   * Hosts that may be fetched though they are of this machine or of a private network, as a URL has them:
   * `localhost:3000`, or `*` for all. The user is asked all the same. Default: none.
   */
  readonly privateHosts?: readonly string[];
}

export function codingAgent(options: CodingAgentOptions): Agent {
  const { version, store = memoryStore(), mode = "ask", tools, log, tap, versions, limits } = options;
  const { unstable = ["session/fork", "session/new"], privateHosts = [] } = options;
  const [first = offlineModel(), ...others] = [...(options.models ?? []), offlineModel()];
  const models: readonly [Model, ...Model[]] = [first, ...others];
  const model = models.find(({ facts }) => facts.id === options.model) ?? first;
  const setting: AgentSetting = {
    store,
    models,
    tools,
    maxRequests: options.maxRequests ?? 200,
    privateHosts,
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
    accepts: { image: true, audio: true, embeddedContext: true },
    open: (session, origin) => open(session, origin, { ...setting, mode, model: model.facts.id }),
    setOption(session, configId, value) {
      if (configId !== "mode" || !isMode(value)) return;
      workOf(session).turnMode = undefined;
      session.setCommands(commandList(value));
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

async function open(
  session: AgentSession,
  origin: SessionOrigin,
  { models, store, mode, model }: AgentSetting & { readonly mode: Mode; readonly model: string },
): Promise<void> {
  const work = new SessionWork();
  session.data = work;
  const { sessionId } = session;
  // the library chooses what was chosen before, behind this; commands follow from the mode
  const chosen = origin === "new" ? undefined : (await store.get(sessionId))?.config["mode"];
  work.hasHistory = origin !== "new";
  session.setOptions(sessionOptions({ mode, models, model }));
  session.setCommands(commandList(isMode(chosen) ? chosen : mode));
}
