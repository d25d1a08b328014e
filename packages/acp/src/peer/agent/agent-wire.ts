// The agent's end of a connection: negotiates the version, decodes requests for a host, and encodes what it sends.

import { optional } from "../../base/objects.ts";
import { terminalOutputMethod } from "../../base/parley-extensions.ts";
import type {
  AgentEdition,
  AgentIntroduction,
  AgentOpResult,
  ClientCapabilities,
  Introduction,
  OptionsOf,
  PromptOp,
  SessionOp,
} from "../../edition/agent-edition.ts";
import { type Dialect, dialectOf } from "../../edition/dialect.ts";
import { refuseDialect } from "../../edition/dialect-tells.ts";
import {
  chooseVersion,
  type EditionName,
  editionOf,
  halfOf,
  type ProtocolVersion,
} from "../../edition/negotiate.ts";
import { metaOf, movesMeta, notificationToWire } from "../../edition/wire-fields.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import { Connection, outputOf, setIdPolicy } from "../../jsonrpc/connection.ts";
import {
  type ConnectionOptions,
  defaultConnectionLimits,
  type Log,
  limitsFrom,
} from "../../jsonrpc/connection-options.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import { checkSentSize, type Output } from "../../jsonrpc/output.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { Attachment, Transport } from "../../jsonrpc/transport.ts";
import type { Meta } from "../../model/content.ts";
import type { Author } from "../../model/entry.ts";
import type { ModelRules } from "../../model/model-rules.ts";
import type { Successor } from "../../model/successor.ts";
import { featureMode, lists, type UnstableFeatures } from "../../validation/unstable-features.ts";
import { Failure, sessionOf } from "../../wire/decode.ts";
import { BoundWire, extensionName, forwarding, refuseBatch } from "../base/bound-wire.ts";
import { HeldInput, loadAgentVersion } from "../base/load-version.ts";
import { isRelayedMcp, messageMethod } from "../mcp/mcp-wire.ts";
import { McpNotices } from "../mcp/session-servers.ts";
import { anyUpdate, encodedCheck, paramsIn } from "./encoded-check.ts";
import type { SessionSender } from "./session/session-sender.ts";
import { TerminalOutputs } from "./session/terminal-outputs.ts";

/** Does what the client asks: with sessions of its own, or as a relay to another agent. */
export interface AgentHost {
  introduce(client: Introduction<ClientCapabilities>): AgentIntroduction;
  readonly optionsOf: OptionsOf;
  /** Throws when this method may not be used now. */
  allow(method: string): void;
  run(op: SessionOp, request: IncomingRequest): Promise<AgentOpResult>;
  /** The result of a prompt, as the edition's policy words it. */
  prompt(op: PromptOp, request: IncomingRequest): Promise<object>;
  cancel(sessionId: string, meta: Meta | undefined): void;
  /** Called with what of the introduction the client's version cannot express. */
  introductionLost?(what: string): void;
  extensionRequested(method: string, params: unknown, request: IncomingRequest): unknown;
  extensionNotified(method: string, params: unknown): void;
}

export interface AgentWireOptions
  extends Pick<ConnectionOptions, "limits" | "log" | "tap" | "batches" | "drainMs" | "exposeErrors"> {
  /** Newest first. */
  readonly versions: readonly ProtocolVersion[];
  readonly unstable: UnstableFeatures;
  /** The host passes on what another agent says, so it goes out as it came. Default false. */
  readonly forwards?: boolean;
  /** The agent behind this one. */
  readonly successor?: Successor;
  /** The principal of the connection, for which the client speaks. */
  readonly principal?: string;
}

/** The state of a connection once its version is agreed on. */
interface Negotiated {
  readonly wire: BoundWire;
  readonly edition: AgentEdition;
  readonly client: Introduction<ClientCapabilities>;
}

