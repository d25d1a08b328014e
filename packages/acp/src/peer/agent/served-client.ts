// Serves one client of an agent that keeps its own sessions.

import { optional } from "../../base/objects.ts";
import { sessionOptionsKey } from "../../base/parley-extensions.ts";
import type {
  AgentCapabilities,
  AgentIntroduction,
  AgentOpResult,
  ClientCapabilities,
  Introduction,
  PromptOp,
  SessionOp,
} from "../../edition/agent-edition.ts";
import { clientPlaces, fromWire } from "../../edition/capabilities.ts";
import { understands } from "../../edition/dialect.ts";
import { defaultEditions, type EditionName, versionsOf } from "../../edition/negotiate.ts";
import { steeringMethod } from "../../edition/vendor-extensions.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { Implementation, Meta, SessionConfigOption } from "../../model/content.ts";
import type { McpProvider } from "../../model/mcp.ts";
import type { Successor } from "../../model/successor.ts";
import { lists } from "../../validation/unstable-features.ts";
import { unsupportedContent } from "../base/bound-wire.ts";
import type { ExtensionContext } from "../base/extensions.ts";
import { agentDialects } from "../dialect/dialects.ts";
import { HostedServers, isHostedCall } from "../mcp/hosted-servers.ts";
import { refuseFirstGeneration } from "../mcp/mcp-wire.ts";
import { type AccountOp, authStatus, isAccountOp, runAccountOp } from "./account.ts";
import type { AgentConnection } from "./agent.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { AgentSessions, type AgentSessionsParts } from "./agent-sessions.ts";
import { type AgentHost, AgentWire } from "./agent-wire.ts";
import { introduction, loginNeeded, withLogins } from "./introduction.ts";
import { sentAtOnce } from "./session/session-updates.ts";
import { receivedPrompt, steeringPrompt } from "./turn/received-prompt.ts";

interface ServedClientParts extends AgentSessionsParts {
  /** Instead of the definition's. */
  readonly log: Log | undefined;
  /** The agent behind this one. */
  readonly successor: Successor | undefined;
  /** The MCP servers that the agent hosts, by name. */
  readonly hosted: ReadonlyMap<string, McpProvider>;
}

/** What is known of a client before its handshake. */
const noCapabilities: ClientCapabilities = fromWire(clientPlaces, 1, {});

export class ServedClient implements AgentHost, AgentConnection {
  readonly closed: Promise<ConnectionError>;
  readonly #definition: AgentDefinition;
  readonly #wire: AgentWire;
  readonly #sessions: AgentSessions;
  readonly #hosted: HostedServers;
  #client: Introduction<ClientCapabilities> | undefined;
  #capabilities: AgentCapabilities | undefined;
  /** The login as the client knows it, as JSON. */
  #knownAuth: string | undefined;

