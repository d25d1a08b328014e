// Implements a client's connection to an agent: its sessions, its login, and requests outside the protocol.

import { optional } from "../../base/objects.ts";
import {
  forkKeys,
  loginKeys,
  reopenKeys,
  sessionKeys,
  sessionQueryKeys,
} from "../../base/option-keys.gen.ts";
import type { AgentCapabilities, AgentIntroduction } from "../../edition/agent-edition.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import type { Dialect } from "../../edition/dialect.ts";
import type { EditionName } from "../../edition/negotiate.ts";
import { closesSession } from "../../edition/pass-through.ts";
import { authStatusFromWire, listingFromWire, withMeta } from "../../edition/wire-fields.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import { ConnectionError } from "../../jsonrpc/errors.ts";
import type { RequestOptions, SentHook } from "../../jsonrpc/pending-requests.ts";
import type { AuthStatus, ProviderSetting, SessionStatus } from "../../model/agent-status.ts";
import type { AuthMethod, Implementation, Meta } from "../../model/content.ts";
import type { McpChannel } from "../../model/mcp.ts";
import { lists, type UnstableFeatures } from "../../validation/unstable-features.ts";
import { announcedServers, hostedChannel } from "../mcp/hosted-servers.ts";
import { activation, checkSessionId, forkCall } from "./activation.ts";
import {
  abortableCall,
  checkAbsolute,
  checkCall,
  checkCredentials,
  checkLogin,
  loginResult,
} from "./call-arguments.ts";
import type {
  CallOptions,
  ClientConnection,
  ClientCounters,
  ForkOptions,
  LoginOptions,
  LoginResult,
  ProviderList,
  ReopenOptions,
  SessionPage,
  SessionQueryOptions,
} from "./client-connection.ts";
import type { ClientDefinition } from "./client-definition.ts";
import type { ClientDispatch } from "./client-dispatch.ts";
import type { CallHooks, ClientWire } from "./client-wire.ts";
import { type AgentState, type ConnectionSnapshot, snapshotOf, splitPending } from "./connection-snapshot.ts";
import { callHooks, type PendingCallState } from "./pending-call.ts";
import type { CallResult, ClientSession, SessionListener, TitleResult } from "./session/client-session.ts";
import type { OpenSessionSettings } from "./session/session-settings.ts";
import { unreadLimits } from "./session/unread-updates.ts";
import { type OpeningCall, type OpeningOptions, SessionOpening } from "./session-opening.ts";
import { needs, type SessionRequests, sessionRequests } from "./session-requests.ts";

/** The parts of a connection whose version is known. */
export interface ClientConnectionParts {
  readonly wire: ClientWire;
  readonly dispatch: ClientDispatch;
  readonly edition: ClientEdition;
  readonly introduction: AgentIntroduction;
}

/** For a relay, which must know the ids of its requests, every method that sends one takes a hook. */
export class ConnectedAgent implements ClientConnection {
  readonly closed: Promise<ConnectionError>;
  readonly #wire: ClientWire;
  readonly #dispatch: ClientDispatch;
  readonly #edition: ClientEdition;
  readonly #introduction: AgentIntroduction;
  readonly #requests: SessionRequests;
  readonly #settings: OpenSessionSettings;
  readonly #unstable: UnstableFeatures;
  readonly #own: Pick<ClientDefinition, "name" | "version" | "proxies">;
  /** The providers that the agent listed as required. */
  #required: readonly string[] = [];
  readonly #opening: SessionOpening;
  /** The calls that the connection was taken up with, by their keys. */
  readonly #resumed = new Map<string, Promise<unknown>>();

