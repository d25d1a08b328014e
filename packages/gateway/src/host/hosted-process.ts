// One agent process and the client that it serves at the moment. Messages pass between them unchanged, with
// back-pressure. When another client takes the process over, ids are replaced, so that those of one client are never
// taken for those of another.

import type { Log, Transport } from "@parley/acp";
import { exactIdIn, idToJson } from "@parley/acp/internal";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { EndReason, Sink } from "@parley/acp/transport";
import { endWords } from "./agent-end.ts";
import {
  cancelled,
  cancelMethod,
  isWork,
  stateOf,
  tellTaken,
  unanswered,
  withdrawn,
} from "./hosted-messages.ts";
import { canBeAskedAgain, HostedQuestions, type Question } from "./hosted-questions.ts";
import { type Asked, continues, HostedSessions, type Message, sessionOfMessage } from "./hosted-sessions.ts";
import type { ProcessClient } from "./process-client.ts";
import { WaitingPrompts } from "./waiting-prompts.ts";

/** A started agent. */
export interface StartedAgent {
  /** The messages of its stdin and stdout. Closing it ends the process. */
  readonly transport: Transport;
  /** Its process id, for the log. */
  readonly pid?: number | undefined;
  /** Resolves when the process and all that it needed are gone. */
  readonly gone?: Promise<unknown> | undefined;
}

export interface HostedOptions {
  /** The owner of its sessions. */
  readonly principal: string | undefined;
  /** The first message to the process. It is bound to it. */
  readonly initialize: Message;
  /** Whether this client was something else's before: its ids may still be in use. */
  readonly isLater: boolean;
  readonly start: () => Promise<StartedAgent>;
  readonly log: Log;
  over(): void;
}

const unavailable = -32067;

export class HostedProcess {
  readonly sessions = new HostedSessions();
  readonly principal: string | undefined;
  readonly initialize: Message;
  /** Resolves when the process is gone. */
  readonly closed: Promise<void>;
  /** Its answer to initialize; undefined before. */
  introduction: unknown;
  readonly #options: HostedOptions;
  readonly #questions = new HostedQuestions();
  readonly #prompts = new WaitingPrompts();
  /** Sessions that the present client has not taken up: it is told nothing of them. */
  #parked = new Set<string>();
  readonly #ended = Promise.withResolvers<void>();
  #client: ProcessClient;
  #replacesIds: boolean;
  #lastId = 0;
  #agent: Transport | undefined;
  /** Messages from before the process has started. */
  #early: [message: object, text: string | undefined][] = [];
  #closing: Promise<void> | undefined;
  #isLeaving = false;

  constructor(client: ProcessClient, options: HostedOptions) {
    this.#client = client;
    this.#options = options;
    this.principal = options.principal;
    this.initialize = options.initialize;
    this.#replacesIds = options.isLater;
    this.closed = this.#run().finally(() => options.over());
  }

  /** Whether it goes on. */
  get isOpen(): boolean {
    return this.#closing === undefined;
  }

  /** Whether its client is there. */
  get isAttached(): boolean {
    return this.#client.isAttached;
  }

  /** For how long its client has been away. */
  get absentMs(): number {
    return this.#client.absentMs;
  }

  /** Whether nobody would miss it. */
  get isUnused(): boolean {
    return this.sessions.isUnused && this.#questions.all.length === 0;
  }

