// Builds the coding agent: the library's agent with a model and tools.

import { type Agent, type AgentDefinition, agent, type UnstableFeature } from "@parley/acp";
import { checkOptions, optional } from "@parley/acp/jsonrpc";
import { memoryStore, type SessionStore } from "@parley/acp/store";
import type { PromptOptions } from "./answer-prompt.ts";
import type { Hooks } from "./hooks/hooks.ts";
import type { McpSources } from "./mcp/sources.ts";
import type { Effort, Model } from "./model/model.ts";
import { offlineModel } from "./offline/offline-model.ts";
import type { LastingGrants } from "./permissions/lasting-grants.ts";
import { type AutoApproval, isMode, type Mode } from "./permissions/modes.ts";
import type { ConfiguredModels } from "./providers/choose-model.ts";
import { isEffort, sessionOptions, setModel } from "./session/options.ts";
import type { CodingSessionState } from "./session/session-state.ts";
import type { CommandSandbox, Tool } from "./tools/base/tool.ts";

/** The models, tools and defaults of a coding agent. */
export interface CodingAgentOptions
  extends Pick<
    AgentDefinition,
    "log" | "editions" | "unstable" | "auth" | "connection" | "exposeErrors" | "mcpAgents"
  > {
  /** The version reported to clients. */
  readonly version: string;
  /** Models that users can choose besides the offline model. */
  readonly models?: readonly Model[] | undefined;
  /** The id of the model for new sessions. Default: the first of `models`, or the offline model. */
  readonly model?: string | undefined;
  /** Replaces `models` and `model`. Called whenever they are needed, since a login may add models. */
  readonly configured?: (() => ConfiguredModels) | undefined;
  /**
   * Finds more models, such as those of servers on this machine. Called with every session, which does not wait for it;
   * `configured` then includes them. It must not reject.
   */
  readonly discover?: (() => Promise<void>) | undefined;
  /** The mode of new sessions. Default "ask". */
  readonly mode?: Mode | undefined;
  /** How much a model thinks, if it can; a model without this level uses the next one. Default "medium". */
  readonly effort?: Effort | undefined;
  /** Calls that mode "ask" approves without asking. Default "reads". */
  readonly autoApprove?: AutoApproval | undefined;
  /** The tools of the agent. Default: `codingTools` of `@parley/agent/tools`. */
  readonly tools?: readonly Tool[] | undefined;
  /** Further tools. A tool with the name of a built-in one replaces it. */
  readonly extraTools?: readonly Tool[] | undefined;
  /**
   * Added to the system prompt of every session, behind our own text; a function gets our text and returns what replaces
   * it. The house rules of the project and the client's own prompt follow in either case.
   */
  readonly systemPrompt?: string | ((ours: string) => string) | undefined;
  /** Stores the sessions. Default: in memory. */
  readonly store?: SessionStore | undefined;
  /** Maximum number of model requests in one turn. Default 200. */
  readonly maxRequests?: number | undefined;
  /**
   * The part of a model's context window that a conversation may take before it is summarised, such as 0.8. Default: all
   * but room for an answer.
   */
  readonly compactAt?: number | undefined;
  /**
   * Hosts on this machine or a private network that may be fetched, and that MCP servers of a workspace's files may
   * be at, written as in a URL: `localhost:3000`, or `*` for all. The user is still asked. Default: none.
   */
  readonly privateHosts?: readonly string[] | undefined;
  /**
   * The sandbox of commands that the agent runs on this machine. In mode "code" they are not asked about where one can
   * start. Default "workspace".
   */
  readonly sandbox?: CommandSandbox | undefined;
  /**
   * Takes PATH for commands from the user's login shell, which runs once. An editor that was started from a menu does not
   * have it. Default false.
   */
  readonly loginShell?: boolean | undefined;
  /** MCP servers beside those of the client: the user's own, those of a project's files, and logins to servers. Default: none. */
  readonly mcp?: McpSources | undefined;
  /** The user's own folder, for all projects: its `AGENTS.md`, `skills` and `commands` are used. Default: none. */
  readonly userFolder?: string | undefined;
  /** Called before and after the calls of tools. Default: none. */
  readonly hooks?: Hooks | undefined;
  /**
   * Where the contents of files are stored before a turn changes them, for `/undo`. Default: a temporary folder, which is removed
   * with the session.
   */
  readonly undoFolder?: string | undefined;
  /**
   * Where answers are stored that hold for a workspace or for every folder. Called with each session. Clients of the dialect
   * "scoped" give such answers. Default: they hold for their session.
   */
  readonly lastingGrants?: (() => Promise<LastingGrants>) | undefined;
  /** Called when a new session would tell the user that the model is offline; false leaves that out. Default: always told. */
  readonly offlineNotice?: (() => boolean) | undefined;
}

