// Dispatches what an agent sends to the sessions and handlers of a client.

import { isObject, optional } from "../../base/objects.ts";
import { takenMethod, vetoMethod } from "../../base/parley-extensions.ts";
import type { AgentCapabilities } from "../../edition/agent-edition.ts";
import type { ClientEdition, ServiceOp } from "../../edition/client-edition.ts";
import { dialectOfParams, dialectSentence } from "../../edition/dialect-tells.ts";
import { updateFromWire } from "../../edition/wire-fields.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { PermissionRequest } from "../../model/ask.ts";
import { type BoundMethod, decodeParams, Failure } from "../../wire/decode.ts";
import type { BoundWire } from "../base/bound-wire.ts";
import { takenError } from "../base/taken-session.ts";
import { ClientServers } from "../mcp/client-servers.ts";
import { isRelayedMcp, messageMethod, refuseFirstGeneration } from "../mcp/mcp-wire.ts";
import type { ToolUse } from "../mcp/offered-server.ts";
import type { ClientCounters } from "./client-connection.ts";
import { type ClientDefinition, offeredFeatures, type RelayHooks } from "./client-definition.ts";
import type { ClientWire } from "./client-wire.ts";
import type { ConnectedSession } from "./connected-session.ts";
import type { DispatchState } from "./connection-snapshot.ts";
import { DroppedUpdates, OrphanUpdates } from "./dropped-updates.ts";
import { Elicitations } from "./elicitations.ts";
import { Permissions, type Permit } from "./policy/permissions.ts";
import { LargeAnswers, SessionServices } from "./session-services.ts";

interface ClientDispatchParts {
  readonly definition: ClientDefinition;
  readonly agent: AgentCapabilities;
  readonly bound: BoundWire;
  readonly edition: ClientEdition;
  readonly hooks: RelayHooks | undefined;
}

export class ClientDispatch {
  /** Resolves when the connection has closed and all services of its sessions have ended. */
  readonly closed: Promise<ConnectionError>;
  /** The MCP servers that sessions are given. */
  readonly servers: ClientServers;
  readonly #log: Log;
  readonly #wire: ClientWire;
  readonly #large: LargeAnswers;
  readonly permissions: Permissions;
  readonly #definition: ClientDefinition;
  readonly #hooks: RelayHooks | undefined;
  readonly #bound: BoundWire;
  readonly #edition: ClientEdition;
  readonly #sessions = new Map<string, ConnectedSession>();
  readonly #services = new Map<string, SessionServices>();
  /** Services of closed sessions that are still closing. */
  readonly #ending = new Set<Promise<void>>();
  readonly #dropped: DroppedUpdates;
  readonly #orphans: OrphanUpdates;
  #updateRow: BoundMethod | undefined;
  #droppedDialect: string | undefined;
  /** The session of the last update: comparing its id costs less than looking it up. */
  #last: ConnectedSession | undefined;
  readonly #elicitations: Elicitations;
  readonly #authListeners = new Set<(status: object) => void>();
  #lastAuth: object | undefined;

