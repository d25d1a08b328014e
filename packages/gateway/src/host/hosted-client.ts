// One connection of a client, and the process that serves it. The process is started when it is needed, and is another
// one after the client has taken up a session that waits in a process with the same beginning.

import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Log, Transport } from "@parley/acp";
import { extensionIn, takeoverKey } from "@parley/acp/extensions";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { ServingPeer } from "@parley/acp/server";
import type { Fault, Sink } from "@parley/acp/transport";
import type { HostedProcess } from "./hosted-process.ts";
import { type Message, needsHolder, opens, sessionOfMessage } from "./hosted-sessions.ts";
import type { ProcessClient } from "./process-client.ts";

/** The part of the host that a client needs. */
export interface Hosting {
  /** Processes that run or end. */
  readonly processes: Iterable<HostedProcess>;
  readonly log: Log;
  /** @throws {Error} When there are too many. */
  start(client: HostedClient, initialize: Message, isLater: boolean): HostedProcess;
}

const parseError = -32700;
const sessionHeld = -32066;
/** How long the process of a client that is away waits for it without a session. */
const unusedMs = 60_000;

export class HostedClient implements ProcessClient, ServingPeer {
  readonly connectionId: string;
  readonly principal: string | undefined;
  readonly #transport: Transport;
  readonly #hosting: Hosting;
  #initialize: { readonly message: Message; readonly text: string } | undefined;
  #process: HostedProcess | undefined;
  #isOver = false;
  /** Since when the client is away; undefined while it is there. */
  #awaySince: number | undefined;
  #unused: NodeJS.Timeout | undefined;
  /** Set while a session is freed: what follows waits. */
  #waiting: (() => void)[] | undefined;

