// The API of one connected agent: its sessions, its login, and requests outside the protocol.

import { isObject, optional } from "../../base/objects.ts";
import type {
  Activation,
  AgentCapabilities,
  AgentIntroduction,
  SessionInfo,
  SessionSetup,
} from "../../edition/agent-edition.ts";
import type { ClientEdition, ClientSessionEdition } from "../../edition/client-edition.ts";
import type { Edition } from "../../edition/negotiate.ts";
import { listingFromWire } from "../../edition/wire-fields.ts";
import { argumentText, ConnectionError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type {
  AuthMethod,
  AvailableCommand,
  Implementation,
  Meta,
  SessionConfigOption,
  SystemPrompt,
} from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";
import { completeServers, type OutgoingMcpServer } from "../../model/outgoing.ts";
import type { SessionUpdate } from "../../model/update.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import type { ClientDefinition } from "./client-definition.ts";
import type { AgentCounters, ClientDispatch } from "./client-dispatch.ts";
import type { ClientSession } from "./client-session.ts";
import type { ClientWire } from "./client-wire.ts";
import { ConnectedSession, type OpenSessionSettings } from "./connected-session.ts";
import { SessionRequests } from "./session-requests.ts";
import { unreadLimits } from "./unread-updates.ts";

/** The directories, servers and listeners of a session; nothing is inherited from an earlier activation. */
export interface SessionOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly OutgoingMcpServer[];
  readonly systemPrompt?: SystemPrompt;
  /** Custom data of the request. */
  readonly _meta?: Meta;
  /**
   * For a load or a resume: the last known options and commands. They count until the agent reports others, since many
   * agents do not repeat them.
   */
  readonly known?: KnownSession;
  /** Listeners that miss nothing: for later ones only 1,024 updates of a history are kept. */
  readonly onUpdate?: (update: SessionUpdate) => void;
  readonly onEntry?: (entry: Entry) => void;
}

/** The last known options and commands of a session. */
export interface KnownSession {
  readonly configOptions: readonly SessionConfigOption[];
  readonly availableCommands: readonly AvailableCommand[];
}

export interface SessionPage {
  readonly sessions: readonly SessionInfo[];
  readonly nextCursor?: string;
}

/** @internal For a relay, which must know the ids of its requests. */
export type SentHook = Pick<RequestOptions<unknown>, "sent">;

/** The parts of a connection whose version is known. */
export interface AgentConnectionParts {
  readonly wire: ClientWire;
  readonly dispatch: ClientDispatch;
  readonly edition: ClientEdition;
  readonly introduction: AgentIntroduction;
}

export class ConnectedAgent {
  /** Resolves when the connection has closed, with the reason; never rejects. */
  readonly closed: Promise<ConnectionError>;
  readonly #wire: ClientWire;
  readonly #dispatch: ClientDispatch;
  readonly #edition: ClientEdition;
  readonly #introduction: AgentIntroduction;
  readonly #requests: SessionRequests;
  readonly #settings: OpenSessionSettings;
  readonly #unstable: UnstableFeatures;