  /** Takes a message of its client. */
  take(message: Message, text: string): void {
    const { id, method } = message;
    if (method === undefined) return this.#replied(message, text);
    if (id === undefined) return this.#told(message, text);
    const sessionId = sessionOfMessage(message);
    // a v1 client cannot know that a turn runs, and many agents take one prompt at a time
    if (method === "session/prompt" && sessionId !== undefined && this.#mustWait(sessionId))
      return this.#prompts.add(sessionId, message, text);
    this.#ask(message, text);
  }

  /** Asks in the name of its client; `how` says what is special about it. */
  ask(message: Message, text: string, how: Pick<Asked, "isHidden" | "disguised">): void {
    this.#ask(message, text, how);
  }

  /** The present client has room again. */
  resume(): void {
    this.#agent?.resume();
  }

  /** Goes on with another client, which takes up the sessions one by one. Open questions wait for that. */
  moveTo(client: ProcessClient): void {
    const before = this.#client;
    const { connectionId } = client;
    this.#options.log("info", "the agent goes on with another connection", {
      connectionId: before.connectionId,
      to: connectionId,
    });
    this.tellTaken();
    for (const [message] of this.#prompts.takeAll()) before.send(cancelled(message));
    for (const question of this.#questions.all) this.#takeBack(question, before);
    this.#parked = new Set(this.sessions.ids);
    this.#client = client;
    this.#replacesIds = true;
    before.lost(this);
    this.#agent?.resume();
  }

  /** Tells its client that another one has the sessions now, and that its turns there are over for it. */
  tellTaken(): void {
    const { sessions, introduction } = this;
    const from = { sessions, introduction, client: this.#client, agent: this.#agent };
    for (const sessionId of sessions.ids) if (!this.#parked.has(sessionId)) tellTaken(sessionId, from);
  }

  /** Ends when it has answered what it was asked: its client has another process. */
  leave(): void {
    this.#isLeaving = true;
    this.#checkLeft();
  }

  /** Ends the process; resolves when it is gone. */
  async close(reason?: string): Promise<void> {
    if (this.#closing === undefined) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#closing = promise;
      await this.#end(reason);
      resolve();
    }
    await this.#closing;
    await this.closed;
  }

  async #run(): Promise<void> {
    const { start, log } = this.#options;
    const { connectionId } = this.#client;
    let started: StartedAgent;
    try {
      started = await start();
    } catch (error) {
      log("error", "the agent did not start", { connectionId, error });
      return this.#client.over(this, "the agent did not start");
    }
    const { transport, pid, gone } = started;
    log("info", "the agent was started", { connectionId, ...optional({ pid }) });
    transport.start(this.#sink());
    if (this.#closing === undefined) this.#begin(transport);
    else await transport.close();
    await this.#ended.promise;
    await gone?.catch((error: unknown) => this.#failed("the end of the agent failed", error));
    log("info", "the agent has ended", { connectionId, ...optional({ pid }) });
  }

  #begin(transport: Transport): void {
    this.#agent = transport;
    const early = this.#early;
    this.#early = [];
    let hasRoom = true;
    for (const [message, text] of early) hasRoom = transport.send(message, text);
    if (hasRoom) this.#client.resume();
  }

  async #end(reason: string | undefined): Promise<void> {
    this.#client.over(this, reason);
    this.#cancelAll();
    await this.#agent?.close().catch((why: unknown) => this.#failed("a close failed", why));
    this.#ended.resolve();
  }

  /** Nobody answers any more. An agent that is not told so would take silence for a no, or store half a turn. */
  #cancelAll(): void {
    for (const sessionId of this.sessions.withTurns)
      this.#agent?.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
    for (const question of this.#questions.all) {
      this.#questions.remove(question);
      this.#agent?.send(unanswered(question));
    }
  }

  #sink(): Sink {
    const { log } = this.#options;
    const noMessage = (more: object = {}) =>
      log("warn", "the agent printed something else than messages", {
        connectionId: this.#client.connectionId,
        ...more,
      });
    return {
      message: (value, text) => {
        if (isObject(value)) return this.#fromAgent(value, text);
        if (typeof value !== "object" || value === null) return noMessage();
        this.#toClient(value, text);
      },
      idle: () => undefined,
      reject: ({ kind }) => noMessage({ kind }),
      drain: () => this.#client.resume(),
      end: (reason) => this.#over(reason),
    };
  }

  #over({ kind, message, exitCode, signal }: EndReason): void {
    if (this.#closing !== undefined) return;
    const { connectionId } = this.#client;
    const more = optional({ message, exitCode, signal });
    this.#options.log("info", "the agent has gone", { connectionId, kind, ...more });
    void this.close(endWords(optional({ kind, message, exitCode, signal })));
  }

  #failed(what: string, error: unknown): void {
    this.#options.log("error", what, { connectionId: this.#client.connectionId, error });
  }

  // ---- from the client

  #ask(message: Message, text: string, how: Pick<Asked, "isHidden" | "disguised"> = {}): void {
    const { id, method } = message;
    const sessionId = sessionOfMessage(message);
    if (continues(method) && sessionId !== undefined) this.#parked.delete(sessionId);
    const asked = { client: this.#client, method: String(method), sessionId, ...how };
    if (!this.#replacesIds) {
      this.sessions.asked(id, asked);
      return this.#forward(message, text);
    }
    const given = this.#newId();
    this.sessions.asked(given, { ...asked, id: exactIdIn(text, id) });
    this.#forward({ ...message, id: given });
  }

  #replied(message: Message, text: string): void {
    const question = this.#questions.askedAs(message["id"]);
    if (question === undefined) {
      // a late answer to what another process asked must not reach this one
      if (!this.#replacesIds) this.#forward(message, text);
      return;
    }
    this.#questions.remove(question);
    if (question.askedAs === question.id) return this.#forward(message, text);
    this.#forward({ ...message, id: question.id });
  }