/** The unstable features that the agent offers by default. */
const offeredFeatures: readonly UnstableFeature[] = [
  "fork",
  "system_prompt",
  "usage",
  "archive",
  "session_title",
  "session_status",
  "auth_status",
  "mcp_over_acp",
];

/**
 * Creates a coding agent that reads, edits and runs code with the user's permission. Without `models` it uses an offline
 * model, which needs no network and follows a few fixed commands.
 *
 * @param options - `version` is required; everything else has a default.
 *
 * @example
 * import { serveStdio, sqliteStore } from "@parley/acp/node";
 * import { codingAgent } from "@parley/agent";
 *
 * const store = sqliteStore("/var/lib/my-agent/sessions.db");
 * await serveStdio(codingAgent({ version: "1.0.0", mode: "ask", store }));
 */
export function codingAgent(options: CodingAgentOptions): Agent {
  checkOptions("codingAgent", options, agentKeys);
  const { version, store = memoryStore(), mode = "ask", effort = "medium", autoApprove = "reads" } = options;
  const { unstable = offeredFeatures, log, editions, auth, connection, exposeErrors, mcpAgents } = options;
  const { privateHosts = [], sandbox = "workspace", undoFolder, mcp = {} } = options;
  const configured = options.configured ?? (() => ({ models: options.models ?? [], chosen: options.model }));
  const offline = offlineModel(async () => {
    await options.discover?.();
    return configured().models.map(({ facts }) => facts);
  });
  const promptOptions: PromptOptions = {
    ...optional({
      tools: options.tools,
      extraTools: options.extraTools,
      systemPrompt: options.systemPrompt,
      discover: options.discover,
    }),
    maxRequests: options.maxRequests ?? 200,
    ...optional({ compactAt: options.compactAt }),
    privateHosts,
    sandbox,
    loginShell: options.loginShell ?? false,
    ...optional({ userFolder: options.userFolder }),
    hooks: options.hooks,
    offlineNotice: options.offlineNotice ?? (() => true),
    // the library warns of tokens that it may not send
    reportsUsage: unstable === "*" || unstable.includes("usage"),
    get models(): PromptOptions["models"] {
      const [first = offline, ...others] = [...configured().models, offline];
      return [first, ...others];
    },
  };
  const chosen = () => {
    const { models } = promptOptions;
    const id = configured().chosen;
    return models.find(({ facts }) => facts.id === id) ?? models[0];
  };
  const defaults = () => {
    const { models } = promptOptions;
    return { mode, models, model: chosen().facts.id, effort, autoApprove };
  };
  return agent({
    name: "parley",
    title: "Parley",
    version,
    session: {
      store,
      get initialOptions() {
        return sessionOptions(defaults());
      },
      // loaded with the first session and the first prompt, so that the handshake is quick
      async open(session, { origin }): Promise<CodingSessionState> {
        const { openSession } = await import("./session/open-session.ts");
        const { discover, userFolder, lastingGrants } = options;
        return openSession(session, origin, {
          store,
          version,
          defaults,
          discover,
          privateHosts,
          mcp,
          userFolder,
          undoFolder,
          lastingGrants: await lastingGrants?.(),
        });
      },
      setConfigOption(session, configId, value) {
        if (configId === "effort" && isEffort(value)) session.data.effort = value;
        if (configId === "model") setModel(session, promptOptions.models, String(value), session.data.effort);
        if (configId !== "mode" || !isMode(value)) return;
        session.data.turnMode = undefined;
        session.setAvailableCommands(session.data.commands(value));
      },
      close: ({ data }) => data.close(),
    },
    concurrentPrompts: "inbox",
    unstable,
    ...optional({ log, editions, auth, connection, exposeErrors, mcpAgents }),
    // of the model for new sessions; what a model chosen later does not take becomes a note
    get promptCapabilities() {
      const { takesImages: image, takesAudio: audio } = chosen().facts;
      return { image, audio, embeddedContext: true };
    },
    mcpCapabilities: { http: true, sse: true },
    prompt: async (turn) => (await import("./answer-prompt.ts")).answerPrompt(turn, promptOptions),
  });
}

const agentKeys: Readonly<Record<keyof CodingAgentOptions, true>> = {
  version: true,
  models: true,
  model: true,
  configured: true,
  discover: true,
  mode: true,
  effort: true,
  autoApprove: true,
  tools: true,
  extraTools: true,
  systemPrompt: true,
  store: true,
  maxRequests: true,
  compactAt: true,
  privateHosts: true,
  sandbox: true,
  loginShell: true,
  mcp: true,
  userFolder: true,
  hooks: true,
  undoFolder: true,
  lastingGrants: true,
  offlineNotice: true,
  log: true,
  editions: true,
  unstable: true,
  auth: true,
  connection: true,
  exposeErrors: true,
  mcpAgents: true,
};
