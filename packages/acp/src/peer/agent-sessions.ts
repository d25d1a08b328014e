// The sessions of one connection: opened, loaded, listed, closed, deleted, forked. Their history is the store's.

import type { AgentOpResult } from "../edition/agent-edition.ts";
import type { Activation, AgentOp, SessionFace } from "../edition/agent-ops.ts";
import { RequestError, rpcCodes } from "../jsonrpc/errors.ts";
import type { IncomingRequest } from "../jsonrpc/incoming-request.ts";
import type { SessionConfigOption } from "../model/content.ts";
import type { Entry } from "../model/entry.ts";
import type { SessionRecord, SessionStore } from "../model/store.ts";
import type { SessionOrigin } from "./agent-definition.ts";
import type { AgentLink } from "./agent-link.ts";
import { AgentSession, checkOptionValue } from "./agent-session.ts";
import { methodNotFound } from "./bound-wire.ts";
import { sessionNotFound } from "./extensions.ts";
import { newId } from "./new-id.ts";
import { SessionLog } from "./session-log.ts";

type SessionOp = Exclude<AgentOp, { op: "prompt" }>;

export class AgentSessions {
  readonly #link: AgentLink;
  readonly #store: SessionStore;
  readonly #live = new Map<string, AgentSession>();
  readonly #announced = new Set<AgentSession>();
  /** A connection that has had a session is past its handshake. */
  used = false;

  constructor(link: AgentLink, store: SessionStore) {
    this.#link = link;
    this.#store = store;
  }

  find(sessionId: string): AgentSession | undefined {
    return this.#live.get(sessionId);
  }

  get(sessionId: string): AgentSession {
    const session = this.#live.get(sessionId);
    if (session === undefined) throw sessionNotFound(sessionId);
    return session;
  }

  optionsOf(sessionId: string): readonly SessionConfigOption[] {
    return this.get(sessionId).options;
  }

  isAnnounced(session: AgentSession): boolean {
    return this.#announced.has(session);
  }

