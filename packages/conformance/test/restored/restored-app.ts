// An app on a connection that is put down and taken up again under it: it keeps what it has seen, and goes on.

import {
  type ClientConnection,
  type ClientDefinition,
  type ClientSession,
  client,
  type Entry,
  type PermissionRequest,
  type PromptResult,
  type RequestContext,
  type SessionOptions,
} from "@parley/acp";
import type { ElicitationRequest, Files, TerminalHandle, Terminals } from "@parley/acp/model";
import type { Transport } from "@parley/acp/transport";
import { CutWire } from "./cut-wire.ts";

type Listener = (entry: Entry) => void;
interface Open {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class RestoredApp {
  /** How often the connection was taken up again. */
  restored = 0;
  readonly #definition: ClientDefinition;
  readonly #wire: CutWire;
  #connection: ClientConnection | undefined;
  /** The calls that the app waits for, by key. */
  readonly #open = new Map<string, Open>();
  readonly #sessions = new Map<string, ClientSession>();
  readonly #listeners = new Map<string, Listener>();
  /** The sessions of the connection that was put down last. */
  #sessionsBefore: readonly ClientSession[] = [];
  /** Restored sessions that have their listener. */
  readonly #heard = new WeakSet<ClientSession>();
  /** Handlers that run, by what they were asked: the user still looks at the question. */
  readonly #running = new Map<string, { generation: number; readonly work: Promise<unknown> }>();
  readonly #signals = new Map<string, AbortController>();
  /** Exists while no connection is there: what the app does meanwhile waits. */
  #held: (() => void)[] | undefined;
  readonly #closed = Promise.withResolvers<Awaited<ClientConnection["closed"]>>();
  #calls = 0;

  constructor(definition: ClientDefinition, transport: Transport, cutsAfter: (count: number) => boolean) {
    this.#definition = definition;
    this.#wire = new CutWire(transport, (count) => (cutsAfter(count) ? this.#cut() : undefined));
  }

  get passed(): CutWire["passed"] {
    return this.#wire.passed;
  }

  async connect(): Promise<ClientConnection> {
    const connected = await client(this.#ofGeneration(0)).connect(this.#wire.attach());
    this.#use(connected);
    return this.#app(connected);
  }

  #use(connection: ClientConnection): void {
    this.#connection = connection;
    void connection.closed.then((reason) => {
      if (this.#connection === connection) this.#closed.resolve(reason);
    });
  }

  #cut(): Promise<void> | undefined {
    const old = this.#connection;
    if (old === undefined || this.#held !== undefined || this.#isOver(old)) return undefined;
    const snapshot = JSON.parse(JSON.stringify(old.snapshot()));
    this.#held = [];
    this.#sessionsBefore = old.sessions;
    this.#connection = undefined;
    this.restored++;
    const transport = this.#wire.attach();
    return this.#takeUp(transport, snapshot);
  }

  #isOver(connection: ClientConnection): boolean {
    try {
      connection.snapshot();
      return false;
    } catch {
      return true;
    }
  }

