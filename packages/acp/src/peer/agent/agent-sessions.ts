// The sessions of one connection: opens, loads, lists, forks, closes and deletes them, and takes them over from others.

import { normalPath } from "../../base/normal-path.ts";
import { optional } from "../../base/objects.ts";
import { extensionIn, storedCwdKey, takenMethod, takeoverKey } from "../../base/parley-extensions.ts";
import type { Activation, AgentOpResult, SessionOp } from "../../edition/agent-edition.ts";
import { closesSession, fieldsOf } from "../../edition/pass-through.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import { logEnd } from "../../log/interrupted-entries.ts";
import { defaultMaxUnstored, LogWriter } from "../../log/log-writer.ts";
import { isFenced } from "../../log/store-rules.ts";
import type { SessionStatus } from "../../model/agent-status.ts";
import type { Claim, SessionHead, SessionRecord } from "../../model/store.ts";
import { newId } from "../base/new-id.ts";
import type { AgentDefinition, OpenRequest } from "./agent-definition.ts";
import type { AgentWire } from "./agent-wire.ts";
import { HandledOp } from "./handled-request.ts";
import {
  type ConnectionWork,
  connectionEnded,
  connectionWork,
  type Holder,
  type LiveSession,
  type LiveSessions,
} from "./live-sessions.ts";
import { checkedActivation, checkOptionValue, restoredOptions } from "./request-rules.ts";
import { ServedSession } from "./served-session.ts";
import { forkEnd } from "./session/fork-end.ts";
import { type GuardedStore, sessionHeld } from "./session/guarded-store.ts";
import { keepCurrent, sessionSetup } from "./session-setup.ts";
import { type StoredSessions, storedSessions } from "./stored-sessions.ts";
import type { AgentSession } from "./turn/turn.ts";

/** How long the end of a connection waits for sessions that are being opened. */
const openGraceMs = 5_000;

type PassOp = Extract<SessionOp, { op: "pass" }>;

/** What a connection has in common with the others of its agent, and what it has of its own. */
export interface AgentSessionsParts {
  readonly store: GuardedStore;
  readonly live: LiveSessions;
  readonly principal: string | undefined;
}

export class AgentSessions implements Holder {
  readonly principal: string | undefined;
  readonly sender: AgentWire;
  readonly #definition: AgentDefinition;
  readonly #store: GuardedStore;
  readonly #stored: StoredSessions;
  /** Of all connections of the agent. */
  readonly #live: LiveSessions;
  readonly #work: ConnectionWork;
  /**
   * The replays that are being sent, and whether they succeed. A second load of a session waits for the first and gets
   * no second copy, since chunks append and the client would show everything twice.
   */
  readonly #replays = new Map<string, Promise<boolean>>();

  constructor(definition: AgentDefinition, sender: AgentWire, parts: AgentSessionsParts) {
    const { store, live, principal } = parts;
    this.principal = principal;
    this.sender = sender;
    this.#definition = definition;
    this.#store = store;
    this.#stored = storedSessions(definition, store, parts);
    this.#live = live;
    this.#work = connectionWork(live.order);
  }

  get state(): Holder["state"] {
    if (!this.sender.isOpen) return "ended";
    return this.sender.attachment?.isAttached === false ? "detached" : "attached";
  }

  taken(sessionId: string): void {
    this.#replays.delete(sessionId);
    void this.sender.notifyExtension(takenMethod, { sessionId });
  }

  /** A session that this connection holds. */
  find(sessionId: string): ServedSession | undefined {
    const live = this.#live.all.get(sessionId);
    return live?.holder === this ? live.session : undefined;
  }

  get(sessionId: string): ServedSession {
    const live = this.#live.all.get(sessionId);
    if (live?.holder === this) return live.session;
    const unknown = RequestError.sessionNotFound(sessionId);
    if (live === undefined || live.holder.principal !== this.principal) throw unknown;
    const message = "another client has this session; load or resume it to get it back";
    throw new RequestError("session_not_found", message, { data: unknown.data });
  }

