// Implements a client's connection to an agent: its sessions, its login, and requests outside the protocol.

import { optional } from "../../base/objects.ts";
import {
  forkKeys,
  loginKeys,
  reopenKeys,
  sessionKeys,
  sessionQueryKeys,
} from "../../base/option-keys.gen.ts";
import type {
  Activation,
  AgentCapabilities,
  AgentIntroduction,
  SessionSetup,
  WireCall,
} from "../../edition/agent-edition.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import type { Dialect } from "../../edition/dialect.ts";
import { MessageNames } from "../../edition/message-names.ts";
import type { EditionName } from "../../edition/negotiate.ts";
import { closesSession } from "../../edition/pass-through.ts";
import { authStatusFromWire, listingFromWire, metaOf, withMeta } from "../../edition/wire-fields.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import type { ConnectionError } from "../../jsonrpc/errors.ts";
import type { RequestOptions, SentHook } from "../../jsonrpc/pending-requests.ts";
import type { AuthStatus, ProviderSetting, SessionStatus } from "../../model/agent-status.ts";
import type { AuthMethod, Implementation, Meta } from "../../model/content.ts";
import type { McpChannel } from "../../model/mcp.ts";
import { lists, type UnstableFeatures } from "../../validation/unstable-features.ts";
import type { SessionTools } from "../mcp/client-servers.ts";
import { announcedServers, hostedChannel } from "../mcp/hosted-servers.ts";
import { activation, checkSessionId, forkCall, namelessSession } from "./activation.ts";
import {
  abortableCall,
  abortError,
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
  SessionOptions,
  SessionPage,
  SessionQueryOptions,
} from "./client-connection.ts";
import type { ClientDefinition } from "./client-definition.ts";
import type { ClientDispatch } from "./client-dispatch.ts";
import type { ClientWire } from "./client-wire.ts";
import { ConnectedSession } from "./connected-session.ts";
import type { CallResult, ClientSession, SessionListener, TitleResult } from "./session/client-session.ts";
import type { OpenSessionSettings } from "./session/session-settings.ts";
import { unreadLimits } from "./session/unread-updates.ts";
import { needs, type SessionRequests, sessionRequests } from "./session-requests.ts";

/** The parts of a connection whose version is known. */
export interface ClientConnectionParts {
  readonly wire: ClientWire;
  readonly dispatch: ClientDispatch;
  readonly edition: ClientEdition;
  readonly introduction: AgentIntroduction;
}

