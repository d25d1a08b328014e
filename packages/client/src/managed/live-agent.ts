// Starts an agent and keeps it running: restarts it after a crash, logs in, and holds its sessions.

import { type ConnectedAgent, ConnectionError, type SessionList } from "@parley/acp";
import { withTimeout } from "@parley/acp/internal";
import type { AgentEntry } from "../agents/agent-entry.ts";
import { type LaunchedAgent, launchAgent } from "../launch/launch-agent.ts";
import { LaunchError, stderrHint } from "../launch/launch-error.ts";
import type { Unread } from "../launch/watched-input.ts";
import { clientDefinition } from "./client-definition.ts";
import { type AgentSessions, type AgentSessionsQuery, listAll } from "./list-all.ts";
import type { LiveOptions, LivePlace } from "./live-options.ts";
import type { LiveSession } from "./live-session.ts";
import { type LoginTarget, logIn } from "./log-in.ts";
import { ManagedSession } from "./managed-session.ts";
import { pause } from "./pause.ts";
import { problemOf } from "./problem.ts";
import type { SessionHost } from "./session-host.ts";

/** An agent that is restarted after a crash, with login and many sessions. */
export interface LiveAgent {
  readonly entry: AgentEntry;
  /** The running agent. Throws while it is not running. */
  readonly connected: ConnectedAgent;
  /** The process id of an agent on this machine. */
  readonly pid: number | undefined;
  readonly sessions: readonly LiveSession[];
  open(place: LivePlace): Promise<LiveSession>;
  /** Reopens a session. Its history arrives as updates before this resolves, where the agent can load it. */
  reopen(sessionId: string, place: LivePlace, replay?: "history" | "silent"): Promise<LiveSession>;
  /** One page of the agent's sessions. */
  list(query?: { readonly cwd?: string; readonly cursor?: string }): Promise<SessionList>;
  /** All sessions of the agent, up to `limit`. */
  listAll(query?: AgentSessionsQuery): Promise<AgentSessions>;
  /** Logs in by this method; without one, the user chooses. */
  login(methodId?: string): Promise<void>;
  logout(): Promise<void>;
  readonly isPaused: boolean;
  /**
   * Stops reading from the agent until `resume`, answers included, so that it has to wait. For a caller that is slower
   * than the agent.
   */
  pause(): void;
  resume(): void;
  /** Ends the agent's input, reads what it still sends, and closes it. */
  finish(): Promise<void>;
  /** Ends the agent and all processes that it started. */
  close(): Promise<void>;
}

/** Starts an agent. Rejects with a LaunchError. */
export async function liveAgent(entry: AgentEntry, options: LiveOptions): Promise<LiveAgent> {
  const agent = new ManagedAgent(entry, options);
  await agent.running();
  return agent;
}

const crashWindowMs = 300_000;
const longestPauseMs = 60_000;
/** An agent whose input has ended is read until it exits, or is silent for so long. */
const silenceMs = 250;
const longestEndMs = 1_000;

class ManagedAgent implements LiveAgent, LoginTarget, SessionHost {
  readonly entry: AgentEntry;
  readonly options: LiveOptions;
  readonly #sessions = new Set<ManagedSession>();
  /** Typed by the user to log in; kept in memory only. */
  #credentials: Readonly<Record<string, string>> = {};
  #launching: Promise<LaunchedAgent> | undefined;
  #launched: LaunchedAgent | undefined;
  #crashes: number[] = [];
  #loggingIn: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isPaused = false;
  /** Counts the entries that came from it. */
  #activity = 0;
  /** Resolves when the process that is being replaced has ended. */
  #stopping: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();
  /** The agent crashed too often; the next request rejects with this. */
  #crashLoop: LaunchError | undefined;

  constructor(entry: AgentEntry, options: LiveOptions) {
    this.entry = entry;
    this.options = options;
  }

  get connected(): ConnectedAgent {
    if (this.#launched === undefined) throw new Error(`${this.entry.name} is not running`);
    return this.#launched.agent;
  }

  get pid(): number | undefined {
    return this.#launched?.pid;
  }

  get sessions(): readonly LiveSession[] {
    return [...this.#sessions];
  }

  open(place: LivePlace): Promise<LiveSession> {
    return this.#begin(place, (session) => session.openNew());
  }

  reopen(
    sessionId: string,
    place: LivePlace,
    replay: "history" | "silent" = "history",
  ): Promise<LiveSession> {
    return this.#begin(place, (session) => session.openOld(sessionId, replay));
  }

  list(query?: { readonly cwd?: string; readonly cursor?: string }): Promise<SessionList> {
    const { setupTimeoutMs = 60_000 } = this.options;
    return this.authenticated(async ({ agent }) => {
      const page = await withTimeout(setupTimeoutMs, agent.list(query));
      if (page !== undefined) return page;
      const message = `${this.entry.name} did not list its sessions within ${setupTimeoutMs} ms`;
      throw new ConnectionError("timeout", message);
    });
  }

  listAll(query: AgentSessionsQuery = {}): Promise<AgentSessions> {
    return listAll((page) => this.list(page), query);
  }

  async login(methodId?: string): Promise<void> {
    await logIn(this, await this.running(), methodId);
  }

  async logout(): Promise<void> {
    const { agent } = await this.running();
    await agent.logout();
    this.#credentials = {};
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  pause(): void {
    this.#isPaused = true;
    this.#launched?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#launched?.resume();
  }

  finish(): Promise<void> {
    this.#closing ??= (async () => {
      if (this.#launched?.endInput()) await this.#lastEntries(this.#launched);
      await this.#end();
    })();
    return this.#closing;
  }

  close(): Promise<void> {
    this.#stop.abort();
    this.#closing ??= this.#end();
    return this.#closing;
  }

  // ---- for sessions and logins

  running(): Promise<LaunchedAgent> {
    if (this.#closing !== undefined)
      return Promise.reject(new ConnectionError("closed", `${this.entry.name} was closed`));
    if (this.#launched !== undefined) return Promise.resolve(this.#launched);
    if (this.#crashLoop !== undefined) {
      const error = this.#crashLoop;
      // the request after it may try again
      this.#crashLoop = undefined;
      return Promise.reject(error);
    }
    this.#launching ??= this.#launch().finally(() => {
      this.#launching = undefined;
    });
    return this.#launching;
  }

  async authenticated<Result>(work: (launched: LaunchedAgent) => Promise<Result>): Promise<Result> {
    const first = await this.running();
    try {
      return await work(first);
    } catch (error) {
      if (problemOf(error).kind !== "login_needed") throw error;
    }
    // sessions that are opened at the same time log in once
    this.#loggingIn ??= logIn(this, first).finally(() => {
      this.#loggingIn = undefined;
    });
    await this.#loggingIn;
    const second = await this.running();
    try {
      return await work(second);
    } catch (error) {
      if (problemOf(error).kind !== "login_needed" || second !== first) throw error;
    }
    // some agents read their credentials only when they start
    await this.restart("to make the login count");
    return work(await this.running());
  }

