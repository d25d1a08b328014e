// An agent with its gate, its rules and its recorded sessions, as `parley run` and `parley chat` both need it.

import type { UnstableFeatures } from "@parley/acp";
import { retryKey, trustKey } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import type { McpServer, Meta } from "@parley/acp/model";
import type { AgentFacts } from "@parley/client/conversation";
import type {
  AgentHostOptions,
  AgentWays,
  HostAsker,
  HostedAgent,
  SessionHost,
} from "@parley/client/internal";
import {
  type ManagedConnection,
  type ManagedSession,
  type ManagedSessionOptions,
  type RecordingOptions,
  recordSessions,
  type SessionRecording,
} from "@parley/client/internal";
import { agentEnvironment } from "@parley/client/launch";
import type { Gate } from "@parley/client/policy";
import type { OpenedGate } from "../permissions/open-gate.ts";
import { configuredRules } from "../permissions/policy-rules.ts";
import { ownVersion } from "../settings/installation.ts";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { isOwnAgent } from "../settings/named-agent.ts";
import type { TrustedSettings } from "../trust/workspace-trust.ts";
import { agentFacts, sandboxText } from "./agent-facts.ts";
import { type AgentTarget, agentSandbox, resolveSession } from "./agent-target.ts";
import type { GivenTools } from "./given-tools.ts";
import { checkNew, type HistoryOpener } from "./history-opener.ts";
import { KeptGrants } from "./kept-grants.ts";
import type { LiveOptions } from "./live-options.ts";
import { sessionFront } from "./session-front.ts";
import { isRemote, sessionMcpServers, startAgent, type TakenSession, takeSession } from "./start-session.ts";

export interface HostOptions {
  readonly options: LiveOptions;
  readonly secrets: SecretsLoader;
  readonly history: HistoryOpener | undefined;
}

/** How a front end runs an agent. */
export interface AgentUse extends AgentHostOptions {
  /** Whether nobody can be asked. */
  readonly isAlone?: boolean;
  /** How long the agent may take to end a cancelled turn before it is ended. */
  readonly cancelTimeoutMs: number;
  /** Whether its stderr is shown anyway. */
  readonly isStderrShown?: boolean;
  /** How late the end of its text may be. Default: as it is known of this agent. */
  lateMs?(running: ManagedConnection): number;
  /** Unstable features of the protocol that the caller can show. */
  readonly unstable?: UnstableFeatures;
  /** Custom data of the client's capabilities. */
  readonly _meta?: Meta;
  /** Aborts starting it. */
  readonly stopping?: AbortSignal;
  /** Kills it at once. */
  readonly kill?: AbortSignal;
}

interface LiveAgentOptions extends HostOptions, Omit<AgentUse, keyof AgentHostOptions>, AgentWays {
  readonly target: AgentTarget;
}

/** An open session. */
export interface LiveAgentSession extends TakenSession {
  /** Absent if it is not stored. */
  readonly recording: SessionRecording | undefined;
}

export class LiveAgent implements HostedAgent {
  readonly #given: LiveAgentOptions;
  /** Undefined where nobody can be asked. */
  readonly #asker: HostAsker | undefined;
  /** Aborts starting it. */
  readonly #signal: AbortSignal;
  readonly #recordings: ReturnType<typeof recordSessions> | undefined;
  /** How to record the session that is being opened. */
  #opening: Pick<RecordingOptions, "name" | "original"> | undefined;
  #target: AgentTarget;
  #gate: OpenedGate | undefined;
  readonly #proxyGates: Gate[] = [];
  readonly #grants = new KeptGrants();
  #running: ManagedConnection | undefined;
  #tools: GivenTools | undefined;
  #workspaceRules: TrustedSettings["rules"] = [];

