// Serves one client of an agent that keeps its own sessions.

import { optional } from "../../base/objects.ts";
import type {
  AgentIntroduction,
  AgentOpResult,
  ClientCapabilities,
  Introduction,
  PromptOp,
  SessionOp,
} from "../../edition/agent-edition.ts";
import { allEditions, type Edition, editionOf, versionsOf } from "../../edition/negotiate.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { Implementation, Meta, SessionConfigOption } from "../../model/content.ts";
import type { ExtensionContext } from "../base/extensions.ts";
import { unsupportedContent } from "../base/prompt-content.ts";
import type { AgentConnection } from "./agent.ts";
import { type AgentDefinition, authMethodsFor, introduction } from "./agent-definition.ts";
import { AgentSessions } from "./agent-sessions.ts";
import { type AgentHost, AgentWire } from "./agent-wire.ts";
import type { GuardedStore } from "./session/guarded-store.ts";
import { sentAtOnce } from "./session/session-updates.ts";
import { receivedPrompt } from "./turn/received-prompt.ts";

interface ServedClientParts {
  readonly store: GuardedStore;
  /** Instead of the definition's. */
  readonly log: Log | undefined;
}

/** What is known of a client before its handshake. */
const noCapabilities: ClientCapabilities = {
  readTextFile: false,
  writeTextFile: false,
  terminal: false,
  terminalAuth: false,
  elicitationForm: false,
  elicitationUrl: false,
  booleanOptions: false,
  notices: false,
  compaction: false,
};

export class ServedClient implements AgentHost, AgentConnection {
  readonly closed: Promise<ConnectionError>;
  readonly #definition: AgentDefinition;
  readonly #wire: AgentWire;
  readonly #sessions: AgentSessions;
  #client: Introduction<ClientCapabilities> | undefined;

  constructor(
    transport: Transport,
    definition: AgentDefinition,
    { store, log = definition.log }: ServedClientParts,
  ) {
    const { editions = allEditions, unstable = [], connection } = definition;
    const options = { ...connection, versions: versionsOf(editions), unstable, ...optional({ log }) };
    this.#definition = definition;
    this.#wire = new AgentWire(transport, options, this);
    this.#sessions = new AgentSessions(definition, this.#wire, store);
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

  get edition(): Edition | undefined {
    const { version } = this.#wire;
    return version === undefined ? undefined : editionOf(version);
  }

  async close(reason?: string): Promise<void> {
    await this.#wire.close(reason);
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  request(
    method: `_${string}`,
    params?: unknown,
    options: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<unknown> {
    return this.#wire.requestExtension(method, params, options);
  }

  notify(method: `_${string}`, params?: unknown): Promise<void> {
    return this.#wire.notifyExtension(method, params) ?? sentAtOnce;
  }

  // ---- AgentHost: what the client sends

  introduce(client: Introduction<ClientCapabilities>): AgentIntroduction {
    this.#client = client;
    return introduction(this.#definition, client.capabilities);
  }

  readonly optionsOf = (sessionId: string): readonly SessionConfigOption[] =>
    this.#sessions.get(sessionId).configOptions;

  allow(method: string): void {
    if (method.startsWith("session/") && this.#definition.auth?.isLoggedIn?.() === false)
      throw this.#loginNeeded();
  }

  run(op: SessionOp, request: IncomingRequest): Promise<AgentOpResult> {
    return this.#sessions.run(op, request).catch((error: unknown) => {
      throw isAuthRequired(error) ? this.#loginNeeded() : error;
    });
  }

  cancel(sessionId: string): void {
    this.#sessions.find(sessionId)?.cancel();
  }

  prompt(op: PromptOp, request: IncomingRequest): Promise<object> {
    const session = this.#sessions.get(op.sessionId);
    const { prompts } = this.#wire.edition;
    const {
      image = false,
      audio = false,
      embeddedContext = false,
    } = this.#definition.promptCapabilities ?? {};
    const wrong = unsupportedContent(op.prompt, { image, audio, embeddedContext });
    if (wrong !== undefined) throw RequestError.invalidParams(`session/prompt: ${wrong}`, "/prompt");
    return new Promise((resolve, reject) => {
      const prompt = receivedPrompt(op, prompts, resolve, reject);
      // cancelled while the version was loading
      if (request.cancelled) return prompt.withdrawn();
      request.signal.addEventListener("abort", () => {
        if (session.withdraw(prompt)) prompt.withdrawn();
        else if (!prompts.answersAtInsertion) session.cancelTurn(prompt);
      });
      session.prompt(prompt);
    });
  }

  extensionRequested(method: string, params: unknown, request: IncomingRequest): unknown {
    const { requests = {} } = this.#definition.extensions ?? {};
    if (!Object.hasOwn(requests, method)) throw RequestError.methodNotFound(method);
    return requests[method as `_${string}`]?.(params, this.#extensionContext(request.signal));
  }

  extensionNotified(method: string, params: unknown): void {
    const { notifications = {} } = this.#definition.extensions ?? {};
    if (!Object.hasOwn(notifications, method)) return;
    notifications[method as `_${string}`]?.(params, this.#extensionContext(new AbortController().signal));
  }

  /** Names the ways to log in that this client was shown, unless they are too many for an error. */
  #loginNeeded(): RequestError {
    const methods = this.#wire.edition.authMethods(authMethodsFor(this.#definition, this.clientCapabilities));
    const { kind, message, data } = RequestError.authRequired();
    const isSmall = methods.length > 0 && JSON.stringify(methods).length < 900;
    return new RequestError(kind, message, {
      data: isSmall ? { ...(data as object), authMethods: methods } : data, // an object that we made
    });
  }

  #extensionContext(signal: AbortSignal): ExtensionContext {
    return {
      signal,
      request: (method, params, options = {}) =>
        this.#wire.requestExtension(method, params, { signal, ...options }),
      notify: (method, params) => this.notify(method, params),
    };
  }
}

function isAuthRequired(error: unknown): boolean {
  const data = error instanceof RequestError ? (error.data as { reason?: unknown } | undefined) : undefined;
  return data?.reason === "auth_required";
}
