// One client at an agent that keeps its own sessions.

import type { AgentEdition, AgentOpResult } from "../../edition/agent-edition.ts";
import type { AgentIntroduction, ClientFeatures, Introduction } from "../../edition/agent-ops.ts";
import { protocolVersions } from "../../edition/negotiate.ts";
import { type ConnectionError, RequestError, rpcCodes } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { Log } from "../../jsonrpc/log.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { PermissionAsk } from "../../model/ask.ts";
import type { Implementation, Meta, SessionConfigOption } from "../../model/content.ts";
import type { Update } from "../../model/update.ts";
import { methodNotFound } from "../base/bound-wire.ts";
import { authRequired, type ExtensionContext } from "../base/extensions.ts";
import { newId } from "../base/new-id.ts";
import { unsupportedContent } from "../base/prompt-content.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { AgentFront, type AgentHost, type PromptOp, type SessionOp } from "./agent-front.ts";
import { authMethodsFor, introduction } from "./agent-introduction.ts";
import type { AgentLink, AskOptions } from "./agent-link.ts";
import type { AgentSession } from "./agent-session.ts";
import { AgentSessions } from "./agent-sessions.ts";
import type { GuardedStore } from "./guarded-store.ts";
import type { PromptTicket } from "./prompt-queue.ts";
import { describeWrong } from "./said-rules.ts";

export class AgentConnection implements AgentLink, AgentHost {
  readonly definition: AgentDefinition;
  readonly log: Log;
  /** Resolves when the connection has closed and its sessions with it; never rejects. */
  readonly closed: Promise<ConnectionError>;
  readonly elicitations = new Set<string>();
  readonly #front: AgentFront;
  readonly #sessions: AgentSessions;
  #client: Introduction<ClientFeatures> | undefined;

  /** @internal Made by agent().connect(). */
  constructor(transport: Transport, definition: AgentDefinition, store: GuardedStore, log?: Log) {
    this.definition = definition;
    this.log = definition.log ?? log ?? (() => undefined);
    this.#sessions = new AgentSessions(this, store);
    const { versions = protocolVersions, unstable = [] } = definition;
    this.#front = new AgentFront(transport, { ...definition, versions, unstable, log: this.log }, this);
    this.closed = this.#front.closed.then(async (reason) => {
      await this.#sessions.closeAll();
      return reason;
    });
  }

  get edition(): AgentEdition {
    return this.#front.edition;
  }

  get features(): ClientFeatures {
    return this.#front.client.features;
  }

  get clientInfo(): Implementation | undefined {
    return this.#client?.info;
  }

  get clientMeta(): Meta | undefined {
    return this.#client?.meta;
  }

  /** The version that was agreed on; undefined before. */
  get version(): number | undefined {
    return this.#front.version;
  }

  close(reason?: string): Promise<void> {
    return this.#front.close(reason);
  }

  /** A notification outside the protocol; its name begins with `_`. */
  notify(method: `_${string}`, params?: unknown): Promise<void> | undefined {
    return this.#front.tellExtension(method, params);
  }

  // ---- what sessions and turns need

  checkSaid(update: Update): void {
    const failure = this.#front.saidRules?.update(update);
    if (failure !== undefined) throw new TypeError(describeWrong(`update ${tagOf(update)}`, failure));
  }

  checkAsk(ask: PermissionAsk): void {
    const failure = this.#front.saidRules?.permission(ask);
    if (failure !== undefined) throw new TypeError(describeWrong("permission", failure));
  }

  sendUpdate(sessionId: string, update: object): Promise<void> | undefined {
    return this.#front.sendUpdate(sessionId, update);
  }

  checkUpdate(sessionId: string, update: object): object {
    return this.#front.checkUpdate(sessionId, update);
  }

  sendChecked(params: object): Promise<void> | undefined {
    return this.#front.sendChecked(params);
  }

  ask(method: string, params: unknown, options: AskOptions = {}): Promise<unknown> {
    const { signal, cancelGraceMs = 10_000, timeoutMs } = options;
    const cancel = signal === undefined ? {} : { signal, cancelGraceMs };
    return this.#front.ask(method, params, { ...cancel, timeoutMs });
  }

  tell(method: string, params: unknown): void {
    this.#front.tell(method, params);
  }

  askExtension(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    return this.#front.askExtension(method, params, signal === undefined ? {} : { signal });
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

  // ---- AgentHost: what the client sends

  get used(): boolean {
    return this.#sessions.used;
  }

  introduce(client: Introduction<ClientFeatures>): AgentIntroduction {
    this.#client = client;
    return introduction(this.definition, client.features);
  }

  readonly optionsOf = (sessionId: string): readonly SessionConfigOption[] =>
    this.#sessions.optionsOf(sessionId);

  allow(method: string): void {
    if (method.startsWith("session/") && this.definition.isLoggedIn?.() === false) throw this.#loginNeeded();
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

  extensionRequested(method: string, params: unknown, request: IncomingRequest): unknown {
    const { requests = {} } = this.definition;
    if (!Object.hasOwn(requests, method)) throw methodNotFound(method);
    return requests[method as `_${string}`]?.(params, this.#extensionContext(request.signal));
  }

  extensionNotified(method: string, params: unknown): void {
    const { notifications = {} } = this.definition;
    if (!Object.hasOwn(notifications, method)) return;
    notifications[method as `_${string}`]?.(params, this.#extensionContext(new AbortController().signal));
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

  #extensionContext(signal: AbortSignal): ExtensionContext {
    return {
      signal,
      request: (method, params, options = {}) =>
        this.#front.askExtension(method, params, { signal, ...options }),
      notify: (method, params) => this.notify(method, params),
    };
  }
}

function tagOf(update: unknown): string {
  return JSON.stringify((update as { sessionUpdate?: unknown } | null)?.sessionUpdate) ?? "without a kind";
}

function isAuthRequired(error: unknown): boolean {
  const data = error instanceof RequestError ? (error.data as { reason?: unknown } | undefined) : undefined;
  return data?.reason === "auth_required";
}
