// Runs a managed agent: a connection that survives the crashes of its process, with login, pause and close.

import { type ClientConnection, ConnectionError } from "@parley/acp";
import { abortable, optional, withTimeout } from "@parley/acp/jsonrpc";
import type { AgentEntry } from "../agents/agent-spec.ts";
import type { ManagedAgent } from "./managed-agent.ts";
import type { ManageAgentOptions, ManagedForkOptions, ManagedSessionOptions } from "./managed-options.ts";
import type { ManagedSession } from "./managed-session.ts";
import { callAborted, ManagedSessions } from "./managed-sessions.ts";

/** With what only the command needs. */
export interface ManagedConnection extends ManagedAgent {
  readonly spec: AgentEntry;
  readonly sessions: readonly ManagedSession[];
  newSession(options: ManagedSessionOptions): Promise<ManagedSession>;
  loadSession(sessionId: string, options: ManagedSessionOptions): Promise<ManagedSession>;
  resumeSession(sessionId: string, options: ManagedSessionOptions): Promise<ManagedSession>;
  forkSession(sessionId: string, options: ManagedForkOptions): Promise<ManagedSession>;
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
  const ending = {
    before: () => sessions.end(),
    async after() {
      await sessions.ended();
      await options.recorder?.finish?.();
    },
  };
  const close = (reason?: string) => process.close(ending, reason);
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
      callAborted,
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
    get dialect() {
      return process.latest.dialect;
    },
    get counters() {
      return process.latest.counters;
    },
    get pid() {
      return process.pid;
    },
    get mcpServers() {
      return process.latest.mcpServers;
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
    forkSession: (id, { before, ...given }) =>
      sessions.begin(given, (session) => session.openFork(id, before)),
    listSessions: (query = {}) => call(query, "list its sessions", (agent) => agent.listSessions(query)),
    async deleteSession(id, given = {}) {
      const result = await call(given, "delete the session", (agent) => agent.deleteSession(id, given));
      await sessions.find(id)?.leave();
      options.recorder?.ended?.(id);
      return result;
    },
    async archiveSession(id, given = {}) {
      const result = await call(given, "archive the session", (agent) => agent.archiveSession(id, given));
      await sessions.find(id)?.leave();
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
      abortable(signal, process.login(methodId, optional({ credentials, _meta })), callAborted),
    logout: ({ signal, _meta } = {}) => abortable(signal, process.logout(optional({ _meta })), callAborted),
    mcp: (serverName) => process.latest.mcp(serverName),
    async request(method, params, given) {
      const { agent } = await abortable(given?.signal, process.running(), callAborted);
      return agent.request(method, params, given);
    },
    async notify(method, params) {
      await (await process.running()).agent.notify(method, params);
    },
    pause: () => sessions.pause(),
    resume: () => sessions.resume(),
    finish: (silenceMs) => process.finish(ending, silenceMs),
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}
