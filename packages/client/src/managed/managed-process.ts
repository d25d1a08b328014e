// Runs an agent: starts it on demand, restarts it after a crash or a login, and gives up when it crashes too often.

import { type ClientPolicy, ConnectionError } from "@parley/acp";
import { optional, sleep } from "@parley/acp/jsonrpc";
import type { AuthStatus } from "@parley/acp/model";
import type { AgentEntry } from "../agents/agent-spec.ts";
import { type LaunchedAgent, launchAgent } from "../launch/launch-agent.ts";
import { LaunchError, stderrHint } from "../launch/launch-error.ts";
import { clientDefinition, type SessionLookup } from "./client-definition.ts";
import { type Custom, type LoginGiven, logIn } from "./log-in.ts";
import type { ManageAgentOptions } from "./managed-options.ts";
import { problemOf } from "./problem.ts";

const crashWindowMs = 300_000;
const longestPauseMs = 60_000;
/** An agent whose input has ended is read until its output ends, or is silent for so long. */
const defaultSilenceMs = 500;
const longestEndMs = 2_000;

/** What ends with an agent. */
export interface Ending {
  /** Called before the agent is closed. */
  before?(): void;
  /** Called when the agent has been closed. */
  after?(): Promise<void>;
}

type RepeatedLogin = (agent: LaunchedAgent["agent"]) => Promise<unknown>;

/** One agent program or remote agent across its restarts. */
export class ManagedProcess {
  readonly entry: AgentEntry;
  readonly options: ManageAgentOptions;
  /** Resolves when the agent has been closed. */
  readonly closed: Promise<ConnectionError>;
  readonly #closed = Promise.withResolvers<ConnectionError>();
  readonly #sessions: SessionLookup;
  /** Typed by the user to log in; kept in memory only. */
  #credentials: Readonly<Record<string, string>> = {};
  /** Repeats the last login that the agent performed. */
  #repeat: RepeatedLogin | undefined;
  #launching: Promise<LaunchedAgent> | undefined;
  #launched: LaunchedAgent | undefined;
  #latest: LaunchedAgent["agent"] | undefined;
  #crashes: number[] = [];
  #loggingIn: Promise<Custom> | undefined;
  #closing: Promise<void> | undefined;
  #isPaused = false;
  #policy: ClientPolicy | undefined;
  readonly #authListeners = new Set<(status: AuthStatus) => void>();
  /** Counts the entries that came from it. */
  #activity = 0;
  /** Resolves when the process that is being replaced has ended. */
  #stopping: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();
  /** The agent crashed too often; the next request rejects with this. */
  #crashLoop: LaunchError | undefined;

  constructor(entry: AgentEntry, options: ManageAgentOptions, sessions: SessionLookup) {
    this.entry = entry;
    this.options = options;
    this.closed = this.#closed.promise;
    this.#sessions = sessions;
  }

