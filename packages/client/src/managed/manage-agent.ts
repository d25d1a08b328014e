// Runs a managed agent: a connection that survives the crashes of its process, with login, pause and close.

import { type ClientConnection, type ClientSession, ConnectionError } from "@parley/acp";
import { argumentText, isObject, normalPath, optional, withTimeout } from "@parley/acp/internal";
import type { AgentEntry } from "../agents/agent-spec.ts";
import { wantedSandbox } from "../launch/agent-sandbox.ts";
import { abortable } from "./abortable.ts";
import type { ManagedAgent } from "./managed-agent.ts";
import type { ManageAgentOptions, ManagedSessionOptions } from "./managed-options.ts";
import { ManagedProcess } from "./managed-process.ts";
import { ManagedSession } from "./managed-session.ts";

/** With what only the command needs. */
export interface ManagedConnection extends ManagedAgent {
  readonly spec: AgentEntry;
  readonly sessions: readonly ManagedSession[];
  newSession(options: ManagedSessionOptions): Promise<ManagedSession>;
  loadSession(sessionId: string, options: ManagedSessionOptions): Promise<ManagedSession>;
  resumeSession(sessionId: string, options: ManagedSessionOptions): Promise<ManagedSession>;
  forkSession(sessionId: string, options: ManagedSessionOptions): Promise<ManagedSession>;
  /** Ends the agent's input, and reads what it still sends until its output ends or it is silent for so long. Default 500. */
  finish(silenceMs?: number): Promise<void>;
}