  constructor(given: LiveAgentOptions) {
    this.#given = given;
    const { isAlone = false, asker, signal, stopping } = given;
    this.#asker = isAlone ? undefined : asker;
    this.#signal = stopping === undefined ? signal : AbortSignal.any([signal, stopping]);
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
    const { lateMs } = this.#given;
    if (lateMs !== undefined && this.#running !== undefined) return lateMs(this.#running);
    // version 2 reports the end of a turn after its updates
    return this.#running?.edition === "v2" ? 0 : (this.#target.entry.traits?.lateMs ?? 0);
  }

  /** Our own agent reads the words in the answer. */
  get readsWords(): boolean {
    return this.isOwn;
  }

  /** Undefined before it has started. */
  get running(): ManagedConnection | undefined {
    return this.#running;
  }

  get gate(): OpenedGate["gate"] | undefined {
    return this.#gate?.gate;
  }

  /** The gate, and those of its proxies. */
  get gates(): readonly Gate[] {
    return [...(this.#gate === undefined ? [] : [this.#gate.gate]), ...this.#proxyGates];
  }

  /** Whether it is the agent of this installation. */
  get isOwn(): boolean {
    const { entry } = this.#target;
    return entry.transport === "stdio" && isOwnAgent(entry);
  }

  /** Rejects with a LiveError, or with a CommandError for a wrong rule. */
  async start(): Promise<ManagedConnection> {
    const { options, target, secrets, history, isStderrShown = false } = this.#given;
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
    const { kill, unstable, _meta, cancelTimeoutMs, warn, tell } = this.#given;
    const signal = this.#signal;
    const front = await sessionFront(options, target.known, {
      say: warn,
      stderr: (text) => this.#given.onEvent({ kind: "stderr", text }),
      gated: (gate) => this.#decidesToo(gate),
      tell,
    });
    const kept = front?.sandboxRules(target.cwd) ?? [];
    const sandbox = agentSandbox(target, options, [...rules, ...kept]);
    const tools = options.tools?.({ agent: target.entry.name, tell, notice: warn });
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
          asker: this.#asker,
          elicit: this.#asker?.elicit,
          recorder: this.#recordings,
          kill,
          unstable: tools?.features(unstable) ?? unstable,
        }),
        ...tools?.options,
        // run and chat show the pauses of a model
        _meta: { [retryKey]: true, ..._meta },
        cancelTimeoutMs,
        env: { ...target.credentials, ...env },
        ...optional({ sandbox, front }),
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
    const { options, history, warn: notice } = this.#given;
    this.#target = await resolveSession(this.#target, this.#started(), options, { history, notice });
    return this.#target;
  }

  /** Opens the session of the target, or continues it. `replays`: the agent sends what was said before. */
  async open(host: SessionHost, replays = false): Promise<LiveAgentSession> {
    const running = this.#started();
    const { options, warn: notice } = this.#given;
    const place = await this.#place(running, host);
    const { mode, model, set, session: name } = options;
    const flags = [
      ...(mode ? ["mode"] : []),
      ...(model ? ["model"] : []),
      ...set.map(([key]) => `option ${key}`),
    ];
    const taken = await this.#recorded({ name }, () => {
      const takesOver = options.takesOver ?? false;
      return takeSession(running, this.#target, place, { flags, notice, replays, takesOver });
    });
    const { sessionId } = taken.session;
    const { known } = this.#target;
    const recording = this.#recordings?.of(sessionId);
    if (known !== undefined) await this.#grants.load(this.#given.history, known, sessionId);
    else if (name !== undefined) await checkNew(recording, name);
    return { ...taken, recording };
  }

  /** Opens a session that is not that of the target. `of` is the one of which it is a copy. */
  async another(
    of: string | undefined,
    host: SessionHost,
    open: (running: ManagedConnection, place: ManagedSessionOptions) => Promise<ManagedSession>,
  ): Promise<LiveAgentSession> {
    const running = this.#started();
    const { known: _known, listed, ...target } = this.#target;
    const isCopy = of !== undefined;
    this.#target = { ...target, known: undefined, ...(isCopy && optional({ listed })) };
    const place = await this.#place(running, host);
    const opening = isCopy ? { original: () => this.historyOf(of) } : {};
    const session = await this.#recorded(opening, () => open(running, place));
    return { session, isResumed: isCopy, recording: this.#recordings?.of(session.sessionId) };
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
    return this.#recordings?.historyOf(this.#target.agent, sessionId);
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
      proxies: this.#given.options.proxies,
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
    const { options, target, warn, beforeWrite } = this.#given;
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
      warn,
      beforeWrite,
      // read when the session starts, so that the agent cannot change them
      workspaceRules: () => this.#workspaceRules,
      sessionRules: (sessionId) => this.#grants.rulesOf(sessionId),
      ...optional({
        asker: this.#asker,
        reviewer: options.reviewer ?? target.reviewer,
        sandbox: options.sandbox ?? target.sandbox,
        // commands of the agent get the same environment as the agent
        env: entry.transport === "stdio" ? agentEnvironment(entry, process.env) : undefined,
      }),
    });
    this.#gate.gate.onDecision((decision) => {
      this.#grants.decided(decision, this.#recordings?.of(decision.sessionId));
      this.#given.onDecision(decision);
    });
    return this.#gate;
  }

  /** A proxy decides before our gate, which reports what the proxy asks the user about. The proxy itself tells of violations. */
  #decidesToo(gate: Gate): void {
    this.#proxyGates.push(gate);
    gate.onDecision((decision) => {
      if (decision.by !== "user" && decision.effect !== "violation") this.#given.onDecision(decision);
    });
  }

  // ---- what a session is given

  async #place(running: ManagedConnection, host: SessionHost): Promise<ManagedSessionOptions> {
    const { options, warn: notice } = this.#given;
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
      onEntry: (entry) => host.heard(entry),
    };
  }

  /** An agent without support for them may still request their files. */
  #directories({ capabilities, spec }: ManagedConnection): readonly string[] {
    const { options, warn: notice } = this.#given;
    const { extraRoots } = options;
    if (extraRoots.length === 0 || capabilities.additionalDirectories) return extraRoots;
    notice(`${spec.name} does not support additional directories; it can still request their files`);
    return [];
  }

  /** Takes the settings of the workspace into use, if the user trusts it. Returns its MCP servers. */
  async #broughtServers(): Promise<readonly McpServer[]> {
    const { options, warn: notice } = this.#given;
    const { cwd, mcpServers } = this.#target;
    const { askedSettings } = await import("../trust/workspace-trust.ts");
    const settings = await askedSettings(cwd, this.#asker && ((lines) => this.#askTrust(lines)));
    this.#signal.throwIfAborted();
    this.#workspaceRules = settings.rules;
    for (const each of settings.notices) notice(each);
    if (settings.mcpServers.length === 0) return [];
    const { usableServers } = await import("../trust/workspace-servers.ts");
    return usableServers(settings.mcpServers, [...options.mcpServers, ...mcpServers], notice);
  }

  async #askTrust(lines: readonly string[]): Promise<boolean> {
    const { streamRedactor } = await import("@parley/acp/redact");
    return this.#given.askTrust(streamRedactor(await this.#given.secrets()).value(lines));
  }
}