  /** The connection to the process that runs, or ran last. */
  get latest(): LaunchedAgent["agent"] {
    if (this.#latest === undefined) throw new Error(`${this.entry.name} has not been started`);
    return this.#latest;
  }

  get pid(): number | undefined {
    return this.#launched?.pid;
  }

  /** Without a method, sessions that want a login at the same time share one. `why` is what the agent said. */
  async login(methodId?: string, custom: LoginGiven = {}, why?: string): Promise<Custom> {
    if (methodId !== undefined) return logIn(this, await this.running(), methodId, custom);
    this.#loggingIn ??= this.running()
      .then((launched) => logIn(this, launched, undefined, custom, why))
      .finally(() => {
        this.#loggingIn = undefined;
      });
    return this.#loggingIn;
  }

  /** Called after a login that the agent performed. */
  loggedIn(repeat: RepeatedLogin): void {
    this.#repeat = repeat;
  }

  /** Another process of the same agent, for one session. It has the logins of this one. */
  another(sessions: SessionLookup): ManagedProcess {
    const { entry, options } = this;
    const env = { ...options.env, ...this.#credentials };
    const other = new ManagedProcess(entry, { ...options, env }, sessions);
    other.#repeat = this.#repeat;
    if (this.#isPaused) other.pause();
    return other;
  }

  /** The agent wants a login. In a dialect one counts for one connection, so the last one is repeated. */
  async loginAgain(why?: string): Promise<Custom> {
    const repeat = this.#repeat;
    this.#repeat = undefined;
    const { agent } = await this.running();
    if (repeat !== undefined && agent.dialect !== undefined) {
      const isIn = await repeat(agent).then(
        () => true,
        () => false,
      );
      if (isIn) {
        this.#repeat = repeat;
        return {};
      }
    }
    return this.login(undefined, {}, why);
  }

  async logout(custom: Custom = {}): Promise<Custom> {
    const { agent } = await this.running();
    const result = await agent.logout(custom);
    this.#credentials = {};
    this.#repeat = undefined;
    return result;
  }

  /** Reports of every process of the agent. */
  onAuthStatus(listener: (status: AuthStatus) => unknown): () => void {
    const each = (status: AuthStatus): void => void listener(status);
    // with the last report of the process that runs
    this.latest.onAuthStatus(each)();
    this.#authListeners.add(each);
    return () => this.#authListeners.delete(each);
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

  /**
   * Ends the agent's input and reads what it still sends. An agent that takes too long is left to the watchdog, which ends
   * it after this process has exited.
   */
  finish(ending: Ending, silenceMs = defaultSilenceMs): Promise<void> {
    this.#closing ??= (async () => {
      const launched = this.#launched;
      if (launched?.endInput() && !(await this.#lastEntries(launched, silenceMs))) launched.leave();
      await this.#end(ending);
    })();
    return this.#closing;
  }

  close(ending: Ending, reason?: string): Promise<void> {
    this.#stop.abort();
    this.#closing ??= this.#end(ending, reason);
    return this.#closing;
  }

  /** The running agent; starts it when it is not running. */
  running(): Promise<LaunchedAgent> {
    if (this.#closing !== undefined) return Promise.reject(this.#closedError());
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

  /** Runs the work, and once more after a login when the agent wants one. */
  async authenticated<Result>(work: (launched: LaunchedAgent) => Promise<Result>): Promise<Result> {
    const first = await this.running();
    try {
      return await work(first);
    } catch (error) {
      if (problemOf(error).kind !== "login_needed") throw error;
    }
    await this.loginAgain();
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

  /** Counts an entry that came from the agent. */
  noteActivity(): void {
    this.#activity += 1;
  }

  // ----

  async #end({ before, after }: Ending, reason?: string): Promise<void> {
    try {
      const launched = this.#launched ?? (await this.#launching?.catch(() => undefined));
      before?.();
      await launched?.close(reason);
      this.#launched = undefined;
      await this.#stopping;
      await after?.();
    } finally {
      this.#closed.resolve(this.#closedError());
    }
  }

  #closedError(): ConnectionError {
    return new ConnectionError("closed", `${this.entry.name} was closed`);
  }

  /** Waits until the agent has ended, is silent, or takes too long; whether it has ended or must be closed now. */
  async #lastEntries({ agent }: LaunchedAgent, silenceMs: number): Promise<boolean> {
    const ended = new AbortController();
    // it never rejects
    void agent.closed.then(() => ended.abort());
    const stopped = AbortSignal.any([ended.signal, this.#stop.signal]);
    const latest = performance.now() + Math.max(silenceMs, longestEndMs);
    let seen = this.#activity;
    let quietUntil = performance.now() + silenceMs;
    while (!stopped.aborted && (this.#isPaused || performance.now() < Math.min(quietUntil, latest))) {
      await sleep(defaultSilenceMs / 10, stopped);
      if (seen === this.#activity) continue;
      seen = this.#activity;
      quietUntil = performance.now() + silenceMs;
    }
    return stopped.aborted;
  }

  async #launch(): Promise<LaunchedAgent> {
    const { options } = this;
    const { env = {}, backoffMs = 1_000, cwd, inherited, sandbox, onEvent, kill, front, signal } = options;
    // the start may have another reason than the last crash
    const again = this.#recentCrashes().length - 1;
    if (again > 0) await sleep(Math.min(backoffMs * 2 ** (again - 1), longestPauseMs), this.#stop.signal);
    const definition = clientDefinition(options, this.#sessions, () => this.#policy);
    const launched = await launchAgent(this.entry, {
      definition,
      env: { ...env, ...this.#credentials },
      ...optional({ cwd, inherited, sandbox, onEvent, kill, front, signal }),
    });
    try {
      this.#policy ??= await (typeof options.policy === "function" ? options.policy() : options.policy);
      if (this.#closing !== undefined) throw this.#closedError();
    } catch (error) {
      await launched.close();
      throw error;
    }
    this.#launched = launched;
    this.#latest = launched.agent;
    launched.agent.onAuthStatus((status) => {
      for (const listener of this.#authListeners) listener(status);
    });
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
        hint:
          this.entry.transport === "stdio"
            ? stderrHint(stderr)
            : "check the network between here and the agent, or ask whoever runs it",
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
