// One client at an agent: negotiates the version, turns its requests into operations, and answers them.

import type { AgentEdition } from "../edition/agent-edition.ts";
import type { AgentOp, ClientFeatures } from "../edition/agent-ops.ts";
import { chooseVersion, loadAgentVersion, protocolVersions } from "../edition/negotiate.ts";
import { Connection } from "../jsonrpc/connection.ts";
import { type ConnectionError, RequestError, rpcCodes } from "../jsonrpc/errors.ts";
import type { IncomingRequest } from "../jsonrpc/incoming-request.ts";
import type { Log } from "../jsonrpc/log.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import type { Implementation, Meta } from "../model/content.ts";
import type { SessionStore } from "../model/store.ts";
import { Failure } from "../wire/decode.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { authMethodsFor, introduction } from "./agent-introduction.ts";
import type { AgentLink } from "./agent-link.ts";
import type { AgentSession, PromptTicket } from "./agent-session.ts";
import { AgentSessions } from "./agent-sessions.ts";
import { refuseBatch } from "./batch-rules.ts";
import { BoundWire, methodNotFound, sessionOf } from "./bound-wire.ts";
import { extensionName } from "./extension-name.ts";
import { authRequired, type ExtensionContext } from "./extensions.ts";
import { HeldInput } from "./held-input.ts";
import { newId } from "./new-id.ts";
import { unsupportedContent } from "./prompt-content.ts";

export class AgentConnection implements AgentLink {
  readonly definition: AgentDefinition;
  readonly log: Log;
  /** Resolves when the connection has closed and its sessions with it; never rejects. */
  readonly closed: Promise<ConnectionError>;
  readonly elicitations = new Set<string>();
  readonly #connection: Connection;
  readonly #sessions: AgentSessions;
  #held = new HeldInput();
  #initialized = false;
  #loading = false;
  #wire: BoundWire | undefined;
  #edition: AgentEdition | undefined;
  #features: ClientFeatures | undefined;
  clientInfo: Implementation | undefined;
  clientMeta: Meta | undefined;