  /** @internal Made by client().connect(). */
  constructor(
    { wire, dispatch, edition, introduction }: AgentConnectionParts,
    definition: Pick<ClientDefinition, "log" | "strict" | "connection" | "unstable">,
  ) {
    this.#wire = wire;
    this.#dispatch = dispatch;
    this.#edition = edition;
    this.#unstable = definition.unstable ?? [];
    this.#introduction = introduction;
    this.#requests = new SessionRequests(wire, edition, introduction.capabilities);
    this.#settings = {
      log: definition.log ?? (() => undefined),
      unread: unreadLimits(definition.connection ?? {}),
      isStrict: definition.strict === true,
      closed: (sessionId) => dispatch.end(sessionId),
    };
    this.closed = dispatch.closed;
  }

  get info(): Implementation | undefined {
    return this.#introduction.info;
  }

  /** The capabilities of the agent. */
  get capabilities(): AgentCapabilities {
    return this.#introduction.capabilities;
  }

  get authMethods(): readonly AuthMethod[] {
    return this.#introduction.authMethods;
  }

  /** The edition of the protocol that was agreed on. */
  get edition(): Edition {
    return this.#edition.name;
  }

  /** Counts of ignored input: noise, stray answers, updates of unknown sessions. */
  get counters(): AgentCounters {
    return this.#dispatch.counters;
  }

  /** Opens a new session. */
  async newSession(place: SessionOptions & SentHook): Promise<ClientSession> {
    this.#needs(this.capabilities.sessions, "have sessions");
    const activation = this.#activation(place);
    return this.#named(place, () => this.#edition.open(activation));
  }

  /** Loads a session with its history, which arrives as updates before this resolves. */
  async loadSession(sessionId: string, place: SessionOptions & SentHook): Promise<ClientSession> {
    this.#needs(this.capabilities.load, "load sessions");
    return this.#activate(sessionId, place, true);
  }

  /** Resumes a session without its history. */
  async resumeSession(sessionId: string, place: SessionOptions & SentHook): Promise<ClientSession> {
    this.#needs(this.capabilities.resume, "resume sessions");
    return this.#activate(sessionId, place, false);
  }

  /** Opens a new session with the conversation of another one. Needs the unstable feature "fork". */
  async forkSession(sessionId: string, place: SessionOptions & SentHook): Promise<ClientSession> {
    this.#needs(this.capabilities.fork, "fork sessions");
    const activation = this.#activation(place);
    return this.#named(place, () => {
      const { params } = this.#edition.open(activation);
      return { method: "session/fork", params: { ...(params as object), sessionId } };
    });
  }

  /** One page of the agent's sessions; pass `nextCursor` on as it is. */
  async listSessions({
    sent,
    ...query
  }: { readonly cwd?: string; readonly cursor?: string } & SentHook = {}): Promise<SessionPage> {
    this.#needs(this.capabilities.list, "list sessions");
    return listingFromWire(await this.#wire.request("session/list", query, { sent }));
  }

  async deleteSession(sessionId: string, hook: SentHook = {}): Promise<void> {
    this.#needs(this.capabilities.delete, "delete sessions");
    await this.#wire.request("session/delete", { sessionId }, hook);
    this.#dispatch.end(sessionId);
  }

  async login(methodId: string, hook: SentHook = {}): Promise<void> {
    const method = this.authMethods.find((each) => each.methodId === methodId);
    if (method === undefined) {
      const known = this.authMethods.map((each) => String(each.methodId)).join(", ");
      throw new TypeError(`login: the agent has no method ${methodId}; it has: ${known || "none"}`);
    }
    // never sent to the agent (C11)
    if (method.type === "terminal") {
      throw new TypeError(
        `login: ${methodId} is a terminal login: run the agent's program with its arguments, then connect again`,
      );
    }
    const { method: name, params } = this.#edition.login(methodId);
    await this.#wire.request(name, params, hook);
  }

  async logout(hook: SentHook = {}): Promise<void> {
    this.#needs(this.capabilities.logout, "log out");
    const { method, params } = this.#edition.logout();
    await this.#wire.request(method, params, hook);
  }

  /** A request outside the protocol; its name begins with `_`. */
  request(method: `_${string}`, params?: unknown, options?: RequestOptions<unknown>): Promise<unknown> {
    return this.#wire.extension(method, params, options);
  }

  /** A notification outside the protocol; its name begins with `_`. */
  notify(method: `_${string}`, params?: unknown): Promise<void> | undefined {
    return this.#wire.notifyExtension(method, params);
  }

  /** Ends the connection and all that its sessions were served. */
  async close(reason?: string): Promise<void> {
    await this.#wire.close(reason);
    await this.closed;
  }

  // ----

  #activate(sessionId: string, place: SessionOptions & SentHook, replay: boolean): Promise<ClientSession> {
    const activation = this.#activation(place);
    return this.#named(place, () => this.#edition.activate(sessionId, activation, replay), sessionId);
  }

  /** Sends a request whose answer names a session, and installs it before any later message is handled. */
  #named(
    place: SessionOptions & SentHook,
    call: () => { readonly method: string; readonly params: unknown },
    sessionId?: string,
  ): Promise<ClientSession> {
    return this.#dispatch.naming(async () => {
      const { method, params } = call();
      // history comes before the answer: the session is there to receive it
      const isKnown = sessionId !== undefined && this.#dispatch.find(sessionId) !== undefined;
      const { configOptions: options, availableCommands: commands } = place.known ?? {
        configOptions: [],
        availableCommands: [],
      };
      const early =
        sessionId === undefined
          ? undefined
          : this.#install({ sessionId, configOptions: options, availableCommands: commands }, place);
      const receive = (result: object) => {
        const setup = this.#edition.setup(result, sessionId);
        if (setup.sessionId === "") throw namelessSession(method);
        const session = early ?? this.#install({ ...setup, configOptions: [], availableCommands: [] }, place);
        // updates that came before the answer are older than it
        session.opened(setup);
        return session;
      };
      const send = () => this.#wire.request(method, params, { receive, sent: place.sent });
      if (early === undefined) return send();
      return early.replaying(send).catch((error: unknown) => {
        // one that was open before is still open
        if (!isKnown) this.#dispatch.forget(early.sessionId);
        throw error;
      });
    });
  }

  #install(
    setup: SessionSetup,
    { cwd, additionalDirectories = [], onUpdate, onEntry }: SessionOptions,
  ): ConnectedSession {
    const known = this.#dispatch.find(setup.sessionId);
    const roots = [cwd, ...additionalDirectories];
    const session =
      known ?? new ConnectedSession(setup, roots, this.#requests, this.#newEdition(), this.#settings);
    if (onUpdate !== undefined) session.onUpdate(onUpdate);
    if (onEntry !== undefined) session.onEntry(onEntry);
    if (known === undefined) this.#dispatch.install(session);
    return session;
  }

  #newEdition(): ClientSessionEdition {
    return this.#edition.session(this.#unstable);
  }

  #activation(place: SessionOptions): Activation {
    if (!isObject(place)) {
      const wanted = 'an object with `cwd` as the last argument, as { cwd: "/absolute/path" }';
      throw new TypeError(`expected ${wanted}, got ${argumentText(place)}`);
    }
    const { cwd, additionalDirectories = [], systemPrompt, _meta } = place;
    const mcpServers = completeServers(place.mcpServers ?? []);
    if (additionalDirectories.length > 0)
      this.#needs(this.capabilities.additionalDirectories, "take additional directories");
    if (systemPrompt !== undefined) this.#checkSystemPrompt(systemPrompt);
    for (const { type } of mcpServers) {
      if (type === "http") this.#needs(this.capabilities.mcpHttp, "use MCP servers over HTTP");
      else if (type === "stdio") this.#needs(this.capabilities.mcpStdio, "use MCP servers over stdio");
      else if (type === "sse") this.#needs(this.capabilities.mcpSse, "use MCP servers over SSE");
    }
    const roots = [...new Set(additionalDirectories)].filter((root) => root !== cwd);
    return { cwd, additionalDirectories: roots, mcpServers, ...optional({ systemPrompt, _meta }) };
  }

  /** Only what was declared, and text. */
  #checkSystemPrompt({ mode, content }: SystemPrompt): void {
    this.#needs(this.capabilities.systemPrompt, "take a system prompt");
    if (mode === "override")
      this.#needs(this.capabilities.systemPromptOverride, "let a system prompt override its own");
    if (content.length === 0 || content.some((block) => block.type !== "text" || block.text === ""))
      throw new TypeError("systemPrompt: its content must be one or more blocks of text, none of them empty");
  }

  /** Throws for a request that the agent does not support. */
  #needs(offered: boolean, what: string): void {
    if (!offered) throw new TypeError(`this agent does not ${what}`);
  }
}

function namelessSession(method: string): ConnectionError {
  return new ConnectionError("protocol", `${method}: result/sessionId must not be empty`);
}