  async run(
    op: Exclude<SessionOp, { op: "login" | "logout" }>,
    request: IncomingRequest,
  ): Promise<AgentOpResult> {
    const handled = new HandledOp("activation" in op ? op.activation : op);
    switch (op.op) {
      case "new":
        return sessionSetup(await this.#open(this.#checked(op)), request);
      case "activate":
        return this.#reopen(op, this.#checked(op), request);
      case "fork":
        return sessionSetup(await this.#fork(op.sessionId, this.#checked(op)), request);
      case "list":
        return this.#stored.list(op, handled);
      case "pass":
        return handled.value(await this.#pass(op, op.sessionId ?? "", handled));
      case "close":
        this.#replays.delete(op.sessionId);
        await this.#work.inOrder(op.sessionId, () => this.#close(op.sessionId, handled));
        return handled.none;
      case "set_option":
        return this.#setOption(op, handled, request);
      case "cancel_part":
        // answered when it is accepted; the end is an update (A108)
        this.get(op.sessionId).updates.work.cancel(op.part, op.id);
        return { kind: "none" };
    }
  }

  /** Closes all sessions at once, so that a slow one does not hold up the others. */
  async closeAll(): Promise<void> {
    // turns end at once: nobody reads their answers
    for (const session of this.#live.heldBy(this)) session.cancel();
    await this.#work.end(openGraceMs);
    await Promise.all(this.#live.heldBy(this).map(({ sessionId }) => this.#live.close(sessionId)));
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

  async #reopen(
    { sessionId, replay }: Extract<SessionOp, { op: "activate" }>,
    activation: Activation,
    request: IncomingRequest,
  ): Promise<AgentOpResult> {
    // at once: the other connection may be opening it for long
    const live = this.#live.all.get(sessionId);
    if (live !== undefined && live.holder.principal === this.principal) this.#checkFree(live, activation);
    const earlier = replay ? this.#replays.get(sessionId) : undefined;
    const reopened = this.#work.inOrder(sessionId, async () => {
      // unless another client had the session in between
      const isSent = (await earlier) === true && this.find(sessionId) !== undefined;
      const opening = this.#activate({ sessionId, activation, replay: replay && !isSent }, request);
      const session = await this.#alive(opening);
      // a dialect's client wants to know the place, which its request did not name
      const place = activation.hasStoredPlace ? { [storedCwdKey]: session.cwd } : {};
      return sessionSetup(session, request, place);
    });
    if (replay) this.#trackReplay(sessionId, reopened);
    return reopened;
  }

  /** Closes a session that was opened while its connection ended, so that another connection can open it. */
  async #alive(opening: Promise<ServedSession>): Promise<ServedSession> {
    const session = await opening;
    const { sessionId } = session;
    if (this.#work.isEnding && this.find(sessionId) === session) await this.#live.close(sessionId);
    return session;
  }

  /** Creates the record of a new session, and opens it. */
  #create(
    record: SessionRecord,
    activation: Activation,
    origin: "new" | "fork",
    create: () => Promise<Claim>,
  ): Promise<ServedSession> {
    return this.#work.inOrder(record.sessionId, async () => {
      const claim = await create();
      return this.#alive(this.#begin(record, claim, activation, origin));
    });
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
      ...optional({ principal: this.principal }),
    };
    return this.#create(record, activation, "new", () => this.#store.create(record));
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
    const live = await this.#live.lasting(sessionId);
    const isNewClient = live !== undefined && live.holder !== this;
    if (live !== undefined) this.#checkFree(live, activation);
    const origin = replay ? "load" : "resume";
    // a later claim ends that of another process, which learns it when it next stores something
    const takeOver = takesOver(activation);
    const session =
      live?.session ??
      (await this.#begin(record, await this.#store.claim(sessionId, { takeOver }), activation, origin));
    if (isNewClient) this.#live.handOver(live, this);
    if (live !== undefined) session.reactivate(activation);
    const history = replay ? this.#store.history(sessionId) : undefined;
    // history and state come before the answer, what happens now behind it (A25, A30)
    const over = await session.updates.comeBack(history, { isNewClient });
    // the user may have set it while the session was closed
    if (replay && record.hasUserTitle && record.title !== undefined)
      session.updates.output.showNow({ sessionUpdate: "session_info_update", title: record.title });
    // the answer of a batch waits for the prompts in it, which wait for this
    if (request.isBatched) over();
    else request.afterReply(over);
    return session;
  }

