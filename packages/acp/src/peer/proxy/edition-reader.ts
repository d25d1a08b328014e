// Reads what passes into the model, and writes changes of the model into what passes.

import { isObject } from "../../base/objects.ts";
import type { AgentEdition, AgentOp, ClientCapabilities } from "../../edition/agent-edition.ts";
import type { ClientEdition, ClientSessionEdition, ClientSessionSink } from "../../edition/client-edition.ts";
import { MessageNames } from "../../edition/message-names.ts";
import { editionOf, type ProtocolVersion } from "../../edition/negotiate.ts";
import { updateFromWire } from "../../edition/wire-fields.ts";
import type { Frame, Side } from "../../forward/frame.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { ElicitationRequest, PermissionOutcome, PermissionRequest } from "../../model/ask.ts";
import type { PromptError, PromptResult, SessionUpdate } from "../../model/update.ts";
import { Failure } from "../../wire/decode.ts";
import { BoundWire } from "../base/bound-wire.ts";
import { loadAgentVersion, loadClientVersion } from "../base/load-version.ts";
import { newId } from "../base/new-id.ts";
import { isRelayedMcp } from "../mcp/mcp-wire.ts";
import { applied } from "./applied.ts";
import { isSteering, promptsWith } from "./frame-actions.ts";
import type { ProxiedPrompt, ProxiedSetup, ProxiedTurn } from "./proxy-definition.ts";

/** A proxy takes part in everything, so nothing is left out for a client that shows less. */
const everything: ClientCapabilities = {
  readTextFile: true,
  writeTextFile: true,
  terminal: true,
  terminalAuth: true,
  elicitationForm: true,
  elicitationUrl: true,
  booleanOptions: true,
  notices: true,
  compaction: true,
  plans: true,
  subagents: true,
  terminalOutput: true,
};

const setupKinds: Readonly<Record<string, ProxiedSetup["kind"]>> = {
  "session/new": "new",
  "session/load": "load",
  "session/resume": "resume",
  "session/fork": "fork",
};

/** What a session made of its messages. */
export interface Heard {
  readonly updates: SessionUpdate[];
  readonly ended: PromptResult[];
}

function promptErrorOf(error: Error): PromptError {
  const { kind, code, message, data } =
    error instanceof RequestError ? error : new RequestError("internal_error", error.message);
  return { kind, code, message, ...(data !== undefined && { data }) };
}

/** A message of the agent. */
export function messageOf(text: string): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", messageId: newId(), content: { type: "text", text } };
}

/** One session as the client's edition reads it. */
export class SessionReader {
  readonly #session: ClientSessionEdition;
  #heard: Heard = { updates: [], ended: [] };
  #prompts = 0;
  readonly #sink: ClientSessionSink = {
    toolCalls: { isBeyond: () => false },
    update: (update) => void this.#heard.updates.push(update),
    accepted: () => undefined,
    outcome: (_, outcome) => void this.#heard.ended.push(outcome),
    failed: (_, error) => void this.#heard.ended.push({ stopReason: "error", error: promptErrorOf(error) }),
  };

  constructor(edition: ClientEdition) {
    this.#session = edition.session("*", new MessageNames());
  }

  receive(update: object): Heard {
    return this.#hear(() => this.#session.receive(update, this.#sink));
  }

  replays(isReplaying: boolean): Heard {
    return this.#hear(() => this.#session.setReplaying(isReplaying, this.#sink));
  }

  /** Returns the number of the prompt. Without its content: an echo of it passes too, so hooks must see it. */
  prompted(): number {
    this.#prompts += 1;
    this.#hear(() => this.#session.promptSent(this.#prompts, [], this.#sink));
    return this.#prompts;
  }

  answered(prompt: number, result: object): Heard {
    return this.#hear(() => this.#session.promptAnswered(prompt, result, this.#sink));
  }

  failed(prompt: number, error: Error): Heard {
    return this.#hear(() => this.#session.promptFailed(prompt, error, this.#sink));
  }

  #hear(work: () => void): Heard {
    this.#heard = { updates: [], ended: [] };
    work();
    return this.#heard;
  }
}

function listOf(encoded: object | readonly object[] = []): object[] {
  return Array.isArray(encoded) ? [...(encoded as readonly object[])] : [encoded];
}

/** Whether an update has a piece of a message, and not the message. */
function isPiece(update: unknown): boolean {
  return isObject(update) && String(update["sessionUpdate"]).endsWith("_chunk");
}

