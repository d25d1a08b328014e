// An agent with its gate, its rules and its recorded sessions, as `parley run` and `parley chat` both need it.

import type { Entry, UnstableFeatures } from "@parley/acp";
import { retryKey, trustKey } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import type { McpServer, Meta } from "@parley/acp/model";
import type { ManagedAgentEvent } from "@parley/client";
import type { AgentFacts } from "@parley/client/conversation";
import type { HostAsker, HostedAgent } from "@parley/client/host";
import {
  type ManagedConnection,
  type ManagedSession,
  type ManagedSessionOptions,
  type RecordingOptions,
  recordSessions,
  type SessionRecording,
} from "@parley/client/internal";
import { agentEnvironment } from "@parley/client/launch";
import type { Decision } from "@parley/client/policy";
import type { OpenedGate } from "../permissions/open-gate.ts";
import { configuredRules } from "../permissions/policy-rules.ts";
import { ownVersion } from "../settings/installation.ts";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { isOwnAgent } from "../settings/named-agent.ts";
import type { TrustedSettings } from "../trust/workspace-trust.ts";
import { agentFacts, sandboxText } from "./agent-facts.ts";
import { type AgentTarget, agentSandbox, resolveSession } from "./agent-target.ts";
import type { GivenTools } from "./given-tools.ts";
import type { HistoryOpener } from "./history-opener.ts";
import type { LiveOptions } from "./live-options.ts";
import { isRemote, sessionMcpServers, startAgent, type TakenSession, takeSession } from "./start-session.ts";

export interface LiveAgentOptions {
  readonly options: LiveOptions;
  readonly target: AgentTarget;
  readonly secrets: SecretsLoader;
  readonly history: HistoryOpener | undefined;
  /** Absent where nobody can be asked. */
  readonly asker: HostAsker | undefined;
  /** Shows the settings of the folder and asks whether the user trusts them. */
  readonly askTrust?: ((lines: readonly string[]) => Promise<boolean>) | undefined;
  /** How long the agent may take to end a cancelled turn before it is ended. */
  readonly cancelTimeoutMs: number;
  /** Whether its stderr is shown anyway. */
  readonly isStderrShown: boolean;
  /** Unstable features of the protocol that the caller can show. */
  readonly unstable?: UnstableFeatures;
  /** Custom data of the client's capabilities. */
  readonly _meta?: Meta;
  /** Aborts starting it. */
  readonly signal: AbortSignal;
  /** Kills it at once. */
  readonly kill?: AbortSignal;
  notice(text: string): void;
  /** Says what is no warning. Default: as one. */
  tell?(text: string): void;
  onEvent(event: ManagedAgentEvent): void;
  onDecision(decision: Decision): void;
  /** Called before a file is written for the agent. It must not reject. */
  beforeWrite?(path: string): Promise<void>;
}

/** An open session. */
export interface LiveAgentSession extends TakenSession {
  /** Absent if it is not stored. */
  readonly recorder: SessionRecording | undefined;
}

export class LiveAgent implements HostedAgent {
  readonly #given: LiveAgentOptions;
  readonly #recordings: ReturnType<typeof recordSessions> | undefined;
  /** How to record the session that is being opened. */
  #opening: Pick<RecordingOptions, "name" | "original"> | undefined;
  #target: AgentTarget;
  #gate: OpenedGate | undefined;
  #running: ManagedConnection | undefined;
  #tools: GivenTools | undefined;
  #workspaceRules: TrustedSettings["rules"] = [];
  /** What the user said beside a no, by session. */
  readonly #unsaid = new Map<string, string[]>();

  constructor(given: LiveAgentOptions) {
    this.#given = given;
    this.#target = given.target;
    const { history } = given;
    this.#recordings = history && recordSessions(history.open, () => this.#recording(history));
  }

  get target(): AgentTarget {
    return this.#target;
  }