  /** Throws when the session is held by a connection whose client is there, and is not to be taken from it. */
  #checkFree({ holder }: LiveSession, activation: Activation): void {
    if (!this.sender.isOpen) throw connectionEnded();
    if (holder === this || holder.state !== "attached" || takesOver(activation)) return;
    throw sessionHeld(`close it there first, or take it over with _meta: { "${takeoverKey}": true }`);
  }

  async #fork(sessionId: string, activation: Activation): Promise<ServedSession> {
    const { archived: _, head: _head, ...from } = await this.#stored.known(sessionId);
    await this.#live.all.get(sessionId)?.session.updates.log.flush();
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
    const end = await forkEnd(this.#store.history(sessionId), activation);
    return this.#create(record, activation, "fork", () => this.#store.fork(sessionId, record, end));
  }

  /** Sets a session up that this process has claimed. One that fails is released, and deleted if it is new. */
  async #begin(
    record: SessionRecord,
    claim: Claim,
    activation: Activation,
    origin: OpenRequest["origin"],
  ): Promise<ServedSession> {
    const { sessionId } = record;
    try {
      // turns that a crash has ended are completed (F1, F11)
      const { head, missing } =
        origin === "new"
          ? { head: { lastSeq: 0 }, missing: [] }
          : await logEnd(this.#store, sessionId, this.#store.history(sessionId).read);
      const session = this.#install(record, activation, { claim, head });
      for (const body of missing) session.updates.log.append(body);
      const handled = new HandledOp(activation);
      // nothing is kept with it before `open` has returned
      const opening = session as AgentSession<undefined>;
      session.data = await this.#definition.session?.open?.(opening, Object.assign(handled, { origin }));
      session.resultMeta = handled.resultMeta;
      const options = restoredOptions(session.configOptions, record.config);
      if (options !== session.configOptions) session.setConfigOptions(options);
      return session;
    } catch (error) {
      this.#live.remove(sessionId);
      await this.#store.release(claim);
      if (origin === "new" || origin === "fork") await this.#store.delete(sessionId);
      throw error;
    }
  }

  #install(
    record: SessionRecord,
    activation: Activation,
    { claim, head }: { readonly claim: Claim; readonly head: Pick<SessionHead, "lastSeq" | "state"> },
  ): ServedSession {
    const { sessionId } = record;
    const maxUnstored = this.#definition.session?.maxUnstored ?? defaultMaxUnstored;
    const report = (message: string, details: object) =>
      session.updates.sender.log("error", message, { sessionId, ...details });
    // this connection ends before the session does
    const live = this.#live;
    const log = new LogWriter(this.#store, claim, {
      head,
      maxUnstored,
      fail: (error) => {
        if (isFenced(error)) live.lost(session);
        else report("the session's store failed", { error });
      },
      full: () => report("the session's store is too far behind", { maxUnstored }),
    });
    const session: ServedSession = new ServedSession(
      { sessionId, activation, definition: this.#definition, hasUserTitle: record.hasUserTitle === true },
      this.sender,
      log,
    );
    this.#live.add(session, this);
    return session;
  }

  /** Closes a session that this connection holds, or that waits for a client that is away. */
  async #close(sessionId: string, handled?: HandledOp): Promise<void> {
    const holder = this.#live.all.get(sessionId)?.holder;
    const isOwn = holder?.principal === this.principal;
    if (isOwn && (holder === this || holder?.state !== "attached"))
      await this.#live.close(sessionId, handled);
  }

  /** A request that passes through: its row says what becomes of the session. */
  async #pass({ method, row, params }: PassOp, sessionId: string, handled: HandledOp): Promise<object> {
    if (method === "session/delete") return this.#delete(sessionId, handled);
    const change = () => this.#stored.change(row, { sessionId, params }, handled);
    const patch = await (closesSession(method) ? this.#whileClosed(sessionId, change) : change());
    const session = this.#live.all.get(sessionId)?.session;
    if (patch?.title !== undefined) session?.renamed(patch.title);
    if (row.handler !== "onStatus") return fieldsOf(patch, row.answers);
    const status = session === undefined ? "saved" : "open";
    return { status, ...optional({ state: session?.updates.snapshot }) } satisfies SessionStatus;
  }

  async #delete(sessionId: string, handled: HandledOp): Promise<object> {
    this.#replays.delete(sessionId);
    await this.#work.inOrder(sessionId, async () => {
      // deleting what is unknown is fine
      if (await this.#stored.isForeign(sessionId)) return;
      await this.#definition.session?.onDelete?.(sessionId, handled);
      await this.#live.close(sessionId);
      await this.#store.delete(sessionId);
    });
    return {};
  }

  /** One that another connection or process uses is refused, as a load would be. */
  #whileClosed<Result>(sessionId: string, work: () => Promise<Result>): Promise<Result> {
    this.#replays.delete(sessionId);
    return this.#work.inOrder(sessionId, async () => {
      await this.#stored.known(sessionId);
      await this.#close(sessionId);
      const claim = await this.#store.claim(sessionId);
      try {
        return await work();
      } finally {
        await this.#store.release(claim);
      }
    });
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
    const { capabilities: client } = this.sender.client;
    const meta = optional({ _meta: handled.resultMeta });
    return { kind: "options", options: session.configOptions, client, ...meta };
  }
}

/** Whether a client wants a session from whoever has it. */
function takesOver({ _meta }: Activation): boolean {
  return extensionIn(_meta, takeoverKey) === true;
}