  constructor(
    transport: Transport,
    definition: AgentDefinition,
    { log = definition.log, ...parts }: ServedClientParts,
  ) {
    const { editions = defaultEditions, unstable = [], exposeErrors = true, connection } = definition;
    const versions = versionsOf(editions);
    const { transport: spoken, options: own } = agentDialects(transport, editions, { ...connection, log });
    const options = {
      ...own,
      versions,
      unstable,
      exposeErrors,
      ...optional({ log, successor: parts.successor, principal: parts.principal }),
    };
    this.#definition = definition;
    this.#wire = new AgentWire(spoken, options, this);
    this.#sessions = new AgentSessions(definition, this.#wire, parts);
    this.#hosted = new HostedServers(parts.hosted, { log: this.#wire.log, exposesErrors: exposeErrors });
    this.closed = this.#wire.closed.then(async (reason) => {
      await this.#sessions.closeAll();
      return reason;
    });
  }

  get clientCapabilities(): ClientCapabilities {
    return this.#client?.capabilities ?? noCapabilities;
  }

  get clientMeta(): Meta | undefined {
    return this.#client?._meta;
  }

  get clientInfo(): Implementation | undefined {
    return this.#client?.info;
  }

  get edition(): EditionName | undefined {
    return this.#wire.spoken;
  }

  async close(reason?: string): Promise<void> {
    await this.#wire.close(reason);
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly request: AgentConnection["request"] = (method, params, options = {}) =>
    this.#wire.requestExtension(method, params, options);

  notify(method: `_${string}`, params?: unknown): Promise<void> {
    if (!this.#wire.isOpen)
      this.#wire.log("warn", "a notification was not sent: the connection has ended", { method });
    return this.#wire.notifyExtension(method, params) ?? sentAtOnce;
  }

  // ---- AgentHost: what the client sends

  introduce(client: Introduction<ClientCapabilities>): AgentIntroduction {
    this.#client = client;
    const introduced = introduction(this.#definition, client.capabilities, {
      tellsOptions: understands(this.#wire.dialect, sessionOptionsKey),
      speaksDialect: this.#wire.dialect !== undefined,
      hosted: this.#hosted.announced,
    });
    this.#capabilities = introduced.capabilities;
    return introduced;
  }

  readonly optionsOf = (sessionId: string): readonly SessionConfigOption[] =>
    this.#sessions.get(sessionId).configOptions;

  allow(method: string): void {
    if (method.startsWith("session/")) this.#checkLogin();
  }

  #checkLogin(): void {
    if (this.#definition.auth?.isLoggedIn?.() === false) throw loginNeeded(this.#definition, this.#wire);
  }

  #askHosted(method: string, params: unknown, { signal }: IncomingRequest): Promise<unknown> {
    if (this.edition === undefined) {
      const data = { reason: "not_initialized" };
      throw new RequestError("invalid_request", `${method}: initialize must come first`, { data });
    }
    this.#checkLogin();
    return this.#hosted.answer(method, params, { signal, dialect: this.#wire.dialect });
  }

  run(op: SessionOp, request: IncomingRequest): Promise<AgentOpResult> {
    const running = isAccountOp(op) ? this.#runAccountOp(op, request) : this.#sessions.run(op, request);
    return running.catch((error: unknown) => {
      throw withLogins(error, this.#definition, this.#wire);
    });
  }

  async #runAccountOp(op: AccountOp, request: IncomingRequest): Promise<AgentOpResult> {
    const result = await runAccountOp(this.#definition, op);
    if (op.op === "pass" && op.method === "auth/status" && result.kind === "value")
      this.#knownAuth = JSON.stringify(result.value);
    if (op.op === "login" || op.op === "logout") request.afterReply(() => void this.reportAuthStatus());
    return result;
  }

  /** Tells the client if the login differs from what it was last told. Never rejects. */
  async reportAuthStatus(): Promise<void> {
    if (this.edition === undefined || !lists(this.#definition.unstable ?? [], "auth_status")) return;
    try {
      const status = await authStatus(this.#definition);
      const text = JSON.stringify(status);
      if (text === this.#knownAuth) return;
      this.#knownAuth = text;
      this.#wire.notify("auth/status_update", status);
    } catch (error) {
      this.#wire.log("error", "the login could not be reported", { error });
    }
  }

  cancel(sessionId: string): void {
    this.#sessions.find(sessionId)?.cancel();
  }

  prompt(op: PromptOp, request: IncomingRequest): Promise<object> {
    const session = this.#sessions.get(op.sessionId);
    const { prompts } = this.#wire.edition;
    this.#checkContent("session/prompt", op);
    return new Promise((resolve, reject) => {
      const prompt = receivedPrompt(op, session.updates.newId(), prompts, resolve, reject);
      // cancelled while the version was loading
      if (request.isCancelled) return prompt.withdrawn();
      request.signal.addEventListener("abort", () => {
        if (session.withdraw(prompt)) prompt.withdrawn();
        // the turn goes on where its session went
        else if (this.#sessions.find(op.sessionId) !== session)
          reject(new RequestError("cancelled", "another client has taken the session over"));
        else if (!prompts.answersAtInsertion) session.cancelTurn(prompt);
      });
      session.prompt(prompt);
    });
  }

  #steer(params: unknown, request: IncomingRequest): Promise<object> {
    const op = this.#wire.promptOp(params);
    this.allow("session/prompt");
    const session = this.#sessions.get(op.sessionId);
    this.#checkContent(steeringMethod, op);
    return new Promise((resolve, reject) => {
      const prompt = steeringPrompt(op, session.updates.newId(), resolve, reject);
      request.signal.addEventListener("abort", () => {
        if (session.withdraw(prompt)) prompt.withdrawn();
      });
      session.steer(prompt);
    });
  }

  #checkContent(method: string, { prompt }: PromptOp): void {
    // only what was declared: a definition may compute it, and may say something else by now
    const wrong = this.#capabilities && unsupportedContent(prompt, this.#capabilities);
    if (wrong !== undefined) throw RequestError.invalidParams(`${method}: ${wrong}`, "/prompt");
  }

  extensionRequested(method: string, params: unknown, request: IncomingRequest): unknown {
    const { requests = {} } = this.#definition.extensions ?? {};
    if (!Object.hasOwn(requests, method)) {
      refuseFirstGeneration(method, params);
      if (isHostedCall(method)) return this.#askHosted(method, params, request);
      if (method === steeringMethod && this.#definition.concurrentPrompts === "inbox")
        return this.#steer(params, request);
      throw RequestError.methodNotFound(method);
    }
    return requests[method as `_${string}`]?.(params, this.#extensionContext(request.signal));
  }

  extensionNotified(method: string, params: unknown): void {
    const { notifications = {} } = this.#definition.extensions ?? {};
    if (!Object.hasOwn(notifications, method)) return;
    notifications[method as `_${string}`]?.(params, this.#extensionContext(new AbortController().signal));
  }

  #extensionContext(signal: AbortSignal): ExtensionContext {
    return {
      signal,
      request: (method, params, options = {}) =>
        this.#wire.requestExtension(method, params, { signal, ...optional(options) }),
      notify: (method, params) => this.notify(method, params),
    };
  }
}
