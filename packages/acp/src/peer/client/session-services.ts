// Serves the files and terminals of one session to a v1 agent.

import { optional } from "../../base/objects.ts";
import type { ServiceOp } from "../../edition/client-edition.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { Files, TerminalHandle, Terminals } from "../../model/services.ts";
import type { ClientSession } from "./client-session.ts";

export class SessionServices {
  readonly #files: Files | undefined;
  readonly #terminals: Terminals | undefined;
  readonly #open = new Map<string, TerminalHandle>();
  #closed = false;

  /** Closes what was made for this session alone, when it ends. */
  readonly #owned: readonly { close?(): Promise<void> }[];

  constructor(
    files: Files | ((session: ClientSession) => Files) | undefined,
    terminals: Terminals | ((session: ClientSession) => Terminals) | undefined,
    session: ClientSession,
  ) {
    this.#files = typeof files === "function" ? files(session) : files;
    this.#terminals = typeof terminals === "function" ? terminals(session) : terminals;
    this.#owned = [
      ...(typeof files === "function" && this.#files !== undefined ? [this.#files] : []),
      ...(typeof terminals === "function" && this.#terminals !== undefined ? [this.#terminals] : []),
    ];
  }

  async run(op: ServiceOp, signal: AbortSignal): Promise<object> {
    switch (op.op) {
      case "read": {
        const { path, line, limit } = op;
        const options = { ...optional({ line, limit }), signal };
        return { content: await offered(this.#files, "files").readText(path, options) };
      }
      case "write":
        await offered(this.#files, "files").writeText(op.path, op.content, { signal });
        return {};
      case "create_terminal": {
        const { op: _, ...options } = op;
        const terminal = await offered(this.#terminals, "terminals").create({ ...options, signal });
        if (this.#closed) {
          // the session ended while the command was being started
          await terminal.release();
          throw new RequestError("unavailable", "the session has ended", { data: { reason: "unavailable" } });
        }
        this.#open.set(terminal.terminalId, terminal);
        return { terminalId: terminal.terminalId };
      }
      case "output":
        return { ...(await this.#find(op.terminalId).output()) };
      case "wait":
        return { ...(await this.#find(op.terminalId).waitForExit({ signal })) };
      case "kill":
        await this.#find(op.terminalId).kill();
        return {};
      case "release": {
        const terminal = this.#find(op.terminalId);
        this.#open.delete(op.terminalId);
        await terminal.release();
        return {};
      }
    }
  }

  /** Nothing of a session outlives it. */
  async close(): Promise<void> {
    this.#closed = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(open.map((terminal) => terminal.release()));
    await Promise.allSettled(this.#owned.map((service) => service.close?.()));
  }

  #find(terminalId: string): TerminalHandle {
    const terminal = this.#open.get(terminalId);
    if (terminal !== undefined) return terminal;
    const data = { reason: "terminal_not_found" };
    throw new RequestError("not_found", "this session has no such terminal, or it has been released", {
      data,
    });
  }
}

function offered<Service>(service: Service | undefined, what: string): Service {
  if (service !== undefined) return service;
  const data = { reason: "capability_missing" };
  throw new RequestError("method_not_found", `this client offers no ${what}`, { data });
}

/** Read at the same time; each may be as large as a message. */
const atOnce = 8;

/** Limits how many files and outputs are read at once, and sends each answer when the agent has read the one before. */
export class LargeAnswers {
  readonly #room: () => Promise<void> | undefined;
  readonly #waiting: (() => void)[] = [];
  #running = 0;
  #lastReply: Promise<void> = Promise.resolve();

  /** `room` resolves when the peer has read what was sent; undefined when it keeps up. */
  constructor(room: () => Promise<void> | undefined) {
    this.#room = room;
  }

  async give<Result>(request: IncomingRequest, read: () => Promise<Result>): Promise<Result> {
    if (this.#running === atOnce) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      const result = await read();
      await this.#turn(request);
      return result;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  /** While the peer is slow, answers are sent one by one. */
  async #turn(request: IncomingRequest): Promise<void> {
    if (this.#room() === undefined) return;
    const before = this.#lastReply;
    const reply = Promise.withResolvers<void>();
    this.#lastReply = reply.promise;
    await before;
    await this.#room();
    // a batch is answered when all of its answers are there: none of them may wait for another
    if (request.batch !== undefined) reply.resolve();
    else request.afterReply(reply.resolve);
  }
}
