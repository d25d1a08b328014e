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
import { type AgentDefinition, type AgentHooks, authMethodsFor, introduction } from "./agent-definition.ts";
import { AgentSessions } from "./agent-sessions.ts";
import { type AgentHost, AgentWire } from "./agent-wire.ts";
import type { GuardedStore } from "./session/guarded-store.ts";
import { receivedPrompt } from "./turn/received-prompt.ts";

interface ServedClientParts {
  readonly store: GuardedStore;
  readonly hooks: AgentHooks;
  /** Instead of the definition's. */
  readonly log: Log | undefined;
}

export class ServedClient implements AgentHost {
  /** Resolves when the connection has closed and its sessions with it; never rejects. */
  readonly closed: Promise<ConnectionError>;
  readonly #definition: AgentDefinition;
  readonly #wire: AgentWire;
  readonly #sessions: AgentSessions;
  #client: Introduction<ClientCapabilities> | undefined;

  /** @internal Made by agent().connect(). */
  constructor(
    transport: Transport,
    definition: AgentDefinition,
    { store, hooks, log = definition.log }: ServedClientParts,
  ) {
    const { editions = allEditions, unstable = [], connection } = definition;
    const options = { ...connection, versions: versionsOf(editions), unstable, ...optional({ log }) };
    this.#definition = definition;
    this.#wire = new AgentWire(transport, options, this);
    this.#sessions = new AgentSessions(definition, this.#wire, store, hooks);
    this.closed = this.#wire.closed.then(async (reason) => {
      await this.#sessions.closeAll();
      return reason;
    });
  }

  get capabilities(): ClientCapabilities {
    return this.#wire.client.capabilities;
  }

  get clientInfo(): Implementation | undefined {
    return this.#client?.info;
  }

  get clientMeta(): Meta | undefined {
    return this.#client?._meta;
  }

  /** The edition that was agreed on; undefined before. */
  get edition(): Edition | undefined {
    const { version } = this.#wire;
    return version === undefined ? undefined : editionOf(version);
  }

  close(reason?: string): Promise<void> {
    return this.#wire.close(reason);
  }

  /** Sends a notification outside the protocol; its name begins with `_`. */
  notify(method: `_${string}`, params?: unknown): Promise<void> | undefined {
    return this.#wire.notifyExtension(method, params);
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
    const methods = this.#wire.edition.authMethods(authMethodsFor(this.#definition, this.capabilities));
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
