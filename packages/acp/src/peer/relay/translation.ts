// A client of one version and an agent of the other: two editions back to back. The agent is one that our
// client is connected to; the client finds an agent of its own version, whose sessions are the agent's.

import type { AgentOpResult } from "../../edition/agent-edition.ts";
import type {
  Activation,
  AgentIntroduction,
  ClientFeatures,
  Introduction,
  PromptOp,
  SessionOp,
} from "../../edition/agent-ops.ts";
import { ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { SessionConfigOption } from "../../model/content.ts";
import { errorCodes } from "../../model/error-codes.ts";
import type { AgentHost, AgentWire } from "../agent/agent-wire.ts";
import type { ClientSession } from "../client/client-session.ts";
import type { ConnectedAgent, SessionPlace } from "../client/connected-agent.ts";
import { ClientToolbox } from "./client-toolbox.ts";
import { listPage } from "./listing.ts";
import type { ClientTools, RelayOptions } from "./relay-options.ts";
import { gone, RelayedSession, type RelayedSessionLink, refusal } from "./relayed-session.ts";

const none: AgentOpResult = { kind: "none" };

export class Translation implements AgentHost {
  readonly #link: RelayedSessionLink;
  readonly #agent: ConnectedAgent;
  readonly #sessions = new Map<string, RelayedSession>();
  /** Those that are being loaded or resumed: who asks twice at once is told everything once. */
  readonly #activating = new Map<string, RelayedSession>();
  readonly #toolbox: ClientToolbox;

  constructor(link: RelayedSessionLink, agent: ConnectedAgent, options: RelayOptions) {
    this.#link = link;
    this.#agent = agent;
    this.#toolbox = new ClientToolbox(() => this.#front, agent, options);
  }

  get #front(): AgentWire {
    return this.#link.front;
  }

  introduce(client: Introduction<ClientFeatures>): AgentIntroduction {
    const { info, features, authMethods } = this.#agent;
    return {
      info,
      // what version 2 promises and an agent of version 1 may lack is made up for here
      features: { ...features, sessions: true, list: true, resume: true, close: true },
      authMethods: authMethods.filter((method) => method.type !== "terminal" || client.features.terminalAuth),
      meta: undefined,
    };
  }

  readonly optionsOf = (sessionId: string): readonly SessionConfigOption[] =>
    this.#sessions.get(sessionId)?.live.options ?? [];

  allow(): void {
    // the agent decides
  }

  async run(op: SessionOp, request: IncomingRequest): Promise<AgentOpResult> {
    try {
      return await this.#run(op, request);
    } catch (error) {
      throw error instanceof ConnectionError ? gone(error) : refusal(error);
    }
  }

  prompt(op: PromptOp, request: IncomingRequest): Promise<object> {
    return this.#known(op.sessionId).prompt(op, request.signal);
  }

  cancel(sessionId: string): void {
    this.#sessions.get(sessionId)?.cancel();
  }

  async extensionRequested(method: string, params: unknown, request: IncomingRequest): Promise<unknown> {
    try {
      const { signal } = request;
      return await this.#for(request, () => this.#agent.request(method as `_${string}`, params, { signal }));
    } catch (error) {
      throw request.cancelled ? error : gone(error);
    }
  }

  extensionNotified(method: string, params: unknown): void {
    void this.#agent.notify(method as `_${string}`, params);
  }

  /** The session of a question, if it is one that the client knows. */
  find(sessionId: string | undefined): RelayedSession | undefined {
    return sessionId === undefined ? undefined : this.#sessions.get(sessionId);
  }

  close(): Promise<void> {
    return this.#toolbox.close();
  }

  /** What is sent here is sent in the name of the client's request. */
  #for<Result>(request: IncomingRequest, work: () => Promise<Result>): Promise<Result> {
    return this.#link.errands.run(request.id, work);
  }

  async #run(op: SessionOp, request: IncomingRequest): Promise<AgentOpResult> {
    const agent = this.#agent;
    switch (op.op) {
      case "login":
        await this.#for(request, () => agent.login(op.methodId));
        return none;
      case "logout":
        if (!agent.features.logout)
          throw new RequestError(errorCodes.internalError, "this agent has no logout");
        await this.#for(request, () => agent.logout());
        return none;
      case "new":
        return this.#open(request, op.activation, (place) => agent.open(place));
      case "fork":
        return this.#open(request, op.activation, (place) => agent.fork(op.sessionId, place));
      case "activate":
        return this.#activate(op, request);
      case "list": {
        const query = { ...(op.cwd === undefined ? {} : { cwd: op.cwd }) };
        if (!agent.features.list) return listPage(this.#listed(op.cwd));
        const page = { ...query, ...(op.cursor === undefined ? {} : { cursor: op.cursor }) };
        return listPage(await this.#for(request, () => agent.list(page)));
      }
      case "close":
        await this.#close(op.sessionId);
        return none;
      case "delete":
        await this.#for(request, () => agent.delete(op.sessionId));
        await this.#forget(op.sessionId);
        return none;
      case "set_option": {
        const { live } = this.#known(op.sessionId);
        await live.setOption(op.configId, op.value);
        return { kind: "options", options: live.options, client: this.#front.client.features };
      }
      case "cancel_tool":
        await this.#known(op.sessionId).live.cancelToolCall(op.toolCallId);
        return none;
      case "cancel_terminal":
        await this.#known(op.sessionId).live.cancelTerminal(op.terminalId);
        return none;
    }
  }

  /** What the agent says of a new session waits until the client has heard of it. */
  async #open(
    request: IncomingRequest,
    activation: Activation,
    open: (place: SessionPlace) => Promise<ClientSession>,
  ): Promise<AgentOpResult> {
    const session = new RelayedSession(this.#link, rootsOf(activation));
    const tools = await this.#toolbox.open(activation.cwd, () => session.id);
    const place = placeFor(activation, session, tools);
    const live = await this.#for(request, () => open(place)).catch(async (error: unknown) => {
      await tools?.close();
      throw error;
    });
    if (tools !== undefined) this.#toolbox.keep(live.sessionId, tools);
    // an agent that gives one name twice has one session
    this.#sessions.get(live.sessionId)?.leave();
    this.#sessions.set(live.sessionId, session);
    const setup = session.opened(live);
    request.afterReply(() => session.release());
    return { kind: "session", setup, client: this.#front.client.features };
  }

  async #activate(
    op: Extract<SessionOp, { op: "activate" }>,
    request: IncomingRequest,
  ): Promise<AgentOpResult> {
    const { sessionId, activation, replay } = op;
    const { features } = this.#agent;
    const swallow = !replay && !features.resume;
    if (replay && !features.load) throw unsupported("replay the history of a session");
    const session =
      this.#sessions.get(sessionId) ??
      this.#activating.get(sessionId) ??
      new RelayedSession(this.#link, rootsOf(activation));
    this.#activating.set(sessionId, session);
    // an agent that can only load says everything again, to nobody
    session.beginReplay(sessionId, { swallow });
    let live: ClientSession;
    const tools = await this.#toolbox.open(activation.cwd, () => sessionId);
    try {
      const place = placeFor(activation, session, tools);
      const agent = this.#agent;
      live = await this.#for(request, () =>
        replay || swallow ? agent.load(sessionId, place) : agent.resume(sessionId, place),
      );
    } catch (error) {
      session.endReplay();
      await tools?.close();
      throw error;
    } finally {
      this.#activating.delete(sessionId);
    }
    if (tools !== undefined) this.#toolbox.keep(sessionId, tools);
    this.#sessions.set(sessionId, session);
    const setup = session.opened(live);
    session.release();
    // version 2 ends a replay with the state of the session
    if (this.#agent.version === 1) session.show({ sessionUpdate: "state_update", state: "idle" });
    return { kind: "session", setup, client: this.#front.client.features };
  }

  async #close(sessionId: string): Promise<void> {
    const session = this.#sessions.get(sessionId);
    // closing a session that is unknown or not active succeeds (A36)
    if (session === undefined) return;
    // an agent that cannot close is told to cancel instead, once
    if (this.#agent.features.close) session.cancel();
    else session.withdraw();
    await session.live.close();
    await this.#forget(sessionId);
  }

  async #forget(sessionId: string): Promise<void> {
    this.#sessions.delete(sessionId);
    await this.#toolbox.drop(sessionId);
  }

  #known(sessionId: string): RelayedSession {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) return session;
    throw new RequestError(
      errorCodes.notFound,
      "there is no such session on this connection; load or resume it",
      {
        reason: "session_not_found",
      },
    );
  }

  #listed(cwd: string | undefined) {
    const sessions = Array.from(this.#sessions.values(), ({ live, title, updatedAt }) => ({
      sessionId: live.sessionId,
      cwd: live.cwd,
      additionalDirectories: live.roots.slice(1),
      updatedAt: new Date(updatedAt).toISOString(),
      ...(title === undefined ? {} : { title }),
    }));
    return { sessions: sessions.filter((session) => cwd === undefined || session.cwd === cwd) };
  }
}

function placeFor(
  activation: Activation,
  session: RelayedSession,
  tools: ClientTools | undefined,
): SessionPlace {
  const { mcpServers } = activation;
  return {
    ...activation,
    mcpServers: tools === undefined ? mcpServers : [...mcpServers, tools.server],
    onUpdate: session.receive,
  };
}

function rootsOf({ cwd, additionalDirectories }: Activation): readonly string[] {
  return [cwd, ...additionalDirectories];
}

function unsupported(what: string): RequestError {
  return new RequestError(errorCodes.invalidParams, `this agent cannot ${what}`, { reason: "unsupported" });
}
