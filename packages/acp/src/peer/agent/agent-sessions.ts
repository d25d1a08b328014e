// The sessions of one connection: opens, loads, lists, forks, closes and deletes them.

import { withTimeout } from "../../base/deadline.ts";
import { normalPath } from "../../base/normal-path.ts";
import { optional } from "../../base/objects.ts";
import type { Activation, AgentOpResult, SessionOp } from "../../edition/agent-edition.ts";
import { storedCwdKey } from "../../edition/dialect-keys.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { SessionStatus } from "../../model/agent-status.ts";
import type { Meta } from "../../model/content.ts";
import type { SessionRecord } from "../../model/store.ts";
import { newId } from "../base/new-id.ts";
import { SessionOrder } from "../base/session-order.ts";
import type { AccountOp } from "./account.ts";
import type { AgentDefinition, OpenInfo } from "./agent-definition.ts";
import { HandledOp } from "./handled-request.ts";
import { checkedActivation, checkOptionValue, restoredOptions } from "./request-rules.ts";
import { ServedSession } from "./served-session.ts";
import type { GuardedStore } from "./session/guarded-store.ts";
import { type HistoryEnd, historyEnd } from "./session/interrupted-history.ts";
import { defaultMaxUnstored, SessionLog } from "./session/session-log.ts";
import type { SessionSender } from "./session/session-sender.ts";
import { StoredSessions } from "./stored-sessions.ts";
import type { AgentSession } from "./turn/turn.ts";

/** How long the end of a connection waits for sessions that are being opened. */
const openGraceMs = 5_000;

/** How long closing a session waits for the definition's `session.close`. */
const closeGraceMs = 5_000;

const noHistory: HistoryEnd = { nextSeq: 1, missing: [] };

export class AgentSessions {
  readonly #definition: AgentDefinition;
  readonly #sender: SessionSender;
  readonly #store: GuardedStore;
  readonly #stored: StoredSessions;
  readonly #live = new Map<string, ServedSession>();
  /** Sessions that are being activated or ended: the next request for one waits. */
  readonly #order = new SessionOrder();
  /**
   * The replays that are being sent, and whether they succeed. A second load of a session waits for the first and gets
   * no second copy, since chunks append and the client would show everything twice.
   */
  readonly #replays = new Map<string, Promise<boolean>>();
  /** Sessions that are being opened. */
  readonly #opening = new Set<Promise<ServedSession>>();
  #isEnding = false;

  constructor(definition: AgentDefinition, sender: SessionSender, store: GuardedStore) {
    this.#definition = definition;
    this.#sender = sender;
    this.#store = store;
    this.#stored = new StoredSessions(definition, store);
  }

  find(sessionId: string): ServedSession | undefined {
    return this.#live.get(sessionId);
  }

  get(sessionId: string): ServedSession {
    const session = this.#live.get(sessionId);
    if (session === undefined) throw RequestError.sessionNotFound(sessionId);
    return session;
  }

