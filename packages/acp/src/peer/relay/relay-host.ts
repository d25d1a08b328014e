// Answers a client with the sessions of an agent of another version.

import { normalPath } from "../../base/normal-path.ts";
import { isObject, optional } from "../../base/objects.ts";
import type {
  Activation,
  AgentIntroduction,
  AgentOpResult,
  ClientCapabilities,
  Introduction,
  PromptOp,
  SessionOp,
} from "../../edition/agent-edition.ts";
import { closesSession } from "../../edition/pass-through.ts";
import { steeringMethod } from "../../edition/vendor-extensions.ts";
import { metaOf, withMeta } from "../../edition/wire-fields.ts";
import { ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { SentHook } from "../../jsonrpc/pending-requests.ts";
import type { ArchiveFilter } from "../../model/agent-status.ts";
import type { Meta, SessionConfigOption } from "../../model/content.ts";
import type { AgentHost } from "../agent/agent-wire.ts";
import { SessionOrder } from "../base/session-order.ts";
import type { SessionOptions } from "../client/client-connection.ts";
import type { ConnectedAgent } from "../client/connected-agent.ts";
import type { ClientSession } from "../client/session/client-session.ts";
import { ClientToolbox } from "./client-toolbox.ts";
import { agentGone, type RelayContext, RelayedSession, refusal } from "./relayed-session.ts";
import type { RequestOrigins } from "./request-origins.ts";

export class RelayHost implements AgentHost {
  readonly #relay: RelayContext;
  readonly #origins: RequestOrigins;
  readonly #agent: ConnectedAgent;
  readonly #sessions = new Map<string, RelayedSession>();
  /** What opens and closes a session runs in the order of the requests. */
  readonly #order = new SessionOrder();
  /** Sessions that are being loaded or resumed. */
  readonly #activating = new Map<string, RelayedSession>();
  readonly #toolbox: ClientToolbox;
  readonly #reported = new Set<string>();

  constructor(relay: RelayContext, agent: ConnectedAgent, origins: RequestOrigins) {
    this.#relay = relay;
    this.#agent = agent;
    this.#origins = origins;
    this.#toolbox = new ClientToolbox(relay, agent);
  }

  introduce(client: Introduction<ClientCapabilities>): AgentIntroduction {
    const { info, capabilities: features, authMethods, _meta } = this.#agent;
    return {
      info,
      // the relay supplies what version 2 promises and an agent of version 1 may lack
      capabilities: {
        ...features,
        // in a dialect such servers are of other agents
        mcpAcp:
          features.mcpAcp && this.#agent.dialect === undefined && this.#relay.wire.dialect === undefined,
        sessions: true,
        list: true,
        resume: true,
        close: true,
      },
      authMethods: authMethods.filter(
        (method) => method.type !== "terminal" || client.capabilities.terminalAuth,
      ),
      ...optional({ _meta }),
    };
  }

  /** Reports what belongs to no turn of a session, once. */
  introductionLost(what: string): void {
    if (this.#reported.has(what)) return;
    this.#reported.add(what);
    this.#relay.options.log?.("warn", "lost in translation", { lost: [what] });
  }

  readonly optionsOf = (sessionId: string): readonly SessionConfigOption[] =>
    this.#sessions.get(sessionId)?.live.configOptions ?? [];

  allow(): void {
    // the agent decides
  }

  async run(op: SessionOp, request: IncomingRequest): Promise<AgentOpResult> {
    try {
      return await this.#run(op, request);
    } catch (error) {
      throw error instanceof ConnectionError ? agentGone(error) : refusal(error);
    }
  }

  prompt(op: PromptOp, request: IncomingRequest): Promise<object> {
    return this.#known(op.sessionId).prompt(op, request.signal);
  }

  cancel(sessionId: string, meta: Meta | undefined): void {
    this.#sessions.get(sessionId)?.cancel(meta);
  }

  async extensionRequested(method: string, params: unknown, request: IncomingRequest): Promise<unknown> {
    // to an agent of version 2 a message for running work is another prompt
    if (method === steeringMethod && this.#agent.edition !== "v1") {
      const op = this.#relay.wire.promptOp(params);
      return this.#known(op.sessionId).steer(op, request.signal);
    }
    try {
      const { signal } = request;
      return await this.#origins.run(request.id, (sent) =>
        this.#agent.passing.passRequest(method, params, { signal, sent }),
      );
    } catch (error) {
      throw request.isCancelled ? error : agentGone(error);
    }
  }

  extensionNotified(method: string, params: unknown): void {
    this.#agent.passing.notifyOlder(method, params as object); // as it came
  }

  /** The session of a question, if it is one that the client knows. */
  find(sessionId: string | undefined): RelayedSession | undefined {
    return sessionId === undefined ? undefined : this.#sessions.get(sessionId);
  }

  close(): Promise<void> {
    for (const [sessionId, { losses }] of this.#sessions) losses.summarise(sessionId);
    return this.#toolbox.close();
  }

  async #run(op: SessionOp, request: IncomingRequest): Promise<AgentOpResult> {
    const agent = this.#agent;
    const run = <Result>(work: (sent: (id: number) => void) => Promise<Result>) =>
      this.#origins.run(request.id, work);
    const meta = metaOf(op);
    switch (op.op) {
      case "login":
        // the client has run a terminal login itself: there is nothing to ask the agent
        if (agent.authMethods.find(({ methodId }) => methodId === op.methodId)?.type === "terminal")
          return { kind: "none" };
        return {
          kind: "none",
          ...withMeta((await run((sent) => agent.login(op.methodId, { sent, ...meta })))._meta),
        };
      case "logout":
        if (!agent.capabilities.logout) throw new RequestError("internal_error", "this agent has no logout");
        return { kind: "none", ...(await run((sent) => agent.logout({ sent, ...meta }))) };
      case "new":
        return this.#open(request, op.activation, (place) => agent.newSession(place));
      case "fork":
        return this.#open(request, op.activation, (place) => agent.forkSession(op.sessionId, place), {
          isNew: false,
        });
      case "activate":
        // two requests at once get one replay
        return this.#order.run(op.sessionId, () => this.#activate(op, request), { isShared: true });
      case "list": {
        const { cwd, cursor } = op;
        if (!agent.capabilities.list) return { kind: "page", page: this.#listed(cwd) };
        // the agent refuses what it does not know
        const archived = op.archived as ArchiveFilter | undefined;
        const page = await run((sent) =>
          agent.listSessions({ sent, ...optional({ cwd, cursor, archived }), ...meta }),
        );
        return { kind: "page", page };
      }
      case "pass": {
        const { method, sessionId } = op;
        if (sessionId === undefined || !closesSession(method)) return this.#pass(op, request);
        return this.#order.run(sessionId, async () => {
          const passed = await this.#pass(op, request);
          agent.forget(sessionId);
          await this.#forget(sessionId);
          return passed;
        });
      }
      case "close":
        return this.#order.run(op.sessionId, async () => ({
          kind: "none",
          ...(await this.#close(op.sessionId, meta)),
        }));
      case "set_option": {
        const { live } = this.#known(op.sessionId);
        const result = await live.setConfigOption(op.configId, op.value, meta);
        const { capabilities: client } = this.#relay.wire.client;
        return { kind: "options", options: live.configOptions, client, ...result };
      }
      case "cancel_part": {
        const { live } = this.#known(op.sessionId);
        const isTool = op.part === "tool_call";
        const result = isTool ? live.cancelToolCall(op.id, meta) : live.cancelTerminal(op.id, meta);
        return { kind: "none", ...(await result) };
      }
    }
  }

  async #pass(
    { method, row, params }: Extract<SessionOp, { op: "pass" }>,
    request: IncomingRequest,
  ): Promise<AgentOpResult> {
    if (!this.#agent.capabilities[row.needs]) throw RequestError.methodNotFound(method);
    const value = await this.#origins.run(request.id, (sent) => this.#agent.call(method, params, { sent }));
    if (this.#relay.wire.version === 1)
      for (const [name, what] of Object.entries(row.missingInV1 ?? {}))
        if (Object.entries(value).some(([key, given]) => key === name && given != null))
          this.introductionLost(what);
    return { kind: "value", value };
  }

  /** Updates of a new session wait until the client has its answer. */
  async #open(
    request: IncomingRequest,
    activation: Activation,
    open: (place: SessionOptions & SentHook) => Promise<ClientSession>,
    { isNew } = { isNew: true },
  ): Promise<AgentOpResult> {
    const session = new RelayedSession(this.#relay, rootsOf(activation));
    if (isNew) session.history.begin();
    const opened = await this.#openAtAgent(request, session, activation, () => session.id, open);
    request.afterReply(() => session.release());
    return opened;
  }

  /** Answers for a session that is open here: its agent may refuse to open it twice. */
  async #activate(
    op: Extract<SessionOp, { op: "activate" }>,
    request: IncomingRequest,
  ): Promise<AgentOpResult> {
    const open = this.#sessions.get(op.sessionId);
    if (open !== undefined && isSame(open.activation, op.activation)) {
      const again = this.#again(open, op.replay);
      if (again !== undefined) return again;
    }
    try {
      return await this.#activateAtAgent(op, request);
    } catch (error) {
      // a refusal for another reason, and one of another working directory, is the agent's to give
      if (open === undefined || !isHeld(error) || !hasSamePlace(open.activation, op.activation)) throw error;
      const again = this.#sessions.get(op.sessionId) === open ? this.#again(open, op.replay) : undefined;
      if (again === undefined) throw error;
      if (!isSame(open.activation, op.activation))
        open.losses.note(op.sessionId, ["other directories and servers for a session that is open"]);
      return again;
    }
  }

  /** What an agent would answer for a session that is open; undefined where the history is not known here. */
  #again(session: RelayedSession, replay: boolean): AgentOpResult | undefined {
    if (replay && !session.replay()) return undefined;
    session.forward({ sessionUpdate: "state_update", state: session.live.state as "idle" }); // or another word
    return { kind: "session", setup: session.setup, client: this.#relay.wire.client.capabilities };
  }

  async #activateAtAgent(
    { sessionId, activation, replay }: Extract<SessionOp, { op: "activate" }>,
    request: IncomingRequest,
  ): Promise<AgentOpResult> {
    const agent = this.#agent;
    const drop = !replay && !agent.capabilities.resume;
    if (replay && !agent.capabilities.load) throw unsupported("replay the history of a session");
    const session =
      this.#sessions.get(sessionId) ??
      this.#activating.get(sessionId) ??
      new RelayedSession(this.#relay, rootsOf(activation));
    this.#activating.set(sessionId, session);
    // an agent that can only load sends the history, which the client did not ask for
    session.beginReplay(sessionId, { drop });
    let opened: AgentOpResult;
    try {
      opened = await this.#openAtAgent(
        request,
        session,
        activation,
        () => sessionId,
        (place) =>
          replay || drop ? agent.loadSession(sessionId, place) : agent.resumeSession(sessionId, place),
      );
    } catch (error) {
      session.replayFailed();
      throw error;
    } finally {
      this.#activating.delete(sessionId);
    }
    session.release();
    // version 2 ends a replay with the state of the session
    if (!this.#relay.agentHasStates) session.forward({ sessionUpdate: "state_update", state: "idle" });
    return opened;
  }

  async #openAtAgent(
    request: IncomingRequest,
    session: RelayedSession,
    activation: Activation,
    sessionId: () => string | undefined,
    open: (place: SessionOptions & SentHook) => Promise<ClientSession>,
  ): Promise<AgentOpResult> {
    const tools = await this.#toolbox.open(activation.cwd, sessionId);
    const mcpServers = [...activation.mcpServers, ...(tools === undefined ? [] : [tools.server])];
    let live: ClientSession;
    try {
      live = await this.#origins.run(request.id, (sent) =>
        open({ ...activation, mcpServers, onUpdate: session.receive, sent }),
      );
    } catch (error) {
      await tools?.close();
      throw error;
    }
    if (tools !== undefined) this.#toolbox.keep(live.sessionId, tools);
    // an agent that gives out one id twice has one session
    const before = this.#sessions.get(live.sessionId);
    if (before !== session) before?.retire();
    this.#sessions.set(live.sessionId, session);
    session.activation = activation;
    return { kind: "session", setup: session.opened(live), client: this.#relay.wire.client.capabilities };
  }

  async #close(sessionId: string, meta: { _meta?: Meta }): Promise<{ readonly _meta?: Meta }> {
    const session = this.#sessions.get(sessionId);
    // closing a session that is unknown or not active succeeds (A36)
    if (session === undefined) return {};
    // `close` of an agent that cannot close sends the cancel
    if (this.#agent.capabilities.close) session.cancel();
    else session.withdraw();
    const result = await session.live.close(meta);
    await this.#forget(sessionId);
    return result;
  }

  async #forget(sessionId: string): Promise<void> {
    this.#sessions.get(sessionId)?.losses.summarise(sessionId);
    this.#sessions.delete(sessionId);
    await this.#toolbox.drop(sessionId);
  }

  #known(sessionId: string): RelayedSession {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) return session;
    const message = "there is no such session on this connection; load or resume it";
    throw new RequestError("session_not_found", message, { data: { reason: "session_not_found" } });
  }

  #listed(cwd: string | undefined) {
    const sessions = Array.from(this.#sessions.values(), ({ live, title, updatedAt }) => ({
      sessionId: live.sessionId,
      cwd: live.cwd,
      additionalDirectories: live.roots.slice(1),
      updatedAt: new Date(updatedAt).toISOString(),
      ...optional({ title }),
    }));
    const isWanted = (session: { cwd: string }) =>
      cwd === undefined || normalPath(session.cwd) === normalPath(cwd);
    return { sessions: sessions.filter(isWanted) };
  }
}

function rootsOf({ cwd, additionalDirectories }: Activation): readonly string[] {
  return [cwd, ...additionalDirectories];
}

/** Whether both are the same environment. Custom data is not part of it. */
function isSame(one: Activation | undefined, other: Activation): boolean {
  const environment = (given: Activation | undefined) => JSON.stringify({ ...given, _meta: undefined });
  return environment(one) === environment(other);
}

function hasSamePlace(one: Activation | undefined, other: Activation): boolean {
  return one !== undefined && normalPath(one.cwd) === normalPath(other.cwd);
}

/** Whether an agent refuses a session because it is open. */
function isHeld(error: unknown): boolean {
  if (!(error instanceof RequestError)) return false;
  const reason = isObject(error.data) ? error.data["reason"] : undefined;
  return error.kind === "conflict" || reason === "session_held";
}

function unsupported(what: string): RequestError {
  return new RequestError("invalid_params", `this agent cannot ${what}`, { data: { reason: "unsupported" } });
}