  get facts(): AgentFacts {
    return agentFacts(this.#given.options, this);
  }

  get sandbox(): string {
    return sandboxText(this, this.#given.options);
  }

  get lateMs(): number {
    return this.#target.entry.traits?.lateMs ?? 0;
  }

  /** Undefined before it has started. */
  get running(): ManagedConnection | undefined {
    return this.#running;
  }

  get gate(): OpenedGate["gate"] | undefined {
    return this.#gate?.gate;
  }

  /** Whether it is the agent of this installation. */
  get isOwn(): boolean {
    const { entry } = this.#target;
    return entry.transport === "stdio" && isOwnAgent(entry);
  }

  /** Rejects with a LiveError, or with a CommandError for a wrong rule. */
  async start(): Promise<ManagedConnection> {
    const { options, target, secrets, history, asker, isStderrShown } = this.#given;
    const { policy, allow, ask, deny, env } = options;
    // an invalid rule is reported before anything starts
    const rules = configuredRules({ policy, allow, ask, deny });
    const underWay = Promise.withResolvers<void>();
    // loads what is needed later while the agent's process starts
    const opening = underWay.promise.then(secrets).then((known) => this.#openGate(known));
    opening.catch(() => undefined);
    const prepare = () => {
      underWay.resolve();
      // writes report why it cannot be opened
      history?.open().catch(() => undefined);
    };
    const { signal, kill, unstable, _meta, cancelTimeoutMs, notice, tell = notice } = this.#given;
    const sandbox = agentSandbox(target, options, rules);
    const tools = options.tools?.({ agent: target.entry.name, tell, notice });
    this.#tools = tools;
    const running = await startAgent(
      target,
      { isStderrShown, tokenHint: options.tokenHint },
      {
        name: "parley",
        version: ownVersion(),
        cwd: target.cwd,
        policy: async () => (await opening).gate,
        ...optional({
          asker,
          elicit: asker?.elicit,
          recorder: this.#recordings,
          kill,
          unstable: tools?.features(unstable) ?? unstable,
        }),
        ...tools?.options,
        // run and chat show the pauses of a model
        _meta: { [retryKey]: true, ..._meta },
        cancelTimeoutMs,
        env: { ...target.credentials, ...env },
        ...optional({ sandbox }),
        front: options.front?.({
          say: (text) => this.#given.notice(text),
          stderr: (text) => this.#given.onEvent({ kind: "stderr", text }),
        }),
        signal,
        onEvent: (event) => {
          if (event.kind === "starting" || event.kind === "connecting") setImmediate(prepare);
          this.#given.onEvent(event);
        },
      },
    );
    this.#running = running;
    // stopped meanwhile
    if (signal.aborted) void running.close();
    await opening;
    return running;
  }

  /** Looks up the named session at the agent. */
  async resolve(): Promise<AgentTarget> {
    const { options, history, notice } = this.#given;
    this.#target = await resolveSession(this.#target, this.#started(), options, { history, notice });
    return this.#target;
  }

  /** Opens the session of the target, or continues it. `name` is what a new one is called. */
  async open(
    onEntry: (entry: Entry) => void,
    how: { readonly name?: string | undefined; readonly replays?: boolean } = {},
  ): Promise<LiveAgentSession> {
    const running = this.#started();
    const { options, notice } = this.#given;
    const place = await this.#place(running, onEntry);
    const { mode, model, set } = options;
    const flags = [
      ...(mode ? ["mode"] : []),
      ...(model ? ["model"] : []),
      ...set.map(([key]) => `option ${key}`),
    ];
    const taken = await this.#recorded({ name: how.name }, () =>
      takeSession(running, this.#target, place, {
        flags,
        notice,
        replays: how.replays ?? false,
        takesOver: options.takesOver ?? false,
      }),
    );
    return { ...taken, recorder: this.#recordings?.of(taken.session.sessionId) };
  }

  /** Opens a session that is not that of the target. `of` is the one of which it is a copy. */
  async another(
    of: string | undefined,
    onEntry: (entry: Entry) => void,
    open: (running: ManagedConnection, place: ManagedSessionOptions) => Promise<ManagedSession>,
  ): Promise<LiveAgentSession> {
    const running = this.#started();
    const { known, listed, ...target } = this.#target;
    const isCopy = of !== undefined;
    this.#target = { ...target, known: undefined, ...(isCopy && optional({ listed })) };
    const original = async () =>
      (await this.historyOf(of ?? "")) ?? (known?.agentSessionId === of ? known?.id : undefined);
    const place = await this.#place(running, onEntry);
    const opening = isCopy ? { original } : {};
    const session = await this.#recorded(opening, () => open(running, place));
    return { session, isResumed: isCopy, recorder: this.#recordings?.of(session.sessionId) };
  }

  /** What the user said beside a no, for an agent that has no place for it in the answer. */
  takeUnsaid(sessionId: string): string | undefined {
    const said = this.#unsaid.get(sessionId) ?? [];
    this.#unsaid.delete(sessionId);
    // our own agent reads the words in the answer
    return said.length === 0 || this.isOwn ? undefined : said.join("\n");
  }

  async close(): Promise<void> {
    await this.#running?.close();
    await this.#recordings?.finish();
    this.#gate?.close();
  }

  #started(): ManagedConnection {
    if (this.#running === undefined) throw new Error("the agent has not been started");
    return this.#running;
  }

  // ---- the history

  /** The id in the history of one of its sessions, when everything of it is stored. */
  async historyOf(sessionId: string): Promise<string | undefined> {
    const recording = this.#recordings?.of(sessionId);
    await recording?.stored();
    return recording?.id;
  }

  async #recorded<Result>(
    opening: Pick<RecordingOptions, "name" | "original">,
    open: () => Promise<Result>,
  ): Promise<Result> {
    this.#opening = opening;
    try {
      return await open();
    } finally {
      this.#opening = undefined;
    }
  }

  /** How to record a session that begins. Undefined for a session that was not opened here, which is not recorded. */
  #recording(history: HistoryOpener): RecordingOptions | undefined {
    if (this.#opening === undefined) return undefined;
    const { name, original } = this.#opening;
    const { agent, known, listed } = this.#target;
    return {
      agent,
      known,
      // a session that the agent already has keeps its title
      ...(known === undefined && listed === undefined ? { name } : { title: listed?.title ?? undefined }),
      original,
      dropsUnused: known === undefined && original === undefined,
      failed: history.failed,
    };
  }

  // ---- the gate

  async #openGate(secrets: readonly string[]): Promise<OpenedGate> {
    const { openGate } = await import("../permissions/open-gate.ts");
    const { options, target, asker, notice } = this.#given;
    const { policy, allow, ask, deny, extraRoots } = options;
    const { entry } = target;
    this.#gate = openGate({
      secrets,
      policy,
      allow,
      ask,
      deny,
      extraRoots,
      agent: entry.name,
      isOwn: this.isOwn,
      warn: notice,
      beforeWrite: this.#given.beforeWrite,
      // read when the session starts, so that the agent cannot change them
      workspaceRules: () => this.#workspaceRules,
      ...optional({
        asker,
        reviewer: options.reviewer ?? target.reviewer,
        sandbox: options.sandbox ?? target.sandbox,
        // commands of the agent get the same environment as the agent
        env: entry.transport === "stdio" ? agentEnvironment(entry, process.env) : undefined,
      }),
    });
    this.#gate.gate.onDecision((decision) => {
      const { summary, said, subjects, sessionId } = decision;
      // what an agent has us do is refused with the words; a question of its own has no place for them
      if (said !== undefined && subjects[0]?.origin === "claim") {
        const words = `About "${summary}", which I did not allow: ${said}`;
        this.#unsaid.set(sessionId, [...(this.#unsaid.get(sessionId) ?? []), words]);
      }
      this.#given.onDecision(decision);
    });
    return this.#gate;
  }

  // ---- what a session is given

  async #place(running: ManagedConnection, onEntry: (entry: Entry) => void): Promise<ManagedSessionOptions> {
    const { options, notice } = this.#given;
    const { mode, model, set, mcpServers: typed } = options;
    const target = this.#target;
    const configured = [...target.mcpServers, ...(await this.#broughtServers())];
    const mcpServers = sessionMcpServers(typed, configured, running.capabilities, notice);
    const { setup: given = {} } = target.entry;
    return {
      cwd: target.cwd,
      additionalDirectories: this.#directories(running),
      mcpServers,
      ...this.#tools?.forSession(running.capabilities, isRemote(this.#target)),
      // our own agent would ask about the settings of the workspace again
      ...(this.isOwn && { _meta: { [trustKey]: "client" } }),
      setup: {
        ...given,
        ...(mode && { mode }),
        ...(model && { model }),
        options: { ...given.options, ...Object.fromEntries(set) },
      },
      onEntry,
    };
  }

  /** An agent without support for them may still request their files. */
  #directories({ capabilities, spec }: ManagedConnection): readonly string[] {
    const { options, notice } = this.#given;
    const { extraRoots } = options;
    if (extraRoots.length === 0 || capabilities.additionalDirectories) return extraRoots;
    notice(`${spec.name} does not support additional directories; it can still request their files`);
    return [];
  }

  /** Takes the settings of the workspace into use, if the user trusts it. Returns its MCP servers. */
  async #broughtServers(): Promise<readonly McpServer[]> {
    const { options, askTrust, notice, signal } = this.#given;
    const { cwd, mcpServers } = this.#target;
    const { askedSettings } = await import("../trust/workspace-trust.ts");
    const settings = await askedSettings(cwd, askTrust && ((lines) => this.#askTrust(lines, askTrust)));
    signal.throwIfAborted();
    this.#workspaceRules = settings.rules;
    for (const each of settings.notices) notice(each);
    if (settings.mcpServers.length === 0) return [];
    const { usableServers } = await import("../trust/workspace-servers.ts");
    return usableServers(settings.mcpServers, [...options.mcpServers, ...mcpServers], notice);
  }

  async #askTrust(
    lines: readonly string[],
    ask: (lines: readonly string[]) => Promise<boolean>,
  ): Promise<boolean> {
    const { streamRedactor } = await import("@parley/acp/redact");
    return ask(streamRedactor(await this.#given.secrets()).value(lines));
  }
}

/** The current mode, by its id. */
export function modeOf({ configOptions }: ManagedSession): unknown {
  return configOptions.find(({ category }) => category === "mode")?.currentValue;
}
