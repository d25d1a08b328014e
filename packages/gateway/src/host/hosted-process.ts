// One agent process and the client that it serves. Messages pass between them unchanged, with back-pressure.

import type { Log, Transport } from "@parley/acp";
import { isObject, optional } from "@parley/acp/internal";
import type { EndReason, Fault, Sink } from "@parley/acp/transport";
import { HeldSessions } from "./held-sessions.ts";

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
  readonly connectionId: string;
  readonly start: () => Promise<StartedAgent>;
  readonly log: Log;
  /** Whether the session is to be had. */
  isHeld(sessionId: string): boolean;
  /** Ends the other processes that have it. */
  free(sessionId: string): Promise<void>;
  over(): void;
}

const sessionHeld = -32066;
const parseError = -32700;

export class HostedProcess {
  readonly sessions = new HeldSessions();
  /** Resolves when the process is gone. */
  readonly closed: Promise<void>;
  readonly #client: Transport;
  readonly #options: HostedOptions;
  readonly #ended = Promise.withResolvers<void>();
  #agent: Transport | undefined;
  #closing: Promise<void> | undefined;
  #isClosing = false;
  /** Set while a session is freed: what follows waits. */
  #waiting: (() => void)[] | undefined;

  constructor(client: Transport, options: HostedOptions) {
    this.#client = client;
    this.#options = options;
    this.closed = this.#run().finally(() => options.over());
  }

  get isAttached(): boolean {
    return this.#client.attachment?.isAttached ?? true;
  }

  /** Tells the client that another one has its session now. */
  taken(sessionId: string): void {
    this.#client.send({ jsonrpc: "2.0", method: "_parley.dev/session_taken", params: { sessionId } });
  }

  /** Ends both sides; resolves when the process is gone. */
  async close(reason?: string): Promise<void> {
    this.#isClosing = true;
    this.#closing ??= this.#end(reason === undefined ? undefined : new Error(reason));
    await this.#closing;
    await this.closed;
  }

  async #run(): Promise<void> {
    const { start, log, connectionId } = this.#options;
    let started: StartedAgent;
    try {
      started = await start();
    } catch (error) {
      log("error", "the agent did not start", { connectionId, error });
      return this.#client.close(new Error("the agent did not start"));
    }
    const { transport, pid, gone } = started;
    this.#agent = transport;
    log("info", "the agent was started", { connectionId, ...optional({ pid }) });
    transport.start(this.#agentSink());
    if (!this.#isClosing) this.#client.start(this.#clientSink());
    else await transport.close();
    await this.#ended.promise;
    await gone?.catch((error: unknown) => this.#failed("the end of the agent failed", error));
    log("info", "the agent has ended", { connectionId, ...optional({ pid }) });
  }

  async #end(reason: Error | undefined): Promise<void> {
    const results = await Promise.allSettled([this.#client.close(reason), this.#agent?.close(reason)]);
    for (const result of results)
      if (result.status === "rejected") this.#failed("a close failed", result.reason);
    this.#ended.resolve();
  }

  #clientSink(): Sink {
    return {
      message: (value, text) => this.#inOrder(() => this.#fromClient(value, text)),
      idle: () => undefined,
      reject: (fault) => this.#refuseFrame(fault),
      drain: () => this.#agent?.resume(),
      end: (reason) => this.#over("client", reason),
    };
  }

  #agentSink(): Sink {
    const { log, connectionId } = this.#options;
    return {
      message: (value, text) => {
        if (isObject(value)) this.sessions.answered(value);
        if (typeof value !== "object" || value === null)
          return log("warn", "the agent printed something else than messages", { connectionId });
        if (!this.#client.send(value, text)) this.#agent?.pause();
      },
      idle: () => undefined,
      reject: ({ kind }) =>
        log("warn", "the agent printed something else than messages", { connectionId, kind }),
      drain: () => this.#client.resume(),
      end: (reason) => this.#over("agent", reason),
    };
  }

  #over(who: "client" | "agent", { kind, message, exitCode, signal }: EndReason): void {
    const { log, connectionId } = this.#options;
    if (this.#isClosing) return;
    log("info", `the ${who} has gone`, { connectionId, kind, ...optional({ message, exitCode, signal }) });
    void this.close(who === "agent" ? (message ?? "the agent has ended") : undefined);
  }

  #refuseFrame({ kind }: Fault): void {
    const error = { code: parseError, message: `expected one JSON-RPC message (${kind})` };
    this.#client.send({ jsonrpc: "2.0", id: null, error });
  }

  #inOrder(work: () => void): void {
    if (this.#waiting === undefined) work();
    else this.#waiting.push(work);
  }

  #fromClient(value: unknown, text: string): void {
    // nothing else comes
    if (!isObject(value)) return;
    const continues = this.sessions.asked(value);
    if (continues === undefined || this.sessions.ids.has(continues)) return this.#forward(value, text);
    const { _meta } = isObject(value["params"]) ? value["params"] : {};
    const isTakeover = isObject(_meta) && _meta["_parley.dev/takeover"] === true;
    if (!isTakeover && this.#options.isHeld(continues)) {
      const words = "another client has this session; close it there, or take it over";
      return this.#refuse(value["id"], sessionHeld, words, { reason: "session_held" });
    }
    // from now on nobody else gets it
    this.sessions.claim(value["id"], continues);
    this.#waiting = [];
    void this.#options
      .free(continues)
      .catch((error: unknown) => this.#failed("an agent could not be ended", error))
      .then(() => {
        this.#forward(value, text);
        const waiting = this.#waiting ?? [];
        this.#waiting = undefined;
        for (const work of waiting) this.#inOrder(work);
      });
  }

  #failed(what: string, error: unknown): void {
    const { log, connectionId } = this.#options;
    log("error", what, { connectionId, error });
  }

  #forward(value: object, text: string): void {
    if (this.#agent?.send(value, text) === false) this.#client.pause();
  }

  #refuse(id: unknown, code: number, message: string, data?: object): void {
    this.sessions.refused(id);
    this.#client.send({ jsonrpc: "2.0", id, error: { code, message, ...optional({ data }) } });
  }
}