/** Starts an agent. Rejects with a LaunchError. */
export async function manageAgent(
  entry: AgentEntry,
  options: ManageAgentOptions,
): Promise<ManagedConnection> {
  const sessions = new ManagedSessions(entry, options);
  const { process } = sessions;
  const { setupTimeoutMs = 60_000 } = options;
  await process.running();
  const close = (reason?: string) => process.close(() => sessions.end(), reason);
  const inTime = async <Result>(what: string, work: Promise<Result>): Promise<Result> => {
    const done = await withTimeout(
      setupTimeoutMs,
      work.then((result) => ({ result })),
    );
    if (done !== undefined) return done.result;
    throw new ConnectionError("timeout", `${entry.name} did not ${what} within ${setupTimeoutMs} ms`);
  };
  const call = <Result>(
    { signal }: { readonly signal?: AbortSignal | undefined },
    what: string,
    work: (agent: ClientConnection) => Promise<Result>,
  ): Promise<Result> =>
    abortable(
      signal,
      process.authenticated(({ agent }) => inTime(what, work(agent))),
    );
  return {
    spec: entry,
    get info() {
      return process.latest.info;
    },
    get capabilities() {
      return process.latest.capabilities;
    },
    get _meta() {
      return process.latest._meta;
    },
    get authMethods() {
      return process.latest.authMethods;
    },
    get edition() {
      return process.latest.edition;
    },
    get counters() {
      return process.latest.counters;
    },
    get pid() {
      return process.pid;
    },
    get sessions() {
      return sessions.open;
    },
    get isPaused() {
      return process.isPaused;
    },
    closed: process.closed,
    newSession: (given) => sessions.begin(given, (session) => session.openNew()),
    loadSession: (id, given) => sessions.begin(given, (session) => session.openOld(id, "history")),
    resumeSession: (id, given) => sessions.begin(given, (session) => session.openOld(id, "silent")),
    forkSession: (id, given) => sessions.begin(given, (session) => session.openFork(id)),
    listSessions: (query = {}) => call(query, "list its sessions", (agent) => agent.listSessions(query)),
    async deleteSession(id, given = {}) {
      const result = await call(given, "delete the session", (agent) => agent.deleteSession(id, given));
      sessions.find(id)?.end();
      options.recorder?.ended?.(id);
      return result;
    },
    async archiveSession(id, given = {}) {
      const result = await call(given, "archive the session", (agent) => agent.archiveSession(id, given));
      sessions.find(id)?.end();
      options.recorder?.ended?.(id);
      return result;
    },
    unarchiveSession: (id, given = {}) =>
      call(given, "unarchive the session", (agent) => agent.unarchiveSession(id, given)),
    sessionStatus: (id, given = {}) =>
      call(given, "report the status of the session", (agent) => agent.sessionStatus(id, given)),
    setSessionTitle: (id, title, given = {}) =>
      call(given, "set the title", (agent) => agent.setSessionTitle(id, title, given)),
    authStatus: (given = {}) => call(given, "report its login", (agent) => agent.authStatus(given)),
    onAuthStatus: (listener) => process.onAuthStatus(listener),
    listProviders: (given = {}) => call(given, "list its providers", (agent) => agent.listProviders(given)),
    setProvider: (setting, given = {}) =>
      call(given, "set the provider", (agent) => agent.setProvider(setting, given)),
    disableProvider: (id, given = {}) =>
      call(given, "disable the provider", (agent) => agent.disableProvider(id, given)),
    login: (methodId, { signal, credentials, _meta } = {}) =>
      abortable(signal, process.login(methodId, optional({ credentials, _meta }))),
    logout: ({ signal, _meta } = {}) => abortable(signal, process.logout(optional({ _meta }))),
    async request(method, params, given) {
      const { agent } = await abortable(given?.signal, process.running());
      return agent.request(method, params, given);
    },
    async notify(method, params) {
      await (await process.running()).agent.notify(method, params);
    },
    pause: () => process.pause(),
    resume: () => process.resume(),
    finish: (silenceMs) => process.finish(() => sessions.end(), silenceMs),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** The sessions of a managed agent, also those that are being opened. */
class ManagedSessions {
  readonly process: ManagedProcess;
  readonly #opening = new Set<ManagedSession>();
  readonly #open = new Set<ManagedSession>();

  constructor(entry: AgentEntry, options: ManageAgentOptions) {
    this.process = new ManagedProcess(entry, options, {
      current: (sessionId) => this.find(sessionId)?.inner,
      managed: (session) => this.#of(session) ?? session,
    });
  }

  get open(): readonly ManagedSession[] {
    return [...this.#open];
  }

  find(sessionId: string): ManagedSession | undefined {
    return this.open.find((session) => session.sessionId === sessionId);
  }

  async begin(
    options: ManagedSessionOptions,
    start: (session: ManagedSession) => Promise<void>,
  ): Promise<ManagedSession> {
    if (!isObject(options)) {
      const wanted = 'an object with `cwd` as the last argument, as { cwd: "/absolute/path" }';
      throw new TypeError(`expected ${wanted}, got ${argumentText(options)}`);
    }
    this.#warnOfFolders(options);
    const session = new ManagedSession(this.process, options, () => this.#open.delete(session));
    this.#opening.add(session);
    const started = start(session);
    try {
      await abortable(options.signal, started);
    } catch (error) {
      // one that is opened too late is closed again
      void started.then(() => session.close()).catch(() => undefined);
      throw error;
    } finally {
      this.#opening.delete(session);
    }
    this.#open.add(session);
    // who gives a setup looks at its problems
    if (options.setup === undefined) session.reportProblems();
    return session;
  }

  end(): void {
    for (const session of this.#open) session.end();
  }

  /** The sandbox of an agent is older than its sessions. */
  #warnOfFolders({ cwd, additionalDirectories = [] }: ManagedSessionOptions): void {
    const { entry, options } = this.process;
    const sandbox = wantedSandbox(entry, options.sandbox);
    if (sandbox === undefined) return;
    const { roots = [options.cwd ?? process.cwd()] } = sandbox;
    const isInside = (path: string) =>
      roots.some((root) => normalPath(path) === normalPath(root) || path.startsWith(`${normalPath(root)}/`));
    for (const path of [cwd, ...additionalDirectories].filter((each) => !isInside(each))) {
      const message = `${path} is outside the sandbox of ${entry.name}, which can only read it`;
      options.onEvent?.({ kind: "warning", message });
    }
  }

  #of(session: ClientSession): ManagedSession | undefined {
    const { sessionId } = session;
    return [...this.#open, ...this.#opening].find(
      (each) => each.inner === session || each.sessionId === sessionId,
    );
  }
}