  async run(op: SessionOp, request: IncomingRequest): Promise<AgentOpResult> {
    this.used = true;
    switch (op.op) {
      case "login":
        return this.#login(op.methodId);
      case "logout":
        if (this.#link.definition.logout === undefined) throw methodNotFound("logout");
        await this.#link.definition.logout();
        return { kind: "none" };
      case "new":
        return this.#face(await this.#open(op.activation), request);
      case "activate":
        return this.#face(await this.#activate(op.sessionId, op.activation, op.replay), request);
      case "fork":
        return this.#face(await this.#fork(op.sessionId, op.activation), request);
      case "list": {
        const { cwd, cursor } = op;
        const query = { ...(cwd === undefined ? {} : { cwd }), ...(cursor === undefined ? {} : { cursor }) };
        return { kind: "page", page: await this.#store.list(query) };
      }
      case "close":
        await this.#close(op.sessionId);
        return { kind: "none" };
      case "delete":
        await this.#close(op.sessionId);
        await this.#store.delete(op.sessionId);
        return { kind: "none" };
      case "set_option":
        return this.#setOption(op.sessionId, op.configId, op.value);
      case "cancel_tool":
      case "cancel_terminal":
        return this.#cancelPart(op);
    }
  }

  async closeAll(): Promise<void> {
    for (const sessionId of [...this.#live.keys()]) {
      await this.#close(sessionId).catch((error: unknown) => {
        this.#link.log("error", "closing a session failed", { sessionId, error });
      });
    }
  }

  saveOptions(session: AgentSession): void {
    const config: Record<string, string | boolean> = {};
    for (const { configId } of session.options) {
      const value = session.option(configId);
      if (value !== undefined) config[configId] = value;
    }
    this.#save(session, { config });
  }

  saveTitle(session: AgentSession, title: string): void {
    this.#save(session, { title });
  }

  saveActivity(session: AgentSession): void {
    this.#save(session, {});
  }

  #save(session: AgentSession, patch: object): void {
    this.#store.patch(session.sessionId, { updatedAt: Date.now(), ...patch }).catch((error: unknown) => {
      this.#link.log("error", "the session's store failed", { sessionId: session.sessionId, error });
    });
  }

  async #login(methodId: string): Promise<AgentOpResult> {
    const { authMethods = [], login } = this.#link.definition;
    const method = authMethods.find((each) => each.methodId === methodId);
    if (method === undefined || method.type === "terminal" || login === undefined) {
      const known = authMethods
        .filter((each) => each.type !== "terminal")
        .map((each) => String(each.methodId));
      const message = `there is no such method to log in with; there are: ${known.join(", ") || "none"}`;
      throw new RequestError(rpcCodes.invalidParams, message, {
        reason: "invalid_params",
        path: "/methodId",
      });
    }
    await login.call(this.#link.definition, methodId);
    return { kind: "none" };
  }

  async #open(activation: Activation): Promise<AgentSession> {
    const now = Date.now();
    const record: SessionRecord = {
      sessionId: newId(),
      cwd: activation.cwd,
      additionalDirectories: activation.additionalDirectories,
      createdAt: now,
      updatedAt: now,
      config: {},
    };
    await this.#store.create(record);
    const session = this.#install(record, activation, 1);
    try {
      await this.#opened(session, "new", activation);
    } catch (error) {
      await this.#store.delete(record.sessionId);
      throw error;
    }
    return session;
  }

  async #activate(sessionId: string, activation: Activation, replay: boolean): Promise<AgentSession> {
    const record = await this.#store.get(sessionId);
    if (record === undefined) throw sessionNotFound(sessionId);
    if (record.cwd !== activation.cwd) {
      throw new RequestError(rpcCodes.invalidParams, "the session belongs to another working directory", {
        reason: "invalid_params",
        path: "/cwd",
      });
    }
    let session = this.#live.get(sessionId);
    const live = session !== undefined;
    if (!live) await this.#store.claim(sessionId);
    const { entries, nextSeq } = await this.#history(sessionId, replay || !live);
    session ??= this.#install(record, activation, nextSeq);
    session.reactivate(activation);
    if (!live) await this.#opened(session, replay ? "load" : "resume", activation, record.config);
    if (replay) for (const entry of entries) await replayEntry(session, entry);
    // the current state follows the history and precedes the answer (A30)
    void session.show({
      sessionUpdate: "state_update",
      ...(session.turn === undefined ? { state: "idle" } : { state: "running" }),
    });
    return session;
  }

  async #fork(sessionId: string, activation: Activation): Promise<AgentSession> {
    const from = await this.#store.get(sessionId);
    if (from === undefined) throw sessionNotFound(sessionId);
    await this.#live.get(sessionId)?.log.flush();
    const now = Date.now();
    const { cwd, additionalDirectories } = activation;
    const record = {
      ...from,
      sessionId: newId(),
      cwd,
      additionalDirectories,
      createdAt: now,
      updatedAt: now,
    };
    await this.#store.fork(sessionId, record);
    const { nextSeq } = await this.#history(record.sessionId, true);
    const session = this.#install(record, activation, nextSeq);
    await this.#opened(session, "fork", activation, record.config);
    return session;
  }

  async #history(sessionId: string, wanted: boolean): Promise<{ entries: Entry[]; nextSeq: number }> {
    const entries: Entry[] = [];
    if (wanted) for await (const entry of this.#store.entries(sessionId)) entries.push(entry);
    return { entries, nextSeq: (entries.at(-1)?.seq ?? 0) + 1 };
  }

  #install(record: SessionRecord, activation: Activation, nextSeq: number): AgentSession {
    const { sessionId } = record;
    const link = this.#link;
    const log = new SessionLog(this.#store, sessionId, nextSeq, (error) => {
      link.log("error", "the session's store failed", { sessionId, error });
    });
    const face: SessionFace = { sessionId, configOptions: [], availableCommands: [] };
    const session = new AgentSession(sessionId, activation, {
      link,
      log,
      edition: link.edition.session(face, link.features),
    });
    this.#live.set(sessionId, session);
    return session;
  }

  /** Lets the app set the session up; values that were chosen before are chosen again where they still exist. */
  async #opened(
    session: AgentSession,
    origin: SessionOrigin,
    activation: Activation,
    config: SessionRecord["config"] = {},
  ): Promise<void> {
    try {
      await this.#link.definition.open?.(session, origin, activation);
    } catch (error) {
      this.#live.delete(session.sessionId);
      await this.#store.release(session.sessionId);
      throw error;
    }
    let options = session.options;
    for (const [configId, value] of Object.entries(config)) {
      try {
        const chosen = checkOptionValue(options, configId, value);
        options = options.map((option) => (option.configId === configId ? chosen : option));
      } catch {
        // an option or a value that the agent no longer offers: its default stands
      }
    }
    if (options !== session.options) session.setOptions(options);
  }

  #face(session: AgentSession, request: IncomingRequest): AgentOpResult {
    const { edition, features } = this.#link;
    const { sessionId, options, commands } = session;
    this.#announced.add(session);
    if (!edition.facesCarryCommands && commands.length > 0) {
      request.afterReply(() => {
        void session.show({ sessionUpdate: "available_commands_update", availableCommands: [...commands] });
      });
    }
    const face = { sessionId, configOptions: [...options], availableCommands: [...commands] };
    return { kind: "face", face, client: features };
  }

  async #close(sessionId: string): Promise<void> {
    const session = this.#live.get(sessionId);
    // closing what is not open is fine (A36)
    if (session === undefined) return;
    this.#live.delete(sessionId);
    await session.close();
    this.#announced.delete(session);
    await this.#store.release(sessionId);
    await this.#link.definition.close?.(session);
  }

  async #setOption(sessionId: string, configId: string, value: string | boolean): Promise<AgentOpResult> {
    const session = this.get(sessionId);
    const chosen = checkOptionValue(session.options, configId, value);
    await this.#link.definition.setOption?.(session, configId, value);
    const options = session.options.map((option) => (option.configId === configId ? chosen : option));
    session.setOptions(options);
    return { kind: "options", options: session.options, client: this.#link.features };
  }

  async #cancelPart(
    op: Extract<SessionOp, { op: "cancel_tool" | "cancel_terminal" }>,
  ): Promise<AgentOpResult> {
    const session = this.get(op.sessionId);
    const { definition } = this.#link;
    const { cancelTool, cancelTerminal } = definition;
    if (op.op === "cancel_tool" && cancelTool !== undefined) {
      await cancelTool.call(definition, session, op.toolCallId);
    } else if (op.op === "cancel_terminal" && cancelTerminal !== undefined) {
      await cancelTerminal.call(definition, session, op.terminalId);
    } else {
      throw new RequestError(rpcCodes.invalidParams, "it cannot be cancelled", { reason: "not_cancellable" });
    }
    return { kind: "none" };
  }
}

/** What the client sees of one entry: messages and updates; questions and outcomes are not history. */
async function replayEntry(session: AgentSession, entry: Entry): Promise<void> {
  if (entry.kind === "update") await session.show(entry.update);
  if (entry.kind === "prompt") {
    const { messageId, prompt } = entry;
    await session.show({ sessionUpdate: "user_message", messageId, content: [...prompt] });
  }
}
