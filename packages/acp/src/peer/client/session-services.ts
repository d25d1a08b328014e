// Serves the files and terminals of one session to a v1 agent.

import { exceedsJsonBytes, lastJsonBytes } from "../../base/json-size.ts";
import { optional } from "../../base/objects.ts";
import {
  encodingKey,
  pidKey,
  pushesOutputKey,
  terminalOutputMethod,
  timedOutKey,
} from "../../base/parley-extensions.ts";
import type { ServiceOp } from "../../edition/client-edition.ts";
import { type Dialect, understands } from "../../edition/dialect.ts";
import { argumentText, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type {
  ClientFiles,
  TerminalHandle,
  TerminalOutputPart,
  TerminalSnapshot,
  Terminals,
} from "../../model/services.ts";
import { shownText } from "../../model/text-encodings.ts";
import { Slots } from "../base/slots.ts";
import type { ClientDefinition } from "./client-definition.ts";
import type { AskedSession, Permissions, Permit } from "./policy/permissions.ts";

type ServiceRequest = Pick<IncomingRequest, "signal" | "afterReply">;

export class SessionServices {
  readonly #files: ClientFiles | undefined;
  readonly #terminals: Terminals | undefined;
  readonly #session: AskedSession;
  readonly #connection: OutputConnection;
  readonly #open = new Map<string, TerminalHandle>();
  /** Terminals of the connection that this one goes on from. `terminals` may still have them. */
  readonly #kept: Set<string>;
  /** The output that is sent by itself, by terminal. */
  readonly #pushed = new Map<string, PushedOutput>();
  #closed = false;
  readonly #permit: Permit | undefined;
  /** The services of the policy, which decides about their operations itself. */
  readonly #guarded: readonly unknown[];

  /** Closes what was made for this session alone, when it ends. */
  readonly #owned: readonly { close?(): Promise<void> }[];

  constructor(
    { files, terminals }: Pick<ClientDefinition, "files" | "terminals">,
    permissions: Permissions,
    session: AskedSession,
    connection: OutputConnection,
    kept: readonly string[] = [],
  ) {
    this.#kept = new Set(kept);
    this.#session = session;
    this.#connection = connection;
    this.#permit = permissions.permit;
    const guarded =
      files === undefined || terminals === undefined ? permissions.services(session) : undefined;
    // null: no files, even if the policy has some
    const own = typeof files === "function" ? files(session) : (files ?? undefined);
    this.#files = files === undefined ? guarded?.files : own;
    this.#terminals =
      typeof terminals === "function" ? terminals(session) : (terminals ?? guarded?.terminals);
    this.#guarded = [files === undefined && guarded?.files, terminals === undefined && guarded?.terminals];
    this.#owned = [
      ...(this.#files === undefined || this.#files === files ? [] : [this.#files]),
      ...(this.#terminals === undefined || this.#terminals === terminals ? [] : [this.#terminals]),
    ];
  }

  /** Asks for permission, and gives what to run then. Rejects with -32060. */
  async permitted(op: ServiceOp, request: ServiceRequest): Promise<() => Promise<object>> {
    const { signal } = request;
    const session = this.#session;
    const permit = this.#permit;
    const service = op.op === "read" || op.op === "write" ? this.#files : this.#terminals;
    if (permit === undefined || this.#guarded.includes(service)) return () => this.run(op, request);
    let confirm: () => void = () => undefined;
    let exact: ServiceOp = op;
    // what is done is exactly what was decided on
    if (op.op === "read" || op.op === "write") {
      const files = offered(this.#files, "files");
      offered(op.op === "read" ? files.readText : files.writeText, noMethod[op.op]);
      const { cancels } = session.questions;
      const path = files.realPath === undefined ? withoutDots(op.path) : await files.realPath(op.path);
      if (session.questions.cancels !== cancels)
        throw RequestError.permissionDenied("permission denied: the user has cancelled");
      const effect =
        op.op === "read"
          ? ({ type: "read", path } as const)
          : { type: op.op, path, content: shownText(op.content, op.encoding) };
      confirm = await permit(session, effect, signal);
      exact = { ...op, path, ...(files.realPath && { followLinks: false }) };
    } else if (op.op === "create_terminal") {
      const { command, args, env, cwd: given = session.cwd } = op;
      const cwd = withoutDots(given);
      confirm = await permit(session, { type: "execute", command, args, cwd, env }, signal);
      exact = { ...op, cwd };
    }
    return () => {
      confirm();
      return this.run(exact, request);
    };
  }

  async run(op: ServiceOp, request: ServiceRequest): Promise<object> {
    const { signal } = request;
    switch (op.op) {
      case "read": {
        const { op: _, path, ...options } = op;
        const files = offered(this.#files, "files");
        if (files.readText === undefined) throw missing(noMethod.read);
        const content = await files.readText(path, { ...options, signal });
        if (typeof content === "string" && exceedsJsonBytes(content, maxTextBytes)) throw tooMuchText(path);
        return op.encoding === undefined ? { content } : { content, _meta: { [encodingKey]: op.encoding } };
      }
      case "write": {
        const { op: _, path, content, ...options } = op;
        const files = offered(this.#files, "files");
        if (files.writeText === undefined) throw missing(noMethod.write);
        await files.writeText(path, content, { ...options, signal });
        return {};
      }
      case "create_terminal": {
        const { op: _, ...options } = op;
        const terminal = await offered(this.#terminals, "terminals").create({ ...options, signal });
        if (this.#closed) {
          // the session ended while the command was being started
          await terminal.release();
          throw new RequestError("unavailable", "the session has ended", { data: { reason: "unavailable" } });
        }
        return this.#opened(terminal, request);
      }
      case "output":
        return fitting(await this.#find(op.terminalId).output());
      case "wait":
        return this.#waited(op.terminalId, { signal, ...optional({ timeoutMs: op.timeoutMs }) });
      case "kill":
        await this.#find(op.terminalId).kill(op.signal === undefined ? undefined : { signal: op.signal });
        return {};
      case "release": {
        const terminal = this.#find(op.terminalId);
        this.#open.delete(op.terminalId);
        this.#stopPushing(op.terminalId);
        await terminal.release();
        return {};
      }
    }
  }

  #opened(terminal: TerminalHandle, request: ServiceRequest): object {
    const { terminalId, pid } = terminal;
    this.#open.set(terminalId, terminal);
    const pushes =
      terminal.onOutput !== undefined && understands(this.#connection.dialect, terminalOutputMethod);
    if (pushes) {
      const pushed = new PushedOutput(this.#connection, terminalId);
      this.#pushed.set(terminalId, pushed);
      // the agent does not know the id before
      request.afterReply(() => pushed.begin(terminal));
    }
    const meta = {
      ...(typeof pid === "number" ? { [pidKey]: pid } : {}),
      ...(pushes ? { [pushesOutputKey]: true } : {}),
    };
    return { terminalId, ...(Object.keys(meta).length === 0 ? {} : { _meta: meta }) };
  }

  async #waited(
    terminalId: string,
    options: { readonly signal: AbortSignal; readonly timeoutMs?: number },
  ): Promise<object> {
    const { timedOut, ...exit } = await this.#find(terminalId).waitForExit(options);
    // what the command wrote comes before its end
    await this.#pushed.get(terminalId)?.flushed();
    return timedOut === true ? { ...exit, _meta: { ...exit._meta, [timedOutKey]: true } } : exit;
  }

  #stopPushing(terminalId: string): void {
    this.#pushed.get(terminalId)?.stop();
    this.#pushed.delete(terminalId);
  }

  /** Nothing of a session outlives it. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const terminalId of this.#pushed.keys()) this.#stopPushing(terminalId);
    for (const terminalId of this.#kept) {
      const terminal = this.#terminals?.find?.(terminalId);
      if (terminal !== undefined) this.#open.set(terminalId, terminal);
    }
    const open = [...this.#open.values()];
    this.#open.clear();
    await Promise.allSettled(open.map((terminal) => terminal.release()));
    await Promise.allSettled(this.#owned.map((service) => service.close?.()));
  }

  /** The ids of the terminals that are open, as JSON. */
  get terminalIds(): readonly string[] {
    return [...this.#kept, ...this.#open.keys()];
  }

  #find(terminalId: string): TerminalHandle {
    const known = this.#open.get(terminalId);
    if (known !== undefined) return known;
    const terminal = this.#kept.delete(terminalId) ? this.#terminals?.find?.(terminalId) : undefined;
    if (terminal !== undefined) {
      this.#open.set(terminalId, terminal);
      return terminal;
    }
    const data = { reason: "terminal_not_found" };
    throw new RequestError("not_found", "this session has no such terminal, or it has been released", {
      data,
    });
  }
}

/** Bytes of a file or of a terminal's output in one answer, as JSON: well below the limit of a message. */
const maxTextBytes = 24 * 1024 * 1024;

function tooMuchText(path: string): RequestError {
  const message = `${argumentText(path)}: its text takes more than ${maxTextBytes} bytes as JSON; read fewer lines of it with line and limit`;
  return new RequestError("limit_exceeded", message, { data: { reason: "limit_exceeded", file: path } });
}

/** Drops the oldest output of what is too large for an answer. */
function fitting(snapshot: TerminalSnapshot): object {
  const { output } = snapshot;
  if (typeof output !== "string" || !exceedsJsonBytes(output, maxTextBytes)) return { ...snapshot };
  return { ...snapshot, output: lastJsonBytes(output, maxTextBytes), truncated: true };
}

const noMethod = { read: "files to read", write: "files to write" };

/** A policy compares paths: `..` in one could lead it astray. */
function withoutDots(path: string): string {
  if (!path.split(/[\\/]/).some((name) => name === ".." || name === ".")) return path;
  throw RequestError.invalidParams(
    `this client takes no path with "." or ".." in it: ${argumentText(path)}`,
    "/path",
  );
}

function offered<Service>(service: Service | undefined, what: string): Service {
  if (service === undefined) throw missing(what);
  return service;
}

function missing(what: string): RequestError {
  const data = { reason: "capability_missing" };
  return new RequestError("method_not_found", `this client offers no ${what}`, { data });
}

/** The part of a connection that output is sent by. */
export interface OutputConnection {
  /** The dialect that the agent speaks; undefined for version 1. */
  readonly dialect: Dialect | undefined;
  /** Resolves when the agent has read what was sent; undefined when it keeps up. */
  readonly room: Promise<void> | undefined;
  notifyExtension(method: `_${string}`, params: unknown): Promise<void>;
}

/** How many characters wait for an agent that is slow. Older ones are dropped. */
const maxHeld = 1024 * 1024;

export class PushedOutput {
  readonly #connection: OutputConnection;
  readonly #terminalId: string;
  #held: TerminalOutputPart[] = [];
  #chars = 0;
  /** Exists while the agent is slow. */
  #room: Promise<void> | undefined;
  #remove: (() => void) | undefined;
  #isStopped = false;

  constructor(connection: OutputConnection, terminalId: string) {
    this.#connection = connection;
    this.#terminalId = terminalId;
  }

  /** To be called once the agent knows the terminal. */
  begin(terminal: TerminalHandle): void {
    if (!this.#isStopped) this.#remove = terminal.onOutput?.((part) => this.#push(part));
  }

  stop(): void {
    this.#isStopped = true;
    this.#remove?.();
    this.#held = [];
  }

  /** Resolves when nothing waits any more. */
  async flushed(): Promise<void> {
    while (this.#room !== undefined) await this.#room;
  }

  #push(part: TerminalOutputPart): void {
    this.#held.push(part);
    this.#chars += part.data.length;
    while (this.#chars > maxHeld && this.#held.length > 1)
      this.#chars -= this.#held.shift()?.data.length ?? 0;
    this.#send();
  }

  #send(): void {
    while (this.#room === undefined) {
      const part = this.#held.shift();
      if (part === undefined) return;
      this.#chars -= part.data.length;
      void this.#connection.notifyExtension(terminalOutputMethod, { terminalId: this.#terminalId, ...part });
      this.#room = this.#connection.room?.then(() => {
        this.#room = undefined;
        this.#send();
      });
    }
  }
}

/** Read at the same time; each may be as large as a message. */
const atOnce = 8;

export class LargeAnswers {
  readonly #room: () => Promise<void> | undefined;
  readonly #slots = new Slots(atOnce);
  #lastReply: Promise<void> = Promise.resolve();

  /** `room` resolves when the peer has read what was sent; undefined when it keeps up. */
  constructor(room: () => Promise<void> | undefined) {
    this.#room = room;
  }

  async give<Result>(request: IncomingRequest, read: () => Promise<Result>): Promise<Result> {
    const waiting = this.#slots.enter();
    if (waiting !== undefined) await waiting;
    try {
      const result = await read();
      await this.#turn(request);
      return result;
    } finally {
      this.#slots.leave();
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
    if (request.isBatched) reply.resolve();
    else request.afterReply(reply.resolve);
  }
}