  async run(op: Exclude<SessionOp, AccountOp>, request: IncomingRequest): Promise<AgentOpResult> {
    const handled = new HandledOp("activation" in op ? op.activation : op);
    switch (op.op) {
      case "new":
        return this.#setup(await this.#alive(this.#open(this.#checked(op))), request);
      case "activate":
        return this.#reopen(op, this.#checked(op), request);
      case "fork":
        return this.#setup(await this.#alive(this.#fork(op.sessionId, this.#checked(op))), request);
      case "list":
        return this.#stored.list(op, handled);
      case "archive":
        await this.#archive(op.sessionId, handled);
        return handled.none;
      case "unarchive":
        await this.#stored.unarchive(op.sessionId, handled);
        return handled.none;
      case "status":
        return { kind: "status", status: await this.#status(op.sessionId, handled) };
      case "set_title":
        return handled.value({ title: await this.#setTitle(op, handled) });
      case "close":
        this.#replays.delete(op.sessionId);
        await this.#order.run(op.sessionId, () => this.#close(op.sessionId, handled));
        return handled.none;
      case "delete":
        this.#replays.delete(op.sessionId);
        await this.#order.run(op.sessionId, async () => {
          await this.#definition.session?.delete?.(op.sessionId, handled);
          await this.#close(op.sessionId);
          await this.#store.delete(op.sessionId);
        });
        return handled.none;
      case "set_option":
        return this.#setOption(op, handled, request);
      case "cancel_tool":
      case "cancel_terminal":
        return this.#cancelPart(op);
    }
  }

  /** Closes all sessions at once, so that a slow one does not hold up the others. */
  async closeAll(): Promise<void> {
    this.#isEnding = true;
    // turns end at once: nobody reads their answers
    for (const session of this.#live.values()) session.cancel();
    await withTimeout(openGraceMs, Promise.allSettled([this.#order.ended, ...this.#opening]));
    await Promise.all([...this.#live.keys()].map((sessionId) => this.#close(sessionId)));
  }

  /** A replay is being sent until the request for it is answered. */
  #trackReplay(sessionId: string, load: Promise<unknown>): void {
    const sent = load.then(
      () => true,
      () => false,
    );
    this.#replays.set(sessionId, sent);
    void sent.then(() => {
      if (this.#replays.get(sessionId) === sent) this.#replays.delete(sessionId);
    });
  }

  #checked({ activation }: { readonly activation: Activation }): Activation {
    return checkedActivation(activation, this.#definition);
  }

  #reopen(
    { sessionId, replay }: Extract<SessionOp, { op: "activate" }>,
    activation: Activation,
    request: IncomingRequest,
  ): Promise<AgentOpResult> {
    const earlier = replay ? this.#replays.get(sessionId) : undefined;
    const reopened = this.#order.run(sessionId, async () => {
      const isSent = (await earlier) === true;
      const opening = this.#activate({ sessionId, activation, replay: replay && !isSent }, request);
      const session = await this.#alive(opening);
      // a dialect's client wants to know the place, which its request did not name
      const place = activation.hasStoredPlace ? { [storedCwdKey]: session.cwd } : {};
      return this.#setup(session, request, place);
    });
    if (replay) this.#trackReplay(sessionId, reopened);
    return reopened;
  }

  /** Closes a session that was opened while its connection ended, so that another connection can open it. */
  async #alive(opening: Promise<ServedSession>): Promise<ServedSession> {
    const settled = opening.then(async (session) => {
      if (this.#isEnding) await this.#close(session.sessionId);
      return session;
    });
    this.#opening.add(settled);
    try {
      return await settled;
    } finally {
      this.#opening.delete(settled);
    }
  }

  async #open(activation: Activation): Promise<ServedSession> {
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
    return this.#begin(record, activation, "new");
  }

  async #activate(
    { sessionId, activation: given, replay }: Omit<Extract<SessionOp, { op: "activate" }>, "op">,
    request: IncomingRequest,
  ): Promise<ServedSession> {
    const record = await this.#stored.known(sessionId);
    const { hasStoredPlace = false, ...place } = given;
    if (!hasStoredPlace && normalPath(record.cwd) !== normalPath(given.cwd)) {
      const message = `the session belongs to another working directory: ${JSON.stringify(record.cwd)}`;
      throw RequestError.invalidParams(message, "/cwd");
    }
    const { cwd, additionalDirectories } = record;
    // the session keeps its own spelling
    const activation = { ...place, cwd, ...(hasStoredPlace ? { additionalDirectories } : {}) };
    const live = this.#live.get(sessionId);
    if (live === undefined) await this.#store.claim(sessionId);
    const session = live ?? (await this.#begin(record, activation, replay ? "load" : "resume"));
    live?.reactivate(activation);
    // history and state come before the answer, what happens now behind it (A25, A30)
    const over = await session.updates.comeBack(replay ? this.#store.history(sessionId) : undefined);
    // the user may have set it while the session was closed
    if (replay && record.hasUserTitle && record.title !== undefined)
      session.updates.output.showNow({ sessionUpdate: "session_info_update", title: record.title });
    // the answer of a batch waits for the prompts in it, which wait for this
    if (request.isBatched) over();
    else request.afterReply(over);
    return session;
  }

  async #fork(sessionId: string, activation: Activation): Promise<ServedSession> {
    const { archived: _, ...from } = await this.#stored.known(sessionId);
    await this.#live.get(sessionId)?.updates.log.flush();
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
    return this.#begin(record, activation, "fork");
  }

  /** Sets a session up that this process has claimed. One that fails is released, and deleted if it is new. */
  async #begin(
    record: SessionRecord,
    activation: Activation,
    origin: OpenInfo["origin"],
  ): Promise<ServedSession> {
    const { sessionId, settledSeq } = record;
    try {
      const end = origin === "new" ? noHistory : await historyEnd(this.#store.history(sessionId), settledSeq);
      const session = this.#install(record, activation, end);
      const handled = new HandledOp(activation);
      // nothing is kept with it before `open` has returned
      const opening = session as AgentSession<undefined>;
      session.data = await this.#definition.session?.open?.(opening, Object.assign(handled, { origin }));
      session.resultMeta = handled.resultMeta;
      const options = restoredOptions(session.configOptions, record.config);
      if (options !== session.configOptions) session.setConfigOptions(options);
      return session;
    } catch (error) {
      this.#live.delete(sessionId);
      await this.#store.release(sessionId);
      if (origin === "new" || origin === "fork") await this.#store.delete(sessionId);
      throw error;
    }
  }

  #install(record: SessionRecord, activation: Activation, { nextSeq, missing }: HistoryEnd): ServedSession {
    const { sessionId } = record;
    const maxUnstored = this.#definition.session?.maxUnstored ?? defaultMaxUnstored;
    const report = (message: string, details: object) =>
      this.#sender.log("error", message, { sessionId, ...details });
    const log = new SessionLog(this.#store, sessionId, {
      nextSeq,
      maxUnstored,
      fail: (error) => report("the session's store failed", { error }),
      full: () => report("the session's store is too far behind", { maxUnstored }),
    });
    for (const body of missing) log.append(body);
    const session = new ServedSession(
      { sessionId, activation, definition: this.#definition, hasUserTitle: record.hasUserTitle === true },
      this.#sender,
      log,
    );
    this.#live.set(sessionId, session);
    return session;
  }

  #setup(session: ServedSession, request: IncomingRequest, place: Meta = {}): AgentOpResult {
    const { edition, client } = this.#sender;
    const { sessionId, configOptions: options, availableCommands: commands } = session;
    session.announce();
    keepCurrent(session, request);
    if (!edition.setupHasCommands && commands.length > 0) {
      request.afterReply(() => {
        void session.updates.output.show({
          sessionUpdate: "available_commands_update",
          availableCommands: [...commands],
        });
      });
    }
    const meta = { ...session.resultMeta, ...place };
    const setup = {
      sessionId,
      configOptions: [...options],
      availableCommands: [...commands],
      ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }),
    };
    return { kind: "session", setup, client: client.capabilities };
  }

  async #close(sessionId: string, handled?: HandledOp): Promise<void> {
    const session = this.#live.get(sessionId);
    // closing what is not open is fine (A36)
    if (session === undefined) return;
    this.#live.delete(sessionId);
    await session.close();
    // a failure must not keep the session claimed, nor the client without its answer (A33)
    const failed = (error: unknown) =>
      this.#sender.log("error", "closing a session failed", { sessionId, error });
    await this.#store.release(sessionId).catch(failed);
    const closing = (async () => this.#definition.session?.close?.(session, handled))().catch(failed);
    // a handler that waits for the end of the connection or of the agent waits for itself
    if (
      (await withTimeout(
        closeGraceMs,
        closing.then(() => true),
      )) === undefined
    )
      this.#sender.log("warn", "session.close goes on: it must not wait for the agent or the connection", {
        sessionId,
      });
  }

  /** Closes the session first. */
  #archive(sessionId: string, handled: HandledOp): Promise<void> {
    this.#replays.delete(sessionId);
    return this.#order.run(sessionId, async () => {
      await this.#stored.known(sessionId);
      await this.#close(sessionId);
      await this.#stored.archive(sessionId, handled);
    });
  }

  async #status(sessionId: string, handled: HandledOp): Promise<SessionStatus> {
    await this.#stored.known(sessionId);
    await this.#definition.session?.status?.(sessionId, handled);
    const state = this.#live.get(sessionId)?.updates.snapshot;
    const more = optional({ state, _meta: handled.resultMeta });
    return { status: this.#store.isOpen(sessionId) ? "open" : "saved", ...more };
  }

  async #setTitle(op: Extract<SessionOp, { op: "set_title" }>, handled: HandledOp): Promise<string> {
    const title = await this.#stored.setTitle(op, handled);
    this.#live.get(op.sessionId)?.renamed(title);
    return title;
  }

  async #setOption(
    { sessionId, configId, value, valuePath }: Extract<SessionOp, { op: "set_option" }>,
    handled: HandledOp,
    request: IncomingRequest,
  ): Promise<AgentOpResult> {
    const session = this.get(sessionId);
    const chosen = checkOptionValue(session.configOptions, configId, value, valuePath);
    await this.#definition.session?.setConfigOption?.(session, configId, value, handled);
    const options = session.configOptions.map((option) => (option.configId === configId ? chosen : option));
    session.setConfigOptions(options);
    keepCurrent(session, request);
    const { capabilities: client } = this.#sender.client;
    const meta = optional({ _meta: handled.resultMeta });
    return { kind: "options", options: session.configOptions, client, ...meta };
  }

  async #cancelPart(
    op: Extract<SessionOp, { op: "cancel_tool" | "cancel_terminal" }>,
  ): Promise<AgentOpResult> {
    const session = this.get(op.sessionId);
    // answered when it is accepted; the end is an update (A108)
    if (op.op === "cancel_tool") session.updates.work.cancel("tool_call", op.toolCallId);
    else session.updates.work.cancel("terminal", op.terminalId);
    return { kind: "none" };
  }
}

/** Sends the options again that changed before the answer left: the client takes the answer for the newer list. */
function keepCurrent(session: ServedSession, request: IncomingRequest): void {
  const answered = session.configOptions;
  request.afterReply(() => {
    const { configOptions: options } = session;
    if (options !== answered)
      void session.updates.output.show({
        sessionUpdate: "config_option_update",
        configOptions: [...options],
      });
  });
}