/** The output of a terminal may stand under two keys of `_meta`, and the second is not read beside the first. */
function leaveOneOutput(update: { _meta?: unknown }): void {
  const { _meta: meta } = update;
  if (!isObject(meta) || meta["terminal_output_delta"] == null || !("terminal_output" in meta)) return;
  const { terminal_output: _, ...rest } = meta;
  update._meta = rest;
}

export class EditionReader {
  readonly version: ProtocolVersion;
  readonly #agent: AgentEdition;
  readonly #client: ClientEdition;
  readonly #fromClient: BoundWire;
  readonly #fromAgent: BoundWire;
  /** Like the one above, but unknown fields stay where they are. */
  readonly #plainFromClient: BoundWire;

  private constructor(
    agent: Awaited<ReturnType<typeof loadAgentVersion>>,
    client: Awaited<ReturnType<typeof loadClientVersion>>,
    log: Log,
  ) {
    this.version = agent.edition.version;
    this.#agent = agent.edition;
    this.#client = client.edition;
    this.#fromClient = new BoundWire(agent.wire, "agent", "*", log);
    this.#fromAgent = new BoundWire(client.wire, "client", "*", log);
    const { extras: _, ...plain } = agent.wire;
    this.#plainFromClient = new BoundWire(plain, "agent", "*", log);
  }

  static async load(version: ProtocolVersion, log: Log): Promise<EditionReader> {
    const [agent, client] = await Promise.all([loadAgentVersion(version), loadClientVersion(version)]);
    return new EditionReader(agent, client, log);
  }

  get edition() {
    return editionOf(this.version);
  }