/** Makes the request that opens a session. */
type OpeningCall = (opening: Activation) => WireCall;

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
  /** The name and version of this client. */
  readonly #own: Pick<ClientDefinition, "name" | "version">;
  /** The providers that the agent listed as required. */
  #required: readonly string[] = [];
  /** Also of sessions that were closed: one that is opened again has the same messages. */
  readonly #names = new Map<string, MessageNames>();

  constructor(
    { wire, dispatch, edition, introduction }: ClientConnectionParts,
    definition: Pick<
      ClientDefinition,
      "name" | "version" | "log" | "strict" | "connection" | "policy" | "unstable"
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

  async newSession(options: SessionOptions & SentHook): Promise<ClientSession> {
    needs(this.capabilities.sessions, "have sessions");
    const opening = activation("newSession", options, sessionKeys, this.capabilities);
    return this.#opened("newSession", options, opening, (given) => this.#edition.open(given));
  }

  async loadSession(sessionId: string, options: ReopenOptions & SentHook): Promise<ClientSession> {
    checkSessionId("loadSession", sessionId);
    needs(this.capabilities.load, "load sessions");
    const opening = activation("loadSession", options, reopenKeys, this.capabilities);
    const call: OpeningCall = (given) => this.#edition.activate(sessionId, given, true);
    return this.#opened("loadSession", options, opening, call, sessionId);
  }

  async resumeSession(sessionId: string, options: ReopenOptions & SentHook): Promise<ClientSession> {
    checkSessionId("resumeSession", sessionId);
    needs(this.capabilities.resume, "resume sessions");
    const opening = activation("resumeSession", options, reopenKeys, this.capabilities);
    const call: OpeningCall = (given) => this.#edition.activate(sessionId, given, false);
    return this.#opened("resumeSession", options, opening, call, sessionId);
  }

  async forkSession(sessionId: string, options: ForkOptions & SentHook): Promise<ClientSession> {
    needs(this.capabilities.fork, "fork sessions", "fork");
    const opening = activation("forkSession", options, forkKeys, this.capabilities);
    const call: OpeningCall = (given) => forkCall(sessionId, this.#edition.open(given));
    return this.#opened("forkSession", options, opening, call);
  }

  async listSessions({ sent, signal, ...query }: SessionQueryOptions & SentHook = {}): Promise<SessionPage> {
    checkCall("listSessions", query, sessionQueryKeys);
    needs(this.capabilities.list, "list sessions");
    if (query.cwd !== undefined) checkAbsolute("listSessions", "cwd", query.cwd);
    if (query.archived !== undefined) needs(this.capabilities.archive, "list archived sessions", "archive");
    const answer = await this.#call("session/list", optional(query), { signal, sent });
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

  async login(methodId: string, options: LoginOptions & SentHook = {}): Promise<LoginResult> {
    checkCall("login", options, loginKeys);
    const { credentials, _meta, signal, sent } = options;
    checkLogin(methodId, this.authMethods);
    checkCredentials(credentials, this);
    const { method, params } = this.#edition.login(methodId, _meta, credentials);
    return loginResult(await this.#call(method, params, { signal, sent }));
  }

  async logout(options: CallOptions & SentHook = {}): Promise<CallResult> {
    needs(this.capabilities.logout, "log out");
    const { method, params } = this.#edition.logout(options._meta);
    return metaOf(await this.#call(method, params, options));
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
    options?: RequestOptions<unknown> & SentHook,
  ): Promise<unknown> {
    return this.#wire.extension(method, params, options);
  }

  /** Sends messages as they are, for a relay. */
  get passing(): Pick<ClientWire, "passRequest" | "notifyOlder"> {
    return this.#wire;
  }

  notify(method: `_${string}`, params?: unknown): Promise<void> {
    return this.#wire.notifyExtension(method, params);
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
    options: CallOptions | undefined,
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

  #call(method: string, params: unknown, given: CallOptions & SentHook): Promise<object> {
    checkCall(method, given);
    const { signal, sent } = given;
    return abortableCall(signal, method, () => this.#wire.request(method, params, { sent, signal }));
  }

  /** Gives the session its tools before the request that opens it. */
  #opened(
    method: string,
    options: SessionOptions & SentHook,
    opening: Activation,
    call: OpeningCall,
    sessionId?: string,
  ): Promise<ClientSession> {
    return this.#dispatch.servers.open(method, options.tools, { opening, sessionId }, (given, tools) =>
      this.#named(options, call(given), tools, sessionId),
    );
  }

  /** Sends a request whose answer names a session, and installs it before any later message is handled. */
  #named(
    options: SessionOptions & SentHook,
    { method, params }: WireCall,
    tools: SessionTools | undefined,
    sessionId: string | undefined,
  ): Promise<ClientSession> {
    const { signal, sent, lastKnown: known = { configOptions: [], availableCommands: [] } } = options;
    return this.#dispatch.naming(async () => {
      if (signal?.aborted) throw abortError(signal, method);
      // history comes before the answer: the session is there to receive it
      const isKnown = sessionId !== undefined && this.#dispatch.find(sessionId) !== undefined;
      const early = sessionId === undefined ? undefined : this.#install({ sessionId, ...known }, options);
      const receive = (result: object) => {
        const setup = this.#edition.setup(result, sessionId);
        if (setup.sessionId === "") throw namelessSession(method);
        if (signal?.aborted && !isKnown) {
          this.#abandon(setup.sessionId);
          throw abortError(signal, method);
        }
        const session =
          early ?? this.#install({ ...setup, configOptions: [], availableCommands: [] }, options);
        // updates that came before the answer are older than it
        session.opened(setup);
        this.#dispatch.servers.opened(session.sessionId, tools);
        return session;
      };
      const send = () => this.#wire.request(method, params, { receive, sent, signal });
      if (early === undefined) return abortableCall(signal, method, send);
      return abortableCall(signal, method, () => early.replaying(send)).catch((error: unknown) => {
        // one that was open before is still open
        if (!isKnown) this.#dispatch.forget(early.sessionId);
        throw error;
      });
    });
  }

  /** The caller has given up, so nobody will close the session that the agent opened. */
  #abandon(sessionId: string): void {
    // it was opened again meanwhile
    if (this.#dispatch.find(sessionId) !== undefined) return;
    this.#requests.close(sessionId).catch((error: unknown) => {
      this.#settings.log("warn", "a session whose opening was aborted could not be closed", { error });
    });
  }

  #install(
    setup: SessionSetup,
    { cwd, additionalDirectories = [], onUpdate, onEntry }: SessionOptions,
  ): ConnectedSession {
    const known = this.#dispatch.find(setup.sessionId);
    const roots = [cwd, ...additionalDirectories];
    const session =
      known ??
      new ConnectedSession(
        setup,
        roots,
        this.#requests,
        this.#edition.session(this.#unstable, this.#namesOf(setup.sessionId)),
        this.#settings,
      );
    session.events.listen(onUpdate, onEntry);
    if (known === undefined) this.#dispatch.install(session);
    return session;
  }

  #namesOf(sessionId: string): MessageNames {
    const names = this.#names.get(sessionId) ?? new MessageNames();
    this.#names.set(sessionId, names);
    return names;
  }
}