  constructor(
    { wire, dispatch, edition, introduction }: ClientConnectionParts,
    definition: Pick<
      ClientDefinition,
      "name" | "version" | "log" | "strict" | "connection" | "policy" | "unstable" | "proxies"
    >,
  ) {
    this.#wire = wire;
    this.#dispatch = dispatch;
    this.#edition = edition;
    this.#unstable = definition.unstable ?? [];
    this.#own = definition;
    this.#introduction = introduction;
    this.#requests = sessionRequests(wire, edition, introduction.capabilities);
    this.#settings = {
      log: guardedLog(definition.log),
      unread: unreadLimits(definition.connection ?? {}),
      isStrict: definition.strict === true,
      keepsToolCalls: definition.policy !== undefined,
      listsOptions: wire.dialect?.listsNoOptions !== true,
      policy: dispatch.permissions,
      closed: (sessionId) => dispatch.end(sessionId),
    };
    this.#opening = new SessionOpening({
      wire,
      dispatch,
      edition,
      requests: this.#requests,
      settings: this.#settings,
      unstable: this.#unstable,
    });
    this.closed = dispatch.closed;
  }

  get info(): Implementation | undefined {
    return this.#introduction.info;
  }

  get capabilities(): AgentCapabilities {
    return this.#introduction.capabilities;
  }

  get _meta(): Meta | undefined {
    return this.#introduction._meta;
  }

  get authMethods(): readonly AuthMethod[] {
    return this.#introduction.authMethods;
  }

  get edition(): EditionName {
    return this.dialect?.name ?? this.#edition.name;
  }

  get dialect(): Dialect | undefined {
    return this.#wire.dialect;
  }

  get counters(): ClientCounters {
    return this.#dispatch.counters;
  }

  async newSession(options: OpeningOptions): Promise<ClientSession> {
    needs(this.capabilities.sessions, "have sessions");
    const opening = activation("newSession", options, sessionKeys, this.capabilities);
    return this.#opening.open("newSession", options, opening, (given) => this.#edition.open(given));
  }

  async loadSession(sessionId: string, options: ReopenOptions & OpeningOptions): Promise<ClientSession> {
    checkSessionId("loadSession", sessionId);
    needs(this.capabilities.load, "load sessions");
    const opening = activation("loadSession", options, reopenKeys, this.capabilities);
    const call: OpeningCall = (given) => this.#edition.activate(sessionId, given, true);
    return this.#opening.open("loadSession", options, opening, call, sessionId);
  }

  async resumeSession(sessionId: string, options: ReopenOptions & OpeningOptions): Promise<ClientSession> {
    checkSessionId("resumeSession", sessionId);
    needs(this.capabilities.resume, "resume sessions");
    const opening = activation("resumeSession", options, reopenKeys, this.capabilities);
    const call: OpeningCall = (given) => this.#edition.activate(sessionId, given, false);
    return this.#opening.open("resumeSession", options, opening, call, sessionId);
  }

  async forkSession(sessionId: string, options: ForkOptions & OpeningOptions): Promise<ClientSession> {
    needs(this.capabilities.fork, "fork sessions", "fork");
    const opening = activation("forkSession", options, forkKeys, this.capabilities);
    const call: OpeningCall = (given) => forkCall(sessionId, this.#edition.open(given));
    return this.#opening.open("forkSession", options, opening, call);
  }

  async listSessions(options: SessionQueryOptions & CallHooks = {}): Promise<SessionPage> {
    checkCall("listSessions", options, sessionQueryKeys);
    const { sent, note, resumed, signal, key, ...query } = options;
    needs(this.capabilities.list, "list sessions");
    if (query.cwd !== undefined) checkAbsolute("listSessions", "cwd", query.cwd);
    if (query.archived !== undefined) needs(this.capabilities.archive, "list archived sessions", "archive");
    const hooks = callHooks(options, { call: "list" });
    const answer = await this.#call("session/list", optional(query), { signal, ...hooks });
    return listingFromWire(answer, { hasArchive: lists(this.#unstable, "archive") });
  }

  deleteSession(sessionId: string, options?: CallOptions): Promise<CallResult> {
    return this.#pass("session/delete", { sessionId }, options);
  }

  archiveSession(sessionId: string, options?: CallOptions): Promise<CallResult> {
    return this.#pass("session/archive", { sessionId }, options);
  }

  unarchiveSession(sessionId: string, options?: CallOptions): Promise<CallResult> {
    return this.#pass("session/unarchive", { sessionId }, options);
  }

  sessionStatus(sessionId: string, options?: CallOptions): Promise<SessionStatus> {
    return this.#pass("session/status", { sessionId }, options);
  }

  setSessionTitle(sessionId: string, title: string, options?: CallOptions): Promise<TitleResult> {
    return this.#pass("session/set_title", { sessionId, title }, options);
  }

  async login(methodId: string, options: LoginOptions & CallHooks = {}): Promise<LoginResult> {
    checkCall("login", options, loginKeys);
    const { credentials, _meta, signal } = options;
    checkLogin(methodId, this.authMethods);
    checkCredentials(credentials, this);
    const { method, params } = this.#edition.login(methodId, _meta, credentials);
    return loginResult(
      await this.#call(method, params, { signal, ...callHooks(options, { call: "login" }) }),
    );
  }

  async logout(options: CallOptions & CallHooks = {}): Promise<CallResult> {
    needs(this.capabilities.logout, "log out");
    const { method, params } = this.#edition.logout(options._meta);
    checkCall("logout", options);
    return this.#requests.call(method, params as object, options); // of every request
  }

  authStatus(options?: CallOptions): Promise<AuthStatus> {
    return this.#pass("auth/status", {}, options);
  }

  onAuthStatus(listener: SessionListener<AuthStatus>): () => void {
    return this.#dispatch.onAuthStatus((status) => listener(authStatusFromWire(status)));
  }

  async listProviders(options?: CallOptions): Promise<ProviderList> {
    const list = await this.#pass<ProviderList>("providers/list", {}, options);
    this.#required = list.providers.filter(({ required }) => required).map(({ providerId }) => providerId);
    return list;
  }

  async setProvider(setting: ProviderSetting, options: CallOptions = {}): Promise<CallResult> {
    const { _meta = setting._meta } = options;
    return this.#pass("providers/set", setting, { ...options, ...withMeta(_meta) });
  }

  async disableProvider(providerId: string, options?: CallOptions): Promise<CallResult> {
    if (this.#required.includes(providerId))
      throw new TypeError(`disableProvider: the agent requires ${providerId}; use setProvider to change it`);
    return this.#pass("providers/disable", { providerId }, options);
  }

  /** For a relay: a request of the protocol, with its decoded answer. */
  call(method: string, params: object, options: SentHook): Promise<object> {
    return this.#wire.request(method, params, options);
  }

  /** For a relay: the agent has closed the session for another reason. */
  forget(sessionId: string): void {
    this.#dispatch.end(sessionId);
  }

  request(
    method: `_${string}`,
    params?: unknown,
    options: RequestOptions<unknown> & CallHooks & Pick<CallOptions, "key"> = {},
  ): Promise<unknown> {
    const { key, ...rest } = options;
    const hooks = callHooks(options, { call: "extension" });
    return this.#wire.extension(method, params, { ...rest, ...hooks });
  }

  /** Sends messages as they are, for a relay. */
  get passing(): Pick<ClientWire, "passRequest" | "notifyOlder"> {
    return this.#wire;
  }

  notify(method: `_${string}`, params?: unknown): Promise<void> {
    return this.#wire.notifyExtension(method, params);
  }

  get sessions(): readonly ClientSession[] {
    return this.#dispatch.sessions;
  }

  pending(key: string): Promise<unknown> | undefined {
    return this.#resumed.get(key);
  }

  snapshot(): ConnectionSnapshot {
    const { name } = this.#edition;
    if (this.dialect !== undefined)
      throw new TypeError(
        `snapshot: this agent speaks ${this.edition}, and a dialect cannot be put down; only v1 and v2 can`,
      );
    if (this.#own.proxies?.length)
      throw new TypeError("snapshot: a connection with proxies cannot be put down; connect without them");
    if (!this.#wire.isOpen)
      throw new ConnectionError("closed", "snapshot: the connection has ended, and nothing can be restored");
    const { pending, ...connection } = this.#wire.state;
    const { sessions, calls } = splitPending(pending, this.#dispatch.sessions);
    return snapshotOf(name, {
      introduction: this.#introduction,
      connection,
      calls,
      sessions,
      names: this.#opening.names,
      dispatch: this.#dispatch.state,
      requiredProviders: this.#required,
    });
  }

  /** Goes on with what another connection held. */
  restore(state: AgentState): void {
    this.#required = state.requiredProviders;
    this.#opening.restore(state.names, state.sessions);
    for (const each of state.calls) {
      const result = this.#resume(each);
      // nobody may wait for it
      result.catch(() => undefined);
      if (each.call?.key !== undefined) this.#resumed.set(each.call.key, result);
    }
    this.#dispatch.restore(state.dispatch);
    for (const each of state.sessions) {
      const session = this.#dispatch.find(each.sessionId);
      session?.exchange.resume(each);
      for (const { key, result } of session?.prompts ?? [])
        if (key !== undefined) this.#resumed.set(key, result);
    }
  }

  /** Waits for the answer to a call that another connection has sent. */
  async #resume({ call, ...resumed }: PendingCallState): Promise<unknown> {
    const { method } = resumed;
    const { key } = call ?? {};
    switch (call?.call) {
      case "open": {
        const [cwd = "", ...additionalDirectories] = call.roots;
        const options = { cwd, additionalDirectories, isKnown: call.isKnown, key, resumed };
        const opening = { cwd, additionalDirectories, mcpServers: [] };
        return this.#opening.open(method, options, opening, () => ({ method, params: {} }), call.sessionId);
      }
      case "pass":
        return this.#pass(method, { sessionId: call.sessionId }, { key, resumed });
      case "close": {
        const session = this.#dispatch.find(call.sessionId);
        if (session !== undefined) return session.close({ key, resumed });
        return this.#requests.close(call.sessionId, { key, resumed });
      }
      case "setConfigOption": {
        const { sessionId, configId, value } = call;
        return this.#dispatch.find(sessionId)?.setConfigOption(configId, value, { key, resumed });
      }
      case "list":
        return this.listSessions({ key, resumed });
      case "login":
        return loginResult(await this.#call(method, {}, callHooks({ key, resumed }, call)));
      case "plain":
        return this.#requests.call(method, {}, { key, resumed });
      default:
        return this.#wire.extension("_", undefined, callHooks({ key, resumed }, { call: "extension" }));
    }
  }

  async close(reason?: string): Promise<void> {
    await this.#wire.close(reason);
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  // ----

  /** A session that the request closes is closed here too, also when the answer comes after an abort. */
  #pass<Result extends object = CallResult>(
    method: string,
    params: object,
    options: (CallOptions & CallHooks) | undefined,
  ): Promise<Result> {
    const { sessionId } = params as { readonly sessionId?: string }; // validated when it is sent
    const closed = () => void (sessionId !== undefined && this.#dispatch.end(sessionId));
    return this.#requests.pass(method, params, options, closesSession(method) ? closed : undefined);
  }

  get mcpServers(): readonly string[] {
    return announcedServers(this.capabilities._meta);
  }

  mcp(serverName: string): McpChannel {
    const { name, version } = this.#own;
    const { dialect, mcpServers: announced } = this;
    return hostedChannel(serverName, {
      name,
      version,
      dialect,
      announced,
      extension: this.request.bind(this),
    });
  }

  #call(method: string, params: unknown, given: Pick<CallOptions, "signal"> & CallHooks): Promise<object> {
    return abortableCall(given.signal, method, () => this.#wire.request(method, params, given));
  }
}