  session(): SessionReader {
    return new SessionReader(this.#client);
  }

  /**
   * The params as this version reads them, without what lenient decoding leaves out. Changes what it is given. Throws for what
   * cannot be read. The params of methods that this version does not have stay as they are.
   */
  asRead(from: Side, kind: "request" | "notification", method: string, params: unknown): unknown {
    const wire = from === "client" ? this.#plainFromClient : this.#fromAgent;
    const isRequest = kind === "request";
    const known = promptsWith({ method, from });
    const row = isRequest ? wire.receivedRequest(known) : wire.receivedNotification(known);
    // of MCP over ACP nothing is shown in terms of the model, and it has two generations
    if (row === undefined || isRelayedMcp(method)) return params;
    const named = from === "agent" ? this.#client.repair(method, params) : undefined;
    if (isRequest) return wire.requestParams(row, params);
    const read = wire.notificationParams(row, params);
    if (read instanceof Failure) throw RequestError.invalidParams(`${method} cannot be read`, read.path);
    if (method !== "session/update") return read;
    const { update } = read as { update: { _meta?: unknown; messageId?: unknown } }; // validated by its row
    leaveOneOutput(update);
    // the id that it got is for readers
    if (named !== undefined) delete update.messageId;
    return read;
  }

  /** The update of a notification. Changes what it is given. Undefined for one that is not valid. */
  update(params: unknown): object | undefined {
    this.#client.repair("session/update", params);
    const row = this.#fromAgent.receivedNotification("session/update");
    const decoded = row && this.#fromAgent.notificationParams(row, params);
    if (decoded === undefined || decoded instanceof Failure) return undefined;
    return updateFromWire(decoded as { update: object }); // validated by its row
  }

  /** The params of the notifications that say these updates in place of those that were read. */
  withUpdates(params: object, before: readonly SessionUpdate[], after: readonly SessionUpdate[]): object[] {
    const [one, other] = [before[0], after[0]];
    const isOne = one !== undefined && other !== undefined && before.length === 1 && after.length === 1;
    const { update } = params as { readonly update?: { readonly toolCallId?: unknown } };
    // version 1 says in one update of a call what its terminals say
    const isOfCall = this.version === 1 && isOne && "terminalId" in one;
    if (isOne && !isOfCall) {
      const [from, to] = [this.#encode(one), this.#encode(other)];
      if (from.length === 1 && to.length === 1 && isPiece(update) === isPiece(from[0]))
        return [{ ...params, update: applied(update, from[0], to[0]) }];
      return to.map((each) => ({ ...params, update: each }));
    }
    // none of them may have the words of the others as they were
    const session = this.#encoder();
    const toolCallId = String(update?.toolCallId);
    return after.flatMap((each) => {
      if (this.version === 1 && "terminalId" in each) {
        const content = { type: "terminal", terminalId: String(each.terminalId) } as const;
        session.encode({ sessionUpdate: "tool_call_content_chunk", toolCallId, content });
      }
      return listOf(session.encode(each)).map((encoded) => ({ ...params, update: encoded }));
    });
  }

  /** The params of the notifications for an update of our own. */
  newUpdate(sessionId: string, update: SessionUpdate): object[] {
    return this.#encode(update).map((each) => ({ sessionId, update: each }));
  }

  /** An encoder of its own each time: what it remembers of earlier updates would be in one of the two that are compared. */
  #encode(update: SessionUpdate): object[] {
    return listOf(this.#encoder().encode(update));
  }

  #encoder() {
    return this.#agent.session({ sessionId: "", configOptions: [], availableCommands: [] }, everything);
  }

  /** Changes what it is given. Throws the error to answer with. */
  prompt(params: unknown): ProxiedPrompt {
    const op = this.#op("session/prompt", params);
    if (op?.op !== "prompt") throw RequestError.methodNotFound("session/prompt");
    return { content: op.prompt, ...(op._meta && { _meta: op._meta }) };
  }

  withPrompt(params: object, before: ProxiedPrompt, after: ProxiedPrompt): object {
    const written = ({ content, _meta }: ProxiedPrompt) => ({ prompt: content, _meta });
    return applied(params, written(before), written(after)) as object;
  }

  /** Changes what it is given. Throws the error to answer with. Undefined for a method of another version. */
  setup(method: string, params: unknown): ProxiedSetup | undefined {
    const kind = setupKinds[method];
    const op = kind && this.#op(method, params);
    if (kind === undefined || op === undefined || !("activation" in op)) return undefined;
    const { hasStoredPlace: _, ...activation } = op.activation;
    return { kind, ...("sessionId" in op && { sessionId: op.sessionId }), ...activation };
  }

  withSetup(params: object, before: ProxiedSetup, after: ProxiedSetup): object {
    const written = ({ kind: _, sessionId: __, ...activation }: ProxiedSetup) =>
      this.#client.open(activation).params;
    return applied(params, written(before), written(after)) as object;
  }

  /** Changes what it is given. Throws the error to answer with. */
  permission(params: unknown): PermissionRequest {
    return this.#client.permission(this.#asked("session/request_permission", params), () => undefined).ask;
  }

  /** The params of a question that a proxy asks, and the update that ends the tool call made for it. */
  asked(sessionId: string, ask: PermissionRequest) {
    const { params } = this.#agent.permission(sessionId, ask);
    return { params, over: (answer: PermissionOutcome) => this.#agent.permissionOver(ask, answer) };
  }

  withPermission(
    params: object,
    sessionId: string,
    before: PermissionRequest,
    after: PermissionRequest,
  ): object {
    const written = (ask: PermissionRequest) => this.#agent.permission(sessionId, ask).params;
    return applied(params, written(before), written(after)) as object;
  }

  /** Changes what it is given. Undefined for a kind that is not known. */
  elicitation(params: unknown): ElicitationRequest | undefined {
    return this.#client.elicitation(this.#asked("elicitation/create", params))?.ask;
  }

  /** The answer to a prompt that does not go to the agent, with what is sent before it and after it. */
  turn(
    frame: Frame,
    { content }: ProxiedPrompt,
    turn: ProxiedTurn,
  ): { before: object[]; result: object; after: object[] } {
    const { say, ...outcome } = turn;
    const sessionId = String(frame.session);
    const messageId = newId();
    const said = say === undefined ? [] : [messageOf(say)];
    const sent = (updates: readonly SessionUpdate[]) =>
      updates.flatMap((update) => this.newUpdate(sessionId, update));
    // a message for a turn that runs ends with it
    if (isSteering(frame)) return { before: sent(said), result: { outcome: "injected" }, after: [] };
    const { prompts } = this.#agent;
    if (!prompts.answersAtInsertion) return { before: sent(said), result: prompts.ended(outcome), after: [] };
    const after: SessionUpdate[] = [
      { sessionUpdate: "user_message", messageId, content },
      { sessionUpdate: "state_update", state: "running" },
      ...said,
      { sessionUpdate: "state_update", state: "idle", ...outcome },
    ];
    return { before: [], result: prompts.inserted(messageId), after: sent(after) };
  }

  #op(method: string, params: unknown): AgentOp | undefined {
    const row = this.#fromClient.receivedRequest(method);
    if (row === undefined) return undefined;
    return this.#agent.decode(method, this.#fromClient.requestParams(row, params) as object, () => []);
  }

  #asked(method: string, params: unknown): object {
    this.#client.repair(method, params);
    const row = this.#fromAgent.receivedRequest(method);
    if (row === undefined) throw RequestError.methodNotFound(method);
    return this.#fromAgent.requestParams(row, params) as object; // validated by its row
  }
}