  async #takeUp(transport: Transport, snapshot: ReturnType<ClientConnection["snapshot"]>): Promise<void> {
    const again = await client(this.#ofGeneration(this.restored)).restore(transport, snapshot);
    this.#use(again);
    for (const session of again.sessions) this.#listen(session);
    for (const [key, { resolve, reject }] of this.#open) void again.pending(key)?.then(resolve, reject);
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const work of held) work();
    // what is not asked again by now was answered or withdrawn
    for (let n = 0; n < 2; n++) await new Promise((resolve) => setImmediate(resolve));
    for (const [name, { generation }] of this.#running)
      if (generation !== this.restored) this.#running.delete(name);
  }

  #act(work: () => void): void {
    if (this.#held === undefined) work();
    else this.#held.push(work);
  }

  get #now(): ClientConnection {
    if (this.#connection === undefined) throw new Error("the test acts while there is no connection");
    return this.#connection;
  }

  #call<Result>(start: (key: string) => PromiseLike<Result>): Promise<Result> {
    const key = `call-${++this.#calls}`;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const isFirst = () => this.#open.delete(key);
    this.#open.set(key, {
      resolve: (value) => void (isFirst() && resolve(value)),
      reject: (error) => void (isFirst() && reject(error)),
    });
    this.#act(() => {
      try {
        const open = this.#open.get(key);
        start(key).then(open?.resolve, open?.reject);
      } catch (error) {
        this.#open.get(key)?.reject(error);
      }
    });
    return promise as Promise<Result>;
  }

  // ---- sessions

  #listen(session: ClientSession): void {
    const listener = this.#listeners.get(session.sessionId);
    if (listener === undefined || this.#heard.has(session)) return;
    this.#heard.add(session);
    session.onEntry(this.#alive(listener));
  }

  /** The listener, until the connection is put down. */
  #alive(listener: Listener): Listener {
    const generation = this.restored;
    return (entry) => {
      if (generation === this.restored) listener(entry);
    };
  }

  async #opened(
    options: SessionOptions,
    start: (given: SessionOptions) => Promise<ClientSession>,
    sessionId?: string,
  ): Promise<ClientSession> {
    const { onEntry } = options as { readonly onEntry?: Listener }; // as the scripted client gives it
    if (sessionId !== undefined && onEntry !== undefined) this.#listeners.set(sessionId, onEntry);
    let generation = this.restored;
    const opened = await this.#call((key) => {
      generation = this.restored;
      return start({ ...options, key, onEntry: onEntry && this.#alive(onEntry) });
    });
    const id = opened.sessionId;
    if (sessionId === undefined && onEntry !== undefined) {
      this.#listeners.set(id, onEntry);
      this.#act(() => {
        const session = this.#now.sessions.find((each) => each.sessionId === id);
        if (generation !== this.restored && session !== undefined) this.#listen(session);
      });
    }
    return this.#session(id, opened);
  }

  #session(sessionId: string, opened?: ClientSession): ClientSession {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined && opened === undefined) return known;
    let last = opened;
    const real = (): ClientSession => {
      const { sessions = this.#sessionsBefore } = this.#connection ?? {};
      last = sessions.find((each) => each.sessionId === sessionId) ?? last;
      if (last === undefined) throw new Error(`the test has no session ${sessionId}`);
      return last;
    };
    const app = {
      sessionId,
      get cwd() {
        return real().cwd;
      },
      get state() {
        return real().state;
      },
      prompt: (content: Parameters<ClientSession["prompt"]>[0], options = {}) => {
        let key = "";
        const result = this.#call((given): PromiseLike<PromptResult> => {
          key = given;
          return real().prompt(content, { ...options, key });
        });
        return {
          // biome-ignore lint/suspicious/noThenProperty: a prompt is awaited for its result
          then: result.then.bind(result),
          cancel: () =>
            this.#act(() => {
              for (const prompt of real().prompts) if (prompt.key === key) prompt.cancel();
            }),
        };
      },
      cancel: () => this.#act(() => real().cancel()),
      close: () => this.#call((key) => real().close({ key })),
      cancelToolCall: (id: string) => this.#call((key) => real().cancelToolCall(id, { key })),
      cancelTerminal: (id: string) => this.#call((key) => real().cancelTerminal(id, { key })),
      setConfigOption: (id: string, value: string | boolean) =>
        this.#call((key) => real().setConfigOption(id, value, { key })),
      setMode: (mode: string) => this.#call((key) => real().setMode(mode, { key })),
    } as unknown as ClientSession; // what a scripted client uses of one
    this.#sessions.set(sessionId, app);
    return app;
  }

  #app(first: ClientConnection): ClientConnection {
    const { edition, info, capabilities, authMethods } = first;
    return {
      ...{ edition, info, capabilities, authMethods },
      closed: this.#closed.promise,
      newSession: (options: SessionOptions) => this.#opened(options, (given) => this.#now.newSession(given)),
      loadSession: (id: string, options: SessionOptions) =>
        this.#opened(options, (given) => this.#now.loadSession(id, given), id),
      resumeSession: (id: string, options: SessionOptions) =>
        this.#opened(options, (given) => this.#now.resumeSession(id, given), id),
      forkSession: (id: string, options: SessionOptions) =>
        this.#opened(options, (given) => this.#now.forkSession(id, given)),
      deleteSession: (id: string) => this.#call((key) => this.#now.deleteSession(id, { key })),
      listSessions: (query: object) => this.#call((key) => this.#now.listSessions({ ...query, key })),
      login: (id: string, options: object) => this.#call((key) => this.#now.login(id, { ...options, key })),
      logout: () => this.#call((key) => this.#now.logout({ key })),
      request: (method: `_${string}`, params: unknown) =>
        this.#call((key) => this.#now.request(method, params, { key })),
      notify: (method: `_${string}`, params: unknown) => this.#call(() => this.#now.notify(method, params)),
      close: () => this.#call(() => this.#now.close()),
    } as unknown as ClientConnection; // what a scripted client uses of one
  }

  // ---- what the agent asks for

  /** The definition for one connection. Its handlers do nothing any more once the connection is put down. */
  #ofGeneration(generation: number): ClientDefinition {
    const { requestPermission, elicit, elicitationCompleted, files, terminals } = this.#definition;
    const run = <Result>(name: string, work: () => Promise<Result> | Result): Promise<Result> =>
      this.#run(generation, name, work);
    return {
      ...this.#definition,
      ...(requestPermission && {
        requestPermission: (ask: PermissionRequest, context: RequestContext) =>
          this.#asked(generation, `permission ${JSON.stringify(ask)}`, context, (given) =>
            requestPermission(ask, given),
          ),
      }),
      ...(elicit && {
        elicit: (ask: ElicitationRequest, context: RequestContext) =>
          this.#asked(generation, `elicitation ${JSON.stringify(ask)}`, context, (given) =>
            elicit(ask, given),
          ),
      }),
      ...(elicitationCompleted && { elicitationCompleted }),
      ...(files && { files: survivingFiles(files as Files, run) }),
      ...(terminals && { terminals: survivingTerminals(terminals as Terminals, run) }),
    };
  }

  #asked<Result>(
    generation: number,
    name: string,
    context: RequestContext,
    handle: (context: RequestContext) => Promise<Result> | Result,
  ): Promise<Result> {
    const aborted = () => {
      if (generation === this.restored) this.#signals.get(name)?.abort();
    };
    if (context.signal.aborted) queueMicrotask(aborted);
    context.signal.addEventListener("abort", aborted);
    return this.#run(generation, name, () => {
      const controller = new AbortController();
      this.#signals.set(name, controller);
      if (context.signal.aborted) controller.abort();
      const { session } = context;
      const own =
        session &&
        this.#session(session.sessionId, this.#sessions.has(session.sessionId) ? undefined : session);
      return handle({ ...context, session: own, signal: controller.signal });
    });
  }

  /** Work that a process does for the agent. A later one goes on with it. */
  async #run<Result>(
    generation: number,
    name: string,
    work: () => Promise<Result> | Result,
  ): Promise<Result> {
    // not in the step in which the message is read: the process may end before
    await new Promise((resolve) => setImmediate(resolve));
    const never = new Promise<Result>(() => undefined);
    if (generation !== this.restored) return never;
    const running = this.#running.get(name) ?? { generation, work: Promise.resolve().then(work) };
    running.generation = generation;
    this.#running.set(name, running);
    try {
      return (await running.work) as Result; // the same work
    } finally {
      await new Promise((resolve) => setImmediate(resolve));
      if (generation !== this.restored) await never;
      this.#running.delete(name);
      this.#signals.delete(name);
    }
  }
}