export class AgentWire implements SessionSender {
  readonly log: Log;
  readonly closed: Promise<ConnectionError>;
  readonly openUrls = new Set<string>();
  readonly terminalOutput = new TerminalOutputs();
  readonly mcpNotices = new McpNotices();
  readonly #transport: Transport;
  readonly #connection: Connection;
  readonly #output: Output;
  readonly #options: AgentWireOptions;
  readonly #host: AgentHost;
  readonly maxSentBytes: number;
  readonly successor: Successor | undefined;
  /** While the version or the rules are being loaded, messages are held. */
  #state: "ready" | "initializing" | "loading_rules" = "ready";
  #held = new HeldInput();
  /** Something was asked since the handshake. */
  #isUsed = false;
  #negotiated: Negotiated | undefined;
  rules: ModelRules | undefined;

  constructor(transport: Transport, options: AgentWireOptions, host: AgentHost) {
    this.#transport = transport;
    this.#options = options;
    this.#host = host;
    this.log = guardedLog(options.log);
    this.successor = options.successor;
    this.maxSentBytes = limitsFrom(defaultConnectionLimits, options.limits).maxSentBytes;
    this.#connection = new Connection(transport, {
      ...options,
      scopeOf: sessionOf,
      refuseBatch,
      handlers: {
        request: (method, params, request) => this.#request(method, params, request),
        notification: (method, params) => this.#notification(method, params),
      },
    });
    this.#output = outputOf(this.#connection);
    this.closed = this.#connection.closed;
  }

  get #now(): Negotiated {
    if (this.#negotiated === undefined) throw new Error("the connection has no version yet");
    return this.#negotiated;
  }

  get edition(): AgentEdition {
    return this.#now.edition;
  }

  get dialect(): Dialect | undefined {
    return dialectOf(this.#transport);
  }

  get client(): Introduction<ClientCapabilities> {
    return this.#now.client;
  }

  get author(): Author | undefined {
    const { principal } = this.#options;
    return principal === undefined
      ? undefined
      : { principal, ...optional({ client: this.client.info?.name }) };
  }

  get attachment(): Attachment | undefined {
    return this.#transport.attachment;
  }

  /** The version that was agreed on; undefined before. */
  get version(): ProtocolVersion | undefined {
    return this.#negotiated?.edition.version;
  }

  /** The edition that the client speaks; undefined before the handshake. */
  get spoken(): EditionName | undefined {
    return this.version && (this.dialect?.name ?? editionOf(this.version));
  }

  get isOpen(): boolean {
    return this.#connection.isOpen;
  }

  close(reason?: string): Promise<void> {
    return this.#connection.close(reason);
  }

  // ---- what the host sends

  /** `text` is the whole message on one line, where the caller has it already. */
  sendUpdate(sessionId: string, update: object, text?: string): Promise<void> | undefined {
    const params = this.checkUpdate(sessionId, update);
    if (text !== undefined) encodedCheck.compare?.(params, text);
    return this.#update(params, text);
  }

  #update(params: object, line: string | undefined): Promise<void> | undefined {
    return this.#output.notify({ jsonrpc: "2.0", method: "session/update", params }, line, true);
  }

  checkUpdate(sessionId: string, update: object): object {
    const params = notificationToWire(sessionId, update);
    return this.#now.wire.notification("session/update", params, isQuoted(update)) as object; // as it was given
  }

  checkSize(text: string): void {
    checkSentSize(anyUpdate, text, this.maxSentBytes);
  }

  sendEncoded(sessionId: string, update: object | undefined, text: string): Promise<void> | undefined {
    const { compare } = encodedCheck;
    // then nobody looks at the message itself
    const isText = this.takesLines && compare === undefined && (update === undefined || !movesMeta(update));
    if (isText) return this.#output.notify(anyUpdate, text, true);
    const params = update === undefined ? paramsIn(text) : notificationToWire(sessionId, update);
    // the custom data of the notification is kept with the update
    const isSame = update === undefined || params.update === update;
    if (compare !== undefined || this.rules === undefined)
      this.#now.wire.notification("session/update", params, isQuoted(params.update));
    if (isSame) compare?.(params, text);
    return this.#update(params, isSame ? text : undefined);
  }

  get takesLines(): boolean {
    return this.rules !== undefined && this.#output.takesLines;
  }

  sendLines(lines: string): Promise<void> | undefined {
    const checked = encodedCheck.compare === undefined ? [] : lines.slice(0, -1).split("\n");
    for (const line of checked) this.checkUpdate("", paramsIn(line).update);
    return this.#output.notifyLines(lines);
  }

  request(method: string, params: unknown, options: RequestOptions<unknown> = {}): Promise<unknown> {
    return this.#now.wire.request(this.#connection, method, params, options);
  }

  notify(method: string, params: unknown): void {
    void this.#connection.notify(method, this.#now.wire.notification(method, params));
  }

  /** Sends a message as it is, for a relay. */
  passRequest(method: string, params: unknown, options: RequestOptions<unknown>): Promise<unknown> {
    return this.#connection.request(method, params, options);
  }

  passNotification(method: string, params: unknown): Promise<void> | undefined {
    return this.#connection.notify(method, params);
  }

  requestExtension(method: string, params: unknown, options: RequestOptions<unknown> = {}): Promise<unknown> {
    return this.#connection.request(extensionName(method), params, options);
  }

  notifyExtension(method: string, params: unknown): Promise<void> | undefined {
    return this.#connection.notify(extensionName(method), params);
  }

  /** The prompt that a request outside the protocol carries. Throws the error to answer with. */
  promptOp(params: unknown): PromptOp {
    const { wire, edition } = this.#now;
    const row = wire.receivedRequest("session/prompt");
    const decoded =
      row && edition.decode("session/prompt", wire.requestParams(row, params) as object, () => []);
    if (decoded?.op !== "prompt") throw RequestError.methodNotFound("session/prompt");
    return decoded;
  }

  // ---- what the client sends

  #request(method: string, params: unknown, request: IncomingRequest): unknown {
    if (method === "initialize" && this.#state !== "loading_rules") return this.#initialize(params, request);
    // initialize and session/new may come in one write
    if (this.#state !== "ready") return this.#held.request(() => this.#request(method, params, request));
    return this.#route(method, params, request);
  }

  #notification(method: string, params: unknown): undefined {
    if (this.#state !== "ready") this.#held.notification(() => this.#notified(method, params));
    else this.#notified(method, params);
  }

  async #initialize(params: unknown, request: IncomingRequest): Promise<object> {
    const isFinal = this.#isUsed || this.#negotiated?.edition.reinitializes === false;
    if (isFinal || this.#state === "initializing") {
      const message = "initialize: the connection has been initialized already";
      throw new RequestError("invalid_request", message, { data: { reason: "already_initialized" } });
    }
    refuseDialect(params);
    const version = chooseVersion(params, this.dialect === undefined ? this.#options.versions : [1]);
    this.#state = "initializing";
    this.#held = new HeldInput();
    // the answer of a batch leaves when all of its entries are answered: they must not wait for it
    if (!request.isBatched) request.afterReply(() => this.#begin());
    try {
      return await this.#negotiate(version, params);
    } finally {
      if (request.isBatched) this.#begin();
    }
  }

  async #negotiate(version: ProtocolVersion, params: unknown): Promise<object> {
    const { unstable, forwards = false } = this.#options;
    const { edition, wire } = await loadAgentVersion(version);
    const bound = new BoundWire(forwards ? forwarding(wire) : wire, "agent", unstable, this.log);
    const row = bound.receivedRequest("initialize");
    if (row === undefined) throw RequestError.methodNotFound("initialize");
    // an object, which chooseVersion has looked into
    const given = edition.initializeParams(halfOf(params as object, version));
    const client = enabled(edition.client(bound.requestParams(row, given) as object), unstable);
    setIdPolicy(this.#connection, wire.idPolicy);
    this.#negotiated = { wire: bound, edition, client };
    const introduction = this.#host.introduce(client);
    const lost = (what: string): void => this.#host.introductionLost?.(what);
    return bound.result(row, edition.introduce(introduction, lost)) as object;
  }

  /** Runs what was held. The rules are loaded after the answer: no session can send anything before. */
  #begin(): void {
    const { unstable, forwards = false } = this.#options;
    if (forwards || this.#negotiated === undefined) this.#release();
    else void this.#loadRules(unstable);
  }

  async #loadRules(unstable: UnstableFeatures): Promise<void> {
    this.#state = "loading_rules";
    try {
      const { modelRules } = await import("../../model/model-rules.ts");
      this.rules ??= modelRules(featureMode(unstable));
    } catch (error) {
      this.log("error", "updates are not checked: the rules could not be loaded", { error });
    }
    this.#release();
  }

  #release(): void {
    this.#state = "ready";
    this.#held.release();
  }

  #route(method: string, params: unknown, request: IncomingRequest): unknown {
    if (method.startsWith("_")) return this.#host.extensionRequested(method, params, request);
    if (this.#negotiated === undefined) {
      const message = `${method.slice(0, 100)}: initialize must come first`;
      throw new RequestError("invalid_request", message, { data: { reason: "not_initialized" } });
    }
    const { wire, edition } = this.#negotiated;
    if (this.#passesMcp(method, wire)) return this.#host.extensionRequested(method, params, request);
    const row = wire.receivedRequest(method);
    if (row === undefined) throw RequestError.methodNotFound(method);
    const decoded = wire.requestParams(row, params);
    this.#host.allow(method);
    // an object, since every row of the table is one
    const op = edition.decode(method, decoded as object, this.#host.optionsOf);
    if (op === undefined) throw RequestError.methodNotFound(method);
    this.#isUsed = true;
    if (op.op === "prompt") {
      return this.#host.prompt(op, request).then((result) => {
        try {
          return wire.result(row, result);
        } catch (error) {
          if (this.#options.forwards !== true || !("stopReason" in result)) throw error;
          // the result is of another agent, and the client must learn that the turn is over
          return wire.result(row, { stopReason: result.stopReason });
        }
      });
    }
    return this.#host.run(op, request).then((result) => wire.result(row, edition.encode(method, result)));
  }

  /** Whether a relay passes it to the agent as it came. */
  #passesMcp(method: string, wire: BoundWire): boolean {
    const { forwards = false } = this.#options;
    return forwards && isRelayedMcp(method) && wire.receivedNotification(messageMethod) !== undefined;
  }

  #notified(method: string, params: unknown): void {
    if (method === terminalOutputMethod && this.terminalOutput.received(params)) return;
    if (method.startsWith("_")) return this.#host.extensionNotified(method, params);
    const wire = this.#negotiated?.wire;
    if (wire === undefined) return;
    if (this.#passesMcp(method, wire)) return this.#host.extensionNotified(method, params);
    const row = wire.receivedNotification(method);
    if (row === undefined) return;
    const decoded = wire.notificationParams(row, params);
    if (decoded instanceof Failure) return;
    if (method === messageMethod) return this.mcpNotices.received(decoded as object); // an object, as all params of the table
    if (method !== "session/cancel") return;
    // validated by the method's row
    const { sessionId } = decoded as { sessionId: string };
    this.#host.cancel(sessionId, metaOf(decoded as object)._meta);
  }
}

/** The user's message is what the client said. */
function isQuoted({ sessionUpdate }: { readonly sessionUpdate?: unknown }): boolean {
  return sessionUpdate === "user_message" || sessionUpdate === "user_message_chunk";
}

/** The features of the client, without those that this side may not send. */
function enabled(
  introduction: Introduction<ClientCapabilities>,
  unstable: UnstableFeatures,
): Introduction<ClientCapabilities> {
  const { capabilities } = introduction;
  const plans = capabilities.plans && lists(unstable, "plans");
  const subagents = capabilities.subagents && lists(unstable, "subagents");
  return { ...introduction, capabilities: { ...capabilities, plans, subagents } };
}