  /** Stops the agent; the next request starts it again, with these variables too. */
  async restart(reason: string, credentials: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#credentials = { ...this.#credentials, ...credentials };
    const old = this.#launched;
    this.#launched = undefined;
    this.options.onEvent?.({ kind: "restarting", reason });
    const stopping = Promise.all([this.#stopping, old?.close()]).then(() => undefined);
    // only the caller of this sees a failure
    this.#stopping = stopping.catch(() => undefined);
    await stopping;
  }

  forget(session: ManagedSession): void {
    this.#sessions.delete(session);
  }

  noteActivity(): void {
    this.#activity += 1;
  }

  // ----

  async #end(): Promise<void> {
    const launched = this.#launched ?? (await this.#launching?.catch(() => undefined));
    for (const session of this.#sessions) session.end();
    await launched?.close();
    await this.#stopping;
  }

  /** Waits until the agent has ended, is silent, or takes too long. */
  async #lastEntries({ agent }: LaunchedAgent): Promise<void> {
    const ended = new AbortController();
    // it never rejects
    void agent.closed.then(() => ended.abort());
    const stopped = AbortSignal.any([ended.signal, this.#stop.signal]);
    const latest = performance.now() + longestEndMs;
    let seen: number;
    do {
      seen = this.#activity;
      if (!(await pause(silenceMs, stopped))) break;
    } while (this.#isPaused || (seen !== this.#activity && performance.now() < latest));
  }

  async #begin(place: LivePlace, start: (session: ManagedSession) => Promise<void>): Promise<LiveSession> {
    const session = new ManagedSession(this, place);
    await start(session);
    this.#sessions.add(session);
    return session;
  }

  async #launch(): Promise<LaunchedAgent> {
    const { options } = this;
    const { onEvent, env = {}, backoffMs = 1_000 } = options;
    // the start may have another reason than the last crash
    const again = this.#recentCrashes().length - 1;
    if (again > 0) await pause(Math.min(backoffMs * 2 ** (again - 1), longestPauseMs), this.#stop.signal);
    const definition = clientDefinition(
      options,
      (sessionId) => [...this.#sessions].find((each) => each.sessionId === sessionId)?.inner,
    );
    const launched = await launchAgent(this.entry, {
      ...options,
      definition,
      env: { ...env, ...this.#credentials },
      ...(onEvent === undefined
        ? {}
        : {
            onProgress: onEvent,
            onStderr: (text: string) => onEvent({ kind: "stderr", text }),
            onUnread: (unread: Unread) => onEvent({ kind: "unread", ...unread }),
          }),
    });
    if (this.#closing !== undefined) {
      await launched.close();
      throw new ConnectionError("closed", `${this.entry.name} was closed`);
    }
    this.#launched = launched;
    if (this.#isPaused) launched.pause();
    // it cannot fail: `closed` never rejects
    void launched.agent.closed.then((reason) => this.#ended(launched, reason));
    return launched;
  }

  #ended(launched: LaunchedAgent, reason: ConnectionError): void {
    // it was stopped on purpose
    if (this.#launched !== launched || this.#closing !== undefined) return;
    this.#launched = undefined;
    const { message } = reason;
    const stderr = launched.stderrTail();
    this.options.onEvent?.({ kind: "crashed", message, stderr });
    this.#crashes = [...this.#recentCrashes(), performance.now()];
    if (this.#crashes.length <= (this.options.maxRestarts ?? 5)) return;
    this.#crashLoop = new LaunchError(
      "crash_loop",
      `${this.entry.name} crashed ${this.#crashes.length} times in five minutes`,
      {
        hint: stderrHint(stderr),
        stderr,
        exitCode: reason.exitCode,
        signal: reason.signal,
        cause: reason,
      },
    );
    this.#crashes = [];
  }

  #recentCrashes(): number[] {
    const since = performance.now() - crashWindowMs;
    return this.#crashes.filter((time) => time > since);
  }
}