  #told(message: Message, text: string): void {
    const { method, params } = message;
    const sessionId = sessionOfMessage(message);
    if (method === "session/cancel" && sessionId !== undefined)
      for (const [prompt] of this.#prompts.take(sessionId)) this.#toClient(cancelled(prompt));
    if (method !== cancelMethod || !isObject(params)) return this.#forward(message, text);
    const { requestId } = params;
    const waiting = this.#prompts.remove(requestId);
    if (waiting !== undefined) return void this.#toClient(withdrawn(waiting));
    const given = this.sessions.idAtAgent(this.#client, requestId);
    if (given === undefined && this.#replacesIds) return;
    if (given === undefined) return this.#forward(message, text);
    this.#forward({ ...message, params: { ...params, requestId: given } });
  }

  #mustWait(sessionId: string): boolean {
    return this.#prompts.has(sessionId) || this.sessions.hasEarlierPrompt(sessionId, this.#client);
  }

  #forward(message: object, text?: string): void {
    if (this.#agent === undefined) {
      this.#early.push([message, text]);
      this.#client.pause();
    } else if (!this.#agent.send(message, text)) this.#client.pause();
  }

  // ---- from the agent

  #fromAgent(message: Message, text: string): void {
    const { id, method } = message;
    if (method === undefined) return this.#answered(message, text);
    const sessionId = sessionOfMessage(message);
    const isParked = sessionId !== undefined && this.#parked.has(sessionId);
    if (id !== undefined) {
      const question = this.#questions.add(message, idToJson(exactIdIn(text, id)));
      if (this.#isLeaving) return this.#refuse(question);
      if (!isParked) this.#put(question, text);
      return;
    }
    this.sessions.noticed(message);
    if (this.#isLeaving || isParked) return;
    // a prompt waits for the end of somebody else's turn, which is not its answer
    if (sessionId !== undefined && this.#prompts.has(sessionId) && isWork(message)) return;
    if (method === cancelMethod) this.#withdraw(message, text);
    else this.#toClient(message, text);
  }

  #answered(message: Message, text: string): void {
    const asked = this.sessions.answered(message);
    if (asked === undefined) {
      if (!this.#replacesIds || message["id"] === null) this.#toClient(message, text);
      return;
    }
    if (asked.method === "initialize") this.introduction = message["result"];
    if (continues(asked.method) && asked.sessionId !== undefined && this.sessions.isRunning(asked.sessionId))
      // not all agents say it to a client that comes later
      this.#toClient(stateOf(asked.sessionId, { sessionUpdate: "state_update", state: "running" }));
    if (!asked.isHidden) this.#reply(asked, message, text);
    else if (message["error"] !== undefined) void this.close("the agent refused to be initialized again");
    const { sessionId } = asked;
    if (sessionId !== undefined && continues(asked.method)) this.#takenUp(sessionId, message);
    if (sessionId !== undefined && !this.sessions.hasEarlierPrompt(sessionId, this.#client))
      for (const [prompt, source] of this.#prompts.take(sessionId)) this.#ask(prompt, source);
    this.#checkLeft();
  }

  #reply(asked: Asked, message: Message, text: string): void {
    const { client, id, disguised, sessionId } = asked;
    if (asked.isSettled === true) return;
    const named = id === undefined ? message : { ...message, id: idToJson(id) };
    if (disguised !== undefined && sessionId !== undefined)
      return void client.send(JSON.parse(JSON.stringify(named).replaceAll(sessionId, disguised)));
    if (client === this.#client) this.#toClient(named, named === message ? text : undefined);
    else client.send(named, named === message ? text : undefined);
  }

  /** The client has the session now, or could not have it. */
  #takenUp(sessionId: string, { result }: Message): void {
    if (result === undefined) {
      if (this.#replacesIds && this.sessions.ids.has(sessionId)) this.#parked.add(sessionId);
      return;
    }
    for (const question of this.#questions.all)
      if (question.sessionId === sessionId && question.askedAs === undefined) this.#put(question);
  }

  /** Asks the client. */
  #put(question: Question, text?: string): void {
    question.askedAs = this.#replacesIds ? this.#newId() : question.id;
    const { message, askedAs } = question;
    if (this.#replacesIds) this.#toClient({ ...message, id: askedAs });
    else this.#toClient(message, text);
  }

  /** The agent takes a question back. */
  #withdraw(message: Message, text: string): void {
    const question = this.#questions.withdrawn(message);
    if (question === undefined || question.askedAs === question.id) return this.#toClient(message, text);
    if (question.askedAs === undefined) return;
    this.#toClient({ ...message, params: { requestId: question.askedAs } });
  }

  /** Takes a question back from a client that has lost the process. */
  #takeBack(question: Question, client: ProcessClient): void {
    if (question.askedAs !== undefined)
      client.send({ jsonrpc: "2.0", method: cancelMethod, params: { requestId: question.askedAs } });
    delete question.askedAs;
    if (!canBeAskedAgain(question)) this.#refuse(question);
  }

  #refuse(question: Question): void {
    this.#questions.remove(question);
    const message = "the client that was asked has gone; what it had, such as its terminals, is gone too";
    this.#agent?.send({ jsonrpc: "2.0", id: question.id, error: { code: unavailable, message } });
  }

  #toClient(message: object, text?: string): void {
    if (!this.#client.send(message, text)) this.#agent?.pause();
  }

  #checkLeft(): void {
    if (this.#isLeaving && !this.sessions.isBusy) void this.close();
  }

  #newId(): string {
    this.#lastId++;
    return `parley-${crypto.randomUUID().slice(0, 8)}-${this.#lastId}`;
  }
}