  constructor(
    wire: ClientWire,
    connectionClosed: Promise<ConnectionError>,
    { definition, agent, bound, edition, hooks }: ClientDispatchParts,
  ) {
    this.#hooks = hooks;
    this.#log = guardedLog(definition.log);
    this.#elicitations = new Elicitations(definition, hooks?.elicitationModes, this.#log);
    this.#dropped = new DroppedUpdates(this.#log);
    this.#orphans = new OrphanUpdates(this.#dropped);
    this.#wire = wire;
    this.#large = new LargeAnswers(() => wire.room);
    this.permissions = new Permissions(definition, this.#log);
    this.#definition = definition;
    this.#bound = bound;
    this.#edition = edition;
    const { permit } = this.permissions;
    this.servers = new ClientServers({
      name: definition.name,
      kit: definition.mcp,
      // in a dialect such servers are of other agents
      agent: {
        native: agent.mcpAcp && wire.dialect === undefined,
        http: agent.mcpHttp,
        stdio: agent.mcpStdio,
      },
      receiptMs: definition.connection?.mcpReceiptMs ?? 10_000,
      log: this.#log,
      receipt: definition.mcpReceipt,
      permit: permit && ((sessionId, use, signal) => this.#permitTool(permit, sessionId, use, signal)),
      notify: (method, params) => wire.notify(method, params),
      notifyOlder: (method, params) => wire.notifyOlder(method, params),
    });
    this.closed = connectionClosed.then(async (reason) => {
      for (const session of this.#sessions.values()) session.connectionEnded(reason);
      this.#dropped.summarise();
      await Promise.all([
        ...[...this.#services.values()].map((each) => each.close()),
        ...this.#ending,
        this.servers.close(),
      ]);
      return reason;
    });
  }

  get counters(): ClientCounters {
    const { orphan, invalid, repaired } = this.#dropped.counts;
    return {
      ...this.#wire.counters,
      orphanUpdates: orphan,
      invalidUpdates: invalid,
      ...optional({ droppedDialect: this.#droppedDialect }),
      repairedUpdates: repaired,
    };
  }

  find(sessionId: string): ConnectedSession | undefined {
    return this.#sessions.get(sessionId);
  }

  get sessions(): readonly ConnectedSession[] {
    return [...this.#sessions.values()];
  }

  get state(): DispatchState {
    const terminals = [...this.#services].map(([id, services]) => [id, services.terminalIds] as const);
    return {
      counts: { ...this.#dropped.counts },
      orphans: this.#orphans.kept,
      terminals: Object.fromEntries(terminals.filter(([, ids]) => ids.length > 0)),
      elicitations: this.#elicitations.open,
      ...optional({ droppedDialect: this.#droppedDialect, authStatus: this.#lastAuth }),
    };
  }

  /** Goes on from a state. Its sessions are there, and the calls that may open others are being waited for. */
  restore(state: DispatchState): void {
    this.#dropped.restore(state.counts);
    for (const { sessionId, update, chars } of state.orphans) this.#orphans.add(sessionId, update, chars);
    for (const [sessionId, ids] of Object.entries(state.terminals)) {
      const session = this.#sessions.get(sessionId);
      if (session !== undefined) this.#servicesOf(session, ids);
    }
    this.#elicitations.restore(state.elicitations);
    this.#droppedDialect = state.droppedDialect;
    this.#lastAuth = state.authStatus;
  }

  install(session: ConnectedSession): void {
    this.#sessions.set(session.sessionId, session);
    this.#last = undefined;
    for (const { update, chars } of this.#orphans.adopt(session.sessionId)) session.receive(update, chars);
  }

  /** Ends a session that was closed or deleted, and closes what it was served. */
  end(sessionId: string): void {
    this.#sessions.get(sessionId)?.ended();
    this.forget(sessionId);
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#last = undefined;
    const services = this.#services.get(sessionId);
    this.#services.delete(sessionId);
    if (services === undefined) return;
    const ending = services
      .close()
      .catch((error: unknown) => {
        this.#log("error", "closing a session's terminals failed", { error });
      })
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  /** Keeps the updates of unknown sessions while the work runs: its answer may name one. */
  naming<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#orphans.during(work);
  }

  // ---- what the agent sends

  notified(method: string, params: unknown, chars: number): void {
    if (method === "session/update") return this.#updated(params, chars);
    if (method.startsWith("_")) return this.#extensionNotified(method, params);
    if (this.#hasMcp && isRelayedMcp(method)) return this.#hooks?.otherNotification(method, params);
    const row = this.#bound.receivedNotification(method);
    if (row === undefined) return;
    this.#edition.repair(method, params);
    const decoded = this.#bound.notificationParams(row, params);
    if (decoded instanceof Failure) return;
    if (method === "auth/status_update") return this.#authUpdated(decoded as object); // as below
    if (method !== "elicitation/complete") return;
    this.#elicitations.completed(decoded as { elicitationId: string }); // validated by the method's row
  }

  /** Calls the listener with every report of the agent's login, the last one included. */
  onAuthStatus(listener: (status: object) => unknown): () => void {
    const guarded = (status: object): void => {
      try {
        listener(status);
      } catch (error) {
        this.#log("error", "a listener failed", { error });
      }
    };
    this.#authListeners.add(guarded);
    if (this.#lastAuth !== undefined) guarded(this.#lastAuth);
    return () => this.#authListeners.delete(guarded);
  }

  #authUpdated(status: object): void {
    this.#lastAuth = status;
    this.#hooks?.authStatusUpdated(status);
    for (const listener of this.#authListeners) listener(status);
  }

  /** Nearly every message is an update: its row is looked up once. */
  #updated(params: unknown, chars: number): void {
    this.#updateRow ??= this.#bound.receivedNotification("session/update");
    if (this.#updateRow === undefined) return;
    const repaired = this.#edition.repair("session/update", params);
    const decoded = decodeParams(this.#updateRow, params);
    if (decoded instanceof Failure) return this.#refused(params, decoded);
    if (repaired !== undefined) this.#dropped.note("repaired", { ...updateDetails(params), repaired });
    // as: validated by the method's row
    const { sessionId } = decoded as { sessionId: string };
    const update = updateFromWire(decoded as { update: object });
    if (this.#last?.sessionId !== sessionId) this.#last = this.#sessions.get(sessionId);
    if (this.#last === undefined) this.#orphans.add(sessionId, update, chars);
    else this.#last.receive(update, chars);
  }

  /** The log never has the value, which may be a secret. */
  #refused(params: unknown, { path, expected, got }: Failure): void {
    const details = updateDetails(params);
    const dialect = dialectOfParams("session/update", params);
    const problem =
      dialect === undefined
        ? `params${path.slice(0, 200)} must be ${expected}, got ${got}`
        : dialectSentence("session/update", dialect);
    this.#droppedDialect ??= dialect;
    this.#dropped.note("invalid", { ...details, problem });
    this.#hooks?.updateDropped(
      details.sessionId,
      `an update ${details.sessionUpdate} that is not valid: ${problem}`,
    );
  }

  requested(method: string, params: unknown, request: IncomingRequest): unknown {
    if (method.startsWith("_")) return this.#extensionRequested(method, params, request);
    if (this.#hooks !== undefined && this.#hasMcp && isRelayedMcp(method))
      return this.#hooks.otherRequest(method, params, this.#wire.extensionContext(request.signal));
    const row = this.#bound.receivedRequest(method);
    if (this.#hasMcp && this.servers.isOlder(method, params))
      return this.servers.answerOlder(method, params, request);
    if (row === undefined) throw RequestError.methodNotFound(method);
    const decoded = this.#bound.requestParams(row, params) as object; // every row of the table is an object
    return this.#answer(method, decoded, request).then((result) => this.#bound.result(row, result));
  }

  /** Whether the feature is enabled. */
  get #hasMcp(): boolean {
    return this.#bound.receivedRequest(messageMethod) !== undefined;
  }

  async #answer(method: string, params: object, request: IncomingRequest): Promise<object> {
    if (method === "session/request_permission") return this.#permission(params, request);
    if (method === "elicitation/create")
      return this.#elicitations.answer(this.#edition.elicitation(params), request, (id) => this.find(id));
    if (method === messageMethod) return this.servers.answer(params, request);
    const service = this.#edition.service(method, params);
    if (service === undefined) throw RequestError.methodNotFound(method);
    // services that were not offered do not exist (N126)
    if (!this.#offers(service.op)) throw RequestError.methodNotFound(method);
    const session = this.#sessions.get(service.sessionId);
    if (session === undefined) throw noSession();
    const services = this.#servicesOf(session);
    const { op } = service;
    // asks before the read waits for its turn among the large answers, because the user may take long to answer
    const run = await services.permitted(op, request);
    return op.op === "read" || op.op === "output" ? this.#large.give(request, run) : run();
  }

  async #permitTool(
    permit: Permit,
    sessionId: string | undefined,
    use: ToolUse,
    signal: AbortSignal,
  ): Promise<() => void> {
    const session = sessionId === undefined ? undefined : this.#sessions.get(sessionId);
    if (session !== undefined) return permit(session, { type: "mcp", ...use }, signal);
    throw RequestError.permissionDenied("permission denied: the session is not open yet");
  }

  #offers({ op }: ServiceOp): boolean {
    const can = offeredFeatures(this.#definition);
    if (op === "read") return can.readTextFile;
    return op === "write" ? can.writeTextFile : can.terminal;
  }

  /** `kept`: the terminals of the connection that this one goes on from. */
  #servicesOf(session: ConnectedSession, kept?: readonly string[]): SessionServices {
    let services = this.#services.get(session.sessionId);
    if (services === undefined) {
      services = new SessionServices(this.#definition, this.permissions, session, this.#wire, kept);
      this.#services.set(session.sessionId, services);
    }
    return services;
  }

  async #permission(params: object, request: IncomingRequest): Promise<object> {
    const { sessionId, ask } = this.#edition.permission(params, (id, toolCallId) =>
      this.#sessions.get(id)?.toolCalls.titleOf(toolCallId),
    );
    refuseDuplicates(ask);
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return { outcome: { outcome: "cancelled" } };
    const given = session.asks.given(request)?.permission;
    return { outcome: given ?? (await this.permissions.answer(session, ask, request)) };
  }

  #extensionRequested(method: string, params: unknown, request: IncomingRequest): unknown {
    const { requests = {} } = this.#definition.extensions ?? {};
    const context = this.#wire.extensionContext(request.signal);
    if (Object.hasOwn(requests, method)) return requests[method as `_${string}`]?.(params, context);
    if (method === vetoMethod && this.#definition.policy?.veto !== undefined) {
      const session = this.#sessions.get(String(isObject(params) ? params["sessionId"] : ""));
      if (session === undefined) throw noSession();
      return this.permissions.veto(session, params, request.signal);
    }
    if (this.#hooks === undefined) {
      refuseFirstGeneration(method, params);
      throw RequestError.methodNotFound(method);
    }
    return this.#hooks.otherRequest(method, params, context);
  }

  /** Another client has a session of this one. A relay tells its own client. */
  #taken(params: unknown): void {
    const { sessionId } = isObject(params) ? params : {};
    const session = this.#sessions.get(String(sessionId));
    // one that is being loaded is about to be taken back
    if (session === undefined || session.isReplaying || this.#hooks !== undefined) return;
    session.connectionEnded(takenError());
    this.forget(session.sessionId);
  }

  #extensionNotified(method: string, params: unknown): void {
    if (method === takenMethod) this.#taken(params);
    const { notifications = {} } = this.#definition.extensions ?? {};
    if (!Object.hasOwn(notifications, method)) return this.#hooks?.otherNotification(method, params);
    notifications[method as `_${string}`]?.(
      params,
      this.#wire.extensionContext(new AbortController().signal),
    );
  }
}

function updateDetails(params: unknown): { readonly sessionId: string; readonly sessionUpdate: string } {
  const { sessionId, update } = isObject(params) ? params : {};
  const { sessionUpdate } = isObject(update) ? update : {};
  return { sessionId: String(sessionId).slice(0, 100), sessionUpdate: String(sessionUpdate).slice(0, 100) };
}

/** Refuses a question with two options of one id, whose answer would be ambiguous. */
function refuseDuplicates({ options }: PermissionRequest): void {
  const ids = new Set<string>();
  for (const [at, { optionId }] of options.entries()) {
    if (!ids.has(optionId)) ids.add(optionId);
    else {
      const path = `/options/${at}/optionId`;
      const message = `session/request_permission: params${path} must be unique, got the id of another option`;
      throw RequestError.invalidParams(message, path);
    }
  }
}

function noSession(): RequestError {
  return new RequestError("session_not_found", "this client has no such session", {
    data: { reason: "session_not_found" },
  });
}