  /** @internal Made by agent().connect(). */
  constructor(transport: Transport, definition: AgentDefinition, store: SessionStore) {
    this.definition = definition;
    this.log = definition.log ?? (() => undefined);
    this.#sessions = new AgentSessions(this, store);
    this.#connection = new Connection(transport, {
      ...definition,
      scopeOf: sessionOf,
      refuseBatch,
      handlers: {
        request: (method, params, request) => this.#request(method, params, request),
        notification: (method, params) => this.#notification(method, params),
      },
    });
    this.closed = this.#connection.closed.then(async (reason) => {
      await this.#sessions.closeAll();
      return reason;
    });
  }

  get edition(): AgentEdition {
    if (this.#edition === undefined) throw new Error("the connection has no version yet");
    return this.#edition;
  }

  get features(): ClientFeatures {
    if (this.#features === undefined) throw new Error("the connection has no client yet");
    return this.#features;
  }

  /** The version that was agreed on; undefined before. */
  get version(): number | undefined {
    return this.#edition?.version;
  }

  close(reason?: string): Promise<void> {
    return this.#connection.close(reason);
  }

  /** A notification outside the protocol; its name begins with `_`. */
  notify(method: `_${string}`, params?: unknown): Promise<void> | undefined {
    return this.#connection.notify(extensionName(method), params);
  }

  // ---- what sessions and turns need

  sendUpdate(sessionId: string, update: object): Promise<void> | undefined {
    const params = this.#bound().notification("session/update", { sessionId, update });
    return this.#connection.notify("session/update", params);
  }

  checkUpdate(sessionId: string, update: object): object {
    return this.#bound().notification("session/update", { sessionId, update }) as object; // as it was given
  }

  sendChecked(params: object): Promise<void> | undefined {
    return this.#connection.notify("session/update", params);
  }

  ask(method: string, params: unknown, signal?: AbortSignal, cancelGraceMs = 10_000): Promise<unknown> {
    const options = signal === undefined ? {} : { signal, cancelGraceMs };
    return this.#bound().request(this.#connection, method, params, options);
  }

  tell(method: string, params: unknown): void {
    void this.#connection.notify(method, this.#bound().notification(method, params));
  }

  askExtension(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.#connection.request(extensionName(method), params, signal === undefined ? {} : { signal });
  }

  withdrawn(ticket: PromptTicket): void {
    const { answersAtInsertion } = this.edition.prompts;
    if (answersAtInsertion)
      ticket.refused(new RequestError(rpcCodes.cancelled, "cancelled before it was accepted"));
    else ticket.ended({ stopReason: "cancelled" });
  }

  isAnnounced(session: AgentSession): boolean {
    return this.#sessions.isAnnounced(session);
  }

  saveOptions(session: AgentSession): void {
    this.#sessions.saveOptions(session);
  }

  saveTitle(session: AgentSession, title: string): void {
    this.#sessions.saveTitle(session, title);
  }

  saveActivity(session: AgentSession): void {
    this.#sessions.saveActivity(session);
  }

  get reportsUsage(): boolean {
    const { unstable = [] } = this.definition;
    return unstable === "*" || unstable.includes(this.edition.prompts.usageMethod);
  }

  // ---- what the client sends

  #request(method: string, params: unknown, request: IncomingRequest): unknown {
    if (method === "initialize") return this.#initialize(params, request);
    // the handshake may be on its way: initialize and session/new in one write succeed
    if (this.#loading) return this.#held.request(() => this.#route(method, params, request));
    return this.#route(method, params, request);
  }

  #notification(method: string, params: unknown): undefined {
    if (this.#loading) this.#held.notification(() => this.#notified(method, params));
    else this.#notified(method, params);
  }

  async #initialize(params: unknown, request: IncomingRequest): Promise<object> {
    if (this.#loading || (this.#initialized && (this.#edition?.version === 1 || this.#sessions.used))) {
      throw new RequestError(
        rpcCodes.invalidRequest,
        "initialize: the connection has been initialized already",
        {
          reason: "already_initialized",
        },
      );
    }
    const version = chooseVersion(params, this.definition.versions ?? protocolVersions);
    this.#loading = true;
    this.#held = new HeldInput();
    request.afterReply(() => {
      this.#loading = false;
      this.#held.release();
    });
    const { edition, wire } = await loadAgentVersion(version);
    const bound = new BoundWire(wire, "agent", this.definition.unstable ?? [], this.log);
    const row = bound.receivedRequest("initialize");
    if (row === undefined) throw methodNotFound("initialize");
    const client = edition.client(bound.requestParams(row, downgraded(params, version)) as object);
    this.#connection.idPolicy = wire.idPolicy;
    this.#wire = bound;
    this.#edition = edition;
    this.#features = client.features;
    this.clientInfo = client.info;
    this.clientMeta = client.meta;
    this.#initialized = true;
    return bound.result(row, edition.introduce(introduction(this.definition, client.features))) as object;
  }

  #route(method: string, params: unknown, request: IncomingRequest): unknown {
    if (method.startsWith("_")) return this.#extension(method, params, request);
    const wire = this.#wire;
    const edition = this.#edition;
    if (wire === undefined || edition === undefined) {
      throw new RequestError(rpcCodes.invalidRequest, `${method.slice(0, 100)}: initialize must come first`, {
        reason: "not_initialized",
      });
    }
    const row = wire.receivedRequest(method);
    if (row === undefined && !edition.legacyMethods.has(method)) throw methodNotFound(method);
    const decoded = row === undefined ? legacyParams(method, params) : wire.requestParams(row, params);
    if (method.startsWith("session/") && this.definition.isLoggedIn?.() === false) throw this.#loginNeeded();
    // an object, since every row of the table is one
    const op = edition.decode(method, decoded as object, (sessionId) => this.#sessions.optionsOf(sessionId));
    if (op === undefined) throw methodNotFound(method);
    if (op.op === "prompt") {
      return this.#prompt(op, request).then((result) =>
        row === undefined ? result : wire.result(row, result),
      );
    }
    const run = this.#sessions.run(op, request).catch((error: unknown) => {
      throw isAuthRequired(error) ? this.#loginNeeded() : error;
    });
    return run.then((result) => {
      const encoded = edition.encode(op, result);
      const valid = row === undefined ? {} : (wire.result(row, isSetMode(method) ? {} : encoded) as object);
      return result.kind === "face" ? { ...valid, ...edition.legacyFace(result.face) } : valid;
    });
  }

  /** With the ways to log in that this client was shown (A112), unless they are too many for an error. */
  #loginNeeded(): RequestError {
    const methods = this.edition.authMethods(authMethodsFor(this.definition, this.features));
    const { code, message } = authRequired();
    const isSmall = methods.length > 0 && JSON.stringify(methods).length < 900;
    return new RequestError(code, message, {
      reason: "auth_required",
      ...(isSmall ? { authMethods: methods } : {}),
    });
  }

  #prompt(op: Extract<AgentOp, { op: "prompt" }>, request: IncomingRequest): Promise<object> {
    const session = this.#sessions.get(op.sessionId);
    const { prompts } = this.edition;
    const { image = false, audio = false, embeddedContext = false } = this.definition.accepts ?? {};
    const wrong = unsupportedContent(op.prompt, { image, audio, embeddedContext });
    if (wrong !== undefined) {
      throw new RequestError(rpcCodes.invalidParams, `session/prompt: ${wrong}`, {
        reason: "invalid_params",
        path: "/prompt",
      });
    }
    return new Promise((resolve, reject) => {
      const ticket: PromptTicket = {
        prompt: op.prompt,
        ...(op.meta === undefined ? {} : { meta: op.meta }),
        messageId: newId(),
        inserted: () => {
          if (prompts.answersAtInsertion) resolve(prompts.inserted(ticket.messageId));
        },
        ended: (outcome) => {
          // after its insertion a prompt has been answered, or refused
          if (prompts.answersAtInsertion) return;
          try {
            resolve(prompts.ended(outcome));
          } catch (error) {
            reject(error);
          }
        },
        refused: reject,
      };
      // cancelled while the version was loading
      if (request.cancelled) return this.withdrawn(ticket);
      request.signal.addEventListener("abort", () => {
        // withdrawn while it waits, or cancelled like any turn
        if (session.withdraw(ticket)) this.withdrawn(ticket);
        else if (!prompts.answersAtInsertion && session.turn?.messageId === ticket.messageId)
          session.turn.cancel();
      });
      session.prompt(ticket);
    });
  }

  #extension(method: string, params: unknown, request: IncomingRequest): unknown {
    const handler = this.definition.requests?.[method as `_${string}`];
    if (handler === undefined || !Object.hasOwn(this.definition.requests ?? {}, method))
      throw methodNotFound(method);
    return handler(params, this.#extensionContext(request.signal));
  }

  #notified(method: string, params: unknown): void {
    if (method.startsWith("_")) {
      const { notifications = {} } = this.definition;
      if (!Object.hasOwn(notifications, method)) return;
      notifications[method as `_${string}`]?.(params, this.#extensionContext(new AbortController().signal));
      return;
    }
    const row = this.#wire?.receivedNotification(method);
    if (row === undefined || this.#wire === undefined) return;
    const decoded = this.#wire.notificationParams(row, params);
    if (decoded instanceof Failure || method !== "session/cancel") return;
    this.#sessions.find((decoded as { sessionId: string }).sessionId)?.cancel();
  }

  #extensionContext(signal: AbortSignal): ExtensionContext {
    return {
      signal,
      request: (method, params, options = {}) =>
        this.#connection.request(extensionName(method), params, { signal, ...options }),
      notify: (method, params) => this.notify(method, params),
    };
  }

  #bound(): BoundWire {
    if (this.#wire === undefined) throw new Error("the connection has no version yet");
    return this.#wire;
  }
}

/** A client that asks for more than was chosen may not have said what the chosen version needs. */
function downgraded(params: unknown, version: number): unknown {
  const given = params as { protocolVersion: number; info?: unknown };
  if (version !== 2 || given.info !== undefined || given.protocolVersion === 2) return params;
  return { ...given, info: { name: "unknown", version: "unknown" } };
}

function isAuthRequired(error: unknown): boolean {
  const data = error instanceof RequestError ? (error.data as { reason?: unknown } | undefined) : undefined;
  return data?.reason === "auth_required";
}

/** Version 1 answers these with nothing, whatever they changed. */
function isSetMode(method: string): boolean {
  return method === "session/set_mode";
}

function legacyParams(method: string, params: unknown): object {
  const { sessionId, modelId } = (params ?? {}) as { sessionId?: unknown; modelId?: unknown };
  if (typeof sessionId === "string" && typeof modelId === "string") return { sessionId, modelId };
  const path = typeof sessionId === "string" ? "/modelId" : "/sessionId";
  throw new RequestError(rpcCodes.invalidParams, `${method}: params${path} must be string`, {
    reason: "invalid_params",
    path,
  });
}
