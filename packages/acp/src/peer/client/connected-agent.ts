// One agent at a client: the handshake, its sessions, and what it asks of us.

import { isObject } from "../../base/is-object.ts";
import type { Activation, AgentFeatures, SessionListing, SessionSetup } from "../../edition/agent-ops.ts";
import { listingFromWire } from "../../edition/client-shared.ts";
import { argumentText } from "../../jsonrpc/argument.ts";
import { ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type {
  AuthMethod,
  AvailableCommand,
  Implementation,
  McpServer,
  Meta,
  SessionConfigOption,
  SystemPrompt,
} from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";
import { errorCodes } from "../../model/error-codes.ts";
import type { Update } from "../../model/update.ts";
import type { AgentBinding } from "./agent-binding.ts";
import type { ClientDefinition } from "./client-definition.ts";
import type { ClientSession } from "./client-session.ts";
import type { AgentCounters } from "./client-wire.ts";
import { LiveSession } from "./live-session.ts";

/** Everything a session needs to live here; nothing is inherited from an earlier time (C16). */
export interface SessionPlace {
  /** Absolute. */
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly McpServer[];
  readonly systemPrompt?: SystemPrompt;
  /** Custom data of the request. */
  readonly meta?: Meta;
  /**
   * Of a load or a resume: what the session showed before. It counts until the agent says otherwise, since many answer
   * with nothing about a session that the client knows already.
   */
  readonly known?: KnownSession;
  /** Listen from the first moment on: a history is not kept for listeners that come after it, beyond 1,024 updates. */
  readonly onUpdate?: (update: Update) => void;
  readonly onEntry?: (entry: Entry) => void;
}

/** What a session showed when it was last heard of. */
export interface KnownSession {
  readonly options: readonly SessionConfigOption[];
  readonly commands: readonly AvailableCommand[];
}

export interface SessionList {
  readonly sessions: readonly SessionListing[];
  readonly nextCursor?: string;
}

/** @internal For a relay, which must know the ids of its requests. */
export type SentHook = Pick<RequestOptions<unknown>, "sent">;

export class ConnectedAgent {
  /** Resolves when the connection has closed, with the reason; never rejects. */
  readonly closed: Promise<ConnectionError>;
  readonly #definition: ClientDefinition;
  readonly #connect: (transport: Transport) => Promise<AgentBinding>;
  readonly #ended = Promise.withResolvers<ConnectionError>();
  #now: AgentBinding;
  /** Whoever is refused while somebody logs in waits for that. */
  #loggingIn: Promise<boolean> | undefined;
  #isRestarting = false;
  #isClosed = false;

  /** @internal Made by client().connect(). */
  constructor(
    definition: ClientDefinition,
    binding: AgentBinding,
    connect: (transport: Transport) => Promise<AgentBinding>,
  ) {
    this.#definition = definition;
    this.#connect = connect;
    this.#now = binding;
    this.closed = this.#ended.promise;
    this.#follow(binding);
  }

  get info(): Implementation | undefined {
    return this.#now.introduction.info;
  }

  /** What the agent offers; what it does not say, it does not offer (C5). */
  get features(): AgentFeatures {
    return this.#now.introduction.features;
  }

  get authMethods(): readonly AuthMethod[] {
    return this.#now.introduction.authMethods;
  }

  /** The version that was agreed on. */
  get version(): number {
    return this.#now.edition.version;
  }

  /** What was counted instead of answered or shown, up to now: noise, stray answers, updates of unknown sessions. */
  get counters(): AgentCounters {
    return this.#now.wire.counters;
  }

  /** A new session. */
  async open(place: SessionPlace & SentHook): Promise<ClientSession> {
    this.#needs(this.features.sessions, "have sessions");
    const activation = this.#activation(place);
    return this.#named(place, () => this.#now.edition.open(activation));
  }

  /** An old session with its history, which arrives as updates before this resolves. */
  async load(sessionId: string, place: SessionPlace & SentHook): Promise<ClientSession> {
    this.#needs(this.features.load, "load sessions");
    return this.#activate(sessionId, place, true);
  }

  /** An old session without its history. */
  async resume(sessionId: string, place: SessionPlace & SentHook): Promise<ClientSession> {
    this.#needs(this.features.resume, "resume sessions");
    return this.#activate(sessionId, place, false);
  }

  /** A new session that begins where another one is. Unstable: list "session/fork". */
  async fork(sessionId: string, place: SessionPlace & SentHook): Promise<ClientSession> {
    this.#needs(this.features.fork, "fork sessions");
    const activation = this.#activation(place);
    return this.#named(place, () => {
      const { params } = this.#now.edition.open(activation);
      return { method: "session/fork", params: { ...(params as object), sessionId } };
    });
  }

  /** One page of the agent's sessions; pass `nextCursor` on as it is. */
  async list({
    sent,
    ...query
  }: { readonly cwd?: string; readonly cursor?: string } & SentHook = {}): Promise<SessionList> {
    this.#needs(this.features.list, "list sessions");
    return listingFromWire(await this.#call("session/list", query, { sent }));
  }

  async delete(sessionId: string, hook: SentHook = {}): Promise<void> {
    this.#needs(this.features.delete, "delete sessions");
    await this.#call("session/delete", { sessionId }, hook);
    this.#now.link.endSession(sessionId);
  }

  async login(methodId: string, hook: SentHook = {}): Promise<void> {
    const method = this.authMethods.find((each) => each.methodId === methodId);
    if (method === undefined) {
      const known = this.authMethods.map((each) => String(each.methodId)).join(", ");
      throw new TypeError(`login: the agent has no method ${methodId}; it has: ${known || "none"}`);
    }
    if (method.type === "terminal") {
      // never passed to the agent: it is run, and the agent is started anew afterwards (C11, C12)
      if (this.#definition.terminalLogin === undefined)
        throw new TypeError("login: this client runs no terminal logins");
      await this.#definition.terminalLogin(method);
      return this.#restart();
    }
    const { method: name, params } = this.#now.edition.login(methodId);
    await this.#now.wire.request(name, params, hook);
  }

  async logout(hook: SentHook = {}): Promise<void> {
    this.#needs(this.features.logout, "log out");
    const { method, params } = this.#now.edition.logout();
    await this.#now.wire.request(method, params, hook);
  }

  /** A request outside the protocol; its name begins with `_`. */
  request(method: `_${string}`, params?: unknown, options?: RequestOptions<unknown>): Promise<unknown> {
    return this.#now.wire.extension(method, params, options);
  }

  /** A notification outside the protocol; its name begins with `_`. */
  notify(method: `_${string}`, params?: unknown): Promise<void> | undefined {
    return this.#now.wire.notifyExtension(method, params);
  }

  close(reason?: string): Promise<void> {
    this.#isClosed = true;
    return this.#now.wire.close(reason);
  }

  // ----

  #activate(sessionId: string, place: SessionPlace & SentHook, replay: boolean): Promise<ClientSession> {
    const activation = this.#activation(place);
    return this.#named(place, () => this.#now.edition.activate(sessionId, activation, replay), sessionId);
  }

  /** Sends a request whose answer names a session, which is there before any later message is handled. */
  #named(
    place: SessionPlace & SentHook,
    call: () => { readonly method: string; readonly params: unknown },
    sessionId?: string,
  ): Promise<ClientSession> {
    return this.#authenticated(() =>
      this.#now.wire.naming(async () => {
        const { method, params } = call();
        // history comes before the answer: the session is there to receive it
        const known = sessionId === undefined ? undefined : this.#now.wire.find(sessionId);
        const { options, commands } = place.known ?? { options: [], commands: [] };
        const early =
          sessionId === undefined
            ? undefined
            : this.#install({ sessionId, configOptions: options, availableCommands: commands }, place);
        const receive = (result: object) => {
          const face = this.#now.edition.setup(result, sessionId);
          // nobody could tell such a session from none
          if (face.sessionId === "") throw namelessSession(method);
          const session =
            early ?? this.#install({ ...face, configOptions: [], availableCommands: [] }, place);
          // what came before the answer is older than what the answer says
          session.setFace(face);
          return session;
        };
        const send = () => this.#now.wire.request(method, params, { receive, sent: place.sent });
        if (early === undefined) return send();
        return early.replaying(send).catch((error: unknown) => {
          // one that was open before is still open
          if (known === undefined) this.#now.wire.forget(early.sessionId);
          throw error;
        });
      }),
    );
  }

  #install(
    face: SessionSetup,
    { cwd, additionalDirectories = [], onUpdate, onEntry }: SessionPlace,
  ): LiveSession {
    let session = this.#now.wire.find(face.sessionId);
    const known = session !== undefined;
    session ??= new LiveSession(
      face,
      [cwd, ...additionalDirectories],
      this.#now.link,
      this.#now.edition.session(),
    );
    if (onUpdate !== undefined) session.onUpdate(onUpdate);
    if (onEntry !== undefined) session.onEntry(onEntry);
    if (!known) this.#now.wire.install(session);
    return session;
  }

  /** Tries, logs in when the agent wants it, and tries once more. */
  async #authenticated<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== errorCodes.authRequired) throw error;
      this.#loggingIn ??= this.#chooseLogin().finally(() => {
        this.#loggingIn = undefined;
      });
      if (!(await this.#loggingIn)) throw error;
      return work();
    }
  }

  /** False when there is nobody who would log in. */
  async #chooseLogin(): Promise<boolean> {
    const methodId = await this.#definition.authenticate?.(this.#usableMethods());
    if (methodId === undefined) return false;
    await this.login(methodId);
    return true;
  }

  /** An agent may read who is logged in when it starts, and never again (C12). */
  async #restart(): Promise<void> {
    const { restart } = this.#definition;
    if (restart === undefined) return;
    this.#isRestarting = true;
    try {
      await this.#now.wire.close("logged in: the agent is started anew");
      this.#now = await this.#connect(await restart.call(this.#definition));
    } catch (error) {
      const message = "the agent could not be started anew after the login";
      this.#ended.resolve(
        error instanceof ConnectionError ? error : new ConnectionError("closed", message, { cause: error }),
      );
      throw error;
    } finally {
      this.#isRestarting = false;
    }
    this.#follow(this.#now);
    if (this.#isClosed) await this.close();
  }

  #follow(binding: AgentBinding): void {
    void binding.wire.closed.then((reason) => {
      if (!this.#isRestarting) this.#ended.resolve(reason);
    });
  }

  /** Some agents list terminal logins for clients that run none. */
  #usableMethods(): readonly AuthMethod[] {
    const runsTerminals = this.#definition.terminalLogin !== undefined;
    return this.authMethods.filter(({ type }) => type !== "terminal" || runsTerminals);
  }

  #activation(place: SessionPlace): Activation {
    if (!isObject(place)) {
      const wanted = 'a place as the last argument, as { cwd: "/absolute/path" }';
      throw new TypeError(`a session needs ${wanted}, got ${argumentText(place)}`);
    }
    const { cwd, additionalDirectories = [], mcpServers = [], systemPrompt, meta } = place;
    if (additionalDirectories.length > 0)
      this.#needs(this.features.additionalDirectories, "take additional directories");
    if (systemPrompt !== undefined) this.#checkSystemPrompt(systemPrompt);
    for (const { type } of mcpServers) {
      if (type === "http") this.#needs(this.features.mcpHttp, "use MCP servers over HTTP");
      else if (type === "stdio") this.#needs(this.features.mcpStdio, "use MCP servers over stdio");
      else if (String(type) === "sse") this.#needs(this.features.mcpSse, "use MCP servers over SSE");
    }
    const roots = [...new Set(additionalDirectories)].filter((root) => root !== cwd);
    return {
      cwd,
      additionalDirectories: roots,
      mcpServers,
      ...(systemPrompt === undefined ? {} : { systemPrompt }),
      ...(meta === undefined ? {} : { meta }),
    };
  }

  /** Only what was declared, and text (C65). */
  #checkSystemPrompt({ mode, content }: SystemPrompt): void {
    this.#needs(this.features.systemPrompt, "take a system prompt");
    if (mode === "override")
      this.#needs(this.features.systemPromptOverride, "let a system prompt override its own");
    if (content.length === 0 || content.some((block) => block.type !== "text" || block.text === ""))
      throw new TypeError("systemPrompt: its content must be one or more blocks of text, none of them empty");
  }

  #call(method: string, params: object, hook: SentHook): Promise<object> {
    return this.#authenticated(() => this.#now.wire.request(method, params, hook));
  }

  /** Asking for what the agent does not offer is a mistake on this side (C6-C10). */
  #needs(offered: boolean, what: string): void {
    if (!offered) throw new TypeError(`this agent does not ${what}`);
  }
}

function namelessSession(method: string): ConnectionError {
  return new ConnectionError("protocol", `${method}: result/sessionId must not be empty`);
}