type Run = <Result>(name: string, work: () => Promise<Result>) => Promise<Result>;

function survivingFiles(files: Files, run: Run): Files {
  return {
    ...files,
    readText: (path, options = {}) => {
      const { signal: _, ...rest } = options;
      return run(`read ${path} ${JSON.stringify(rest)}`, () => files.readText(path, rest));
    },
    writeText: (path, content, options = {}) => {
      const { signal: _, ...rest } = options;
      return run(`write ${path} ${content}`, () => files.writeText(path, content, rest));
    },
  };
}

function survivingTerminals(terminals: Terminals, run: Run): Terminals {
  const surviving = (real: TerminalHandle): TerminalHandle => {
    const { terminalId } = real;
    return {
      terminalId,
      pid: real.pid,
      output: () => run(`output ${terminalId}`, () => real.output()),
      waitForExit: ({ timeoutMs } = {}) =>
        run(`wait ${terminalId}`, () => real.waitForExit(timeoutMs === undefined ? {} : { timeoutMs })),
      kill: (options) => run(`kill ${terminalId}`, () => real.kill(options)),
      release: () => run(`release ${terminalId}`, () => real.release()),
    };
  };
  return {
    create: async ({ signal: _, ...options }) =>
      surviving(await run(`create ${JSON.stringify(options)}`, () => terminals.create(options))),
    find(terminalId) {
      const found = terminals.find?.(terminalId);
      return found && surviving(found);
    },
  };
}