  constructor(
    transport: Transport,
    hosting: Hosting,
    who: { readonly connectionId: string; readonly principal?: string | undefined },
  ) {
    this.#transport = transport;
    this.#hosting = hosting;
    this.connectionId = who.connectionId;
    this.principal = who.principal;
    transport.attachment?.onChange(() => this.#moved());
    transport.start(this.#sink());
  }

  get isAttached(): boolean {
    return !this.#isOver && (this.#transport.attachment?.isAttached ?? true);
  }

  get absentMs(): number {
    return this.#awaySince === undefined ? 0 : performance.now() - this.#awaySince;
  }

  send(message: object, text?: string): boolean {
    return this.#isOver || this.#transport.send(message, text);
  }

  pause(): void {
    this.#transport.pause();
  }

  resume(): void {
    this.#transport.resume();
  }

  lost(process: object): void {
    if (this.#process !== process) return;
    this.#process = undefined;
    // it may have been full
    this.resume();
  }

  over(process: object, reason: string | undefined): void {
    if (this.#process === process && !this.#isOver) void this.close(reason);
  }

  /** Ends the connection and its process; resolves when the process is gone. */
  async close(reason?: string): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#unused);
    const error = reason === undefined ? undefined : new Error(reason);
    const results = await Promise.allSettled([this.#transport.close(error), this.#process?.close(reason)]);
    for (const result of results)
      if (result.status === "rejected") this.#failed("a close failed", result.reason);
  }

  /** The client has gone or come. A process without a session does not wait for it for long: it can have another one. */
  #moved(): void {
    clearTimeout(this.#unused);
    this.#awaySince = this.isAttached ? undefined : performance.now();
    if (this.isAttached || this.#isOver) return;
    this.#unused = setTimeout(() => {
      const process = this.#process;
      if (process === undefined || !process.isUnused) return;
      this.#process = undefined;
      process.leave();
    }, unusedMs);
    this.#unused.unref();
  }

  #sink(): Sink {
    return {
      message: (value, text) => this.#inOrder(() => this.#received(value, text)),
      idle: () => undefined,
      reject: (fault) => this.#refuseFrame(fault),
      drain: () => this.#process?.resume(),
      end: () => {
        if (!this.#isOver) void this.close();
      },
    };
  }

  #inOrder(work: () => void): void {
    if (this.#waiting === undefined) work();
    else this.#waiting.push(work);
  }

  #received(value: unknown, text: string): void {
    // nothing else than objects comes
    if (this.#isOver || !isObject(value)) return;
    const { id, method } = value;
    // no process is started for an answer that comes late, or for news of what is elsewhere
    if (id === undefined || method === undefined) return this.#process?.take(value, text);
    if (this.#initialize === undefined) return this.#opened(value, text);
    const sessionId = needsHolder(method) ? sessionOfMessage(value) : undefined;
    if (sessionId === undefined) this.#own()?.take(value, text);
    else this.#continued(sessionId, value, text);
  }

  /** The first request. A client that may want a session of a waiting process with the same beginning needs no other process yet. */
  #opened(message: Message, text: string): void {
    this.#initialize = { message, text };
    const waiting = [...this.#hosting.processes].find(
      (each) =>
        each.isOpen &&
        !each.isAttached &&
        each.introduction !== undefined &&
        !each.isUnused &&
        this.#fits(each),
    );
    if (waiting === undefined) this.#start(message, false)?.take(message, text);
    else this.send({ jsonrpc: "2.0", id: message["id"], result: waiting.introduction });
  }

  #fits({ principal, initialize }: HostedProcess): boolean {
    const own = this.#initialize?.message;
    return principal === this.principal && isDeepStrictEqual(initialize["params"], own?.["params"]);
  }

  /** The process of this client. If it has none, it has an answer to initialize nevertheless, and may have open ids. */
  #own(): HostedProcess | undefined {
    if (this.#process !== undefined || this.#initialize === undefined) return this.#process;
    const { message, text } = this.#initialize;
    this.#start(message, true)?.ask(message, text, { isHidden: true });
    return this.#process;
  }

  #start(initialize: Message, isLater: boolean): HostedProcess | undefined {
    if (this.#isOver) return undefined;
    try {
      this.#process = this.#hosting.start(this, initialize, isLater);
      return this.#process;
    } catch (error) {
      this.#failed("the agent was not started", error);
      void this.close(error instanceof Error ? error.message : "the agent was not started");
      return undefined;
    }
  }

  /** A request that needs the process that has the session. */
  #continued(sessionId: string, message: Message, text: string): void {
    const holders = [...this.#hosting.processes].filter(
      (each) => each !== this.#process && each.sessions.ids.has(sessionId),
    );
    if (this.#process?.sessions.ids.has(sessionId) || holders.length === 0)
      return this.#takeOwn(sessionId, message, text);
    if (holders.some(({ principal }) => principal !== this.principal))
      return this.#disguise(sessionId, message);
    if (holders.some(({ isAttached }) => isAttached) && !takesOver(message)) {
      const words = `another client has this session; close it there, or take it over with _meta: { "${takeoverKey}": true }`;
      return this.#refuse(message["id"], sessionHeld, words, { reason: "session_held" });
    }
    const [holder] = holders;
    if (holder !== undefined && holders.length === 1 && this.#canAdopt(holder))
      return this.#adopt(holder, message, text);
    this.#free(holders, sessionId, message, text);
  }

  #takeOwn(sessionId: string, message: Message, text: string): void {
    const process = this.#own();
    if (opens(message["method"])) process?.sessions.claim(sessionId);
    process?.take(message, text);
  }

  #canAdopt(holder: HostedProcess): boolean {
    return holder.isOpen && this.#fits(holder) && (this.#process === undefined || this.#process.isUnused);
  }

  #adopt(holder: HostedProcess, message: Message, text: string): void {
    const before = this.#process;
    this.#process = holder;
    before?.leave();
    holder.moveTo(this);
    holder.take(message, text);
  }

  /** Ends the processes that have the session, and waits for it, before the own one gets it. */
  #free(holders: readonly HostedProcess[], sessionId: string, message: Message, text: string): void {
    // from now on nobody else gets it
    if (opens(message["method"])) this.#own()?.sessions.claim(sessionId);
    this.#waiting = [];
    const freed = holders.map((holder) => {
      holder.tellTaken();
      return holder.close("another client has taken the session over");
    });
    void Promise.all(freed)
      .catch((error: unknown) => this.#failed("an agent could not be ended", error))
      .then(() => {
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        // somebody else may have taken it over meanwhile
        if (!this.#isOver) this.#continued(sessionId, message, text);
        for (const work of waiting) this.#inOrder(work);
      });
  }

  /** The session of somebody else: the agent is asked for one that nobody has, so that its answer is the usual one. */
  #disguise(disguised: string, message: Message): void {
    const params = isObject(message["params"]) ? message["params"] : {};
    const asked = { ...message, params: { ...params, sessionId: randomUUID() } };
    this.#own()?.ask(asked, JSON.stringify(asked), { disguised });
  }

  #failed(what: string, error: unknown): void {
    this.#hosting.log("error", what, { connectionId: this.connectionId, error });
  }

  #refuseFrame({ kind }: Fault): void {
    const error = { code: parseError, message: `expected one JSON-RPC message (${kind})` };
    this.send({ jsonrpc: "2.0", id: null, error });
  }

  #refuse(id: unknown, code: number, message: string, data?: object): void {
    this.send({ jsonrpc: "2.0", id, error: { code, message, ...optional({ data }) } });
  }
}

function takesOver({ params }: Message): boolean {
  const meta = isObject(params) ? params["_meta"] : undefined;
  return isObject(meta) && extensionIn(meta, takeoverKey) === true;
}
