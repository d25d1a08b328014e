// An agent that stays: it is started again when it dies, people log in to it without leaving, and it has many sessions.

import { type ConnectedAgent, ConnectionError, type SessionList } from "@parley/acp";
import type { AgentEntry } from "../agents/agent-entry.ts";
import { type LaunchedAgent, launchAgent } from "../launch/launch-agent.ts";
import { LaunchError, stderrHint } from "../launch/launch-error.ts";
import type { Unread } from "../launch/watched-input.ts";
import { clientDefinition } from "./client-definition.ts";
import { pause, within } from "./deadline.ts";
import { KeptSession } from "./kept-session.ts";
import { type AgentSessions, type AgentSessionsQuery, listAll } from "./list-all.ts";
import type { LiveAgent, LiveSession } from "./live-agent.ts";
import type { LiveOptions, LivePlace } from "./live-options.ts";
import { type LoginTarget, logIn } from "./log-in.ts";
import { problemOf } from "./problem.ts";
import type { SessionHost } from "./session-host.ts";

/** Starts an agent that stays. Rejects with a LaunchError. */
export async function liveAgent(entry: AgentEntry, options: LiveOptions): Promise<LiveAgent> {
  const live = new KeptAgent(entry, options);
  await live.ready();
  return live;
}

const crashWindowMs = 300_000;
const longestPauseMs = 60_000;
/** An agent whose input has ended is heard until it leaves, or is silent for so long. */
const silenceMs = 250;
const longestFarewellMs = 1_000;

class KeptAgent implements LiveAgent, LoginTarget, SessionHost {
  readonly entry: AgentEntry;
  readonly options: LiveOptions;
  readonly #sessions = new Set<KeptSession>();
  /** What somebody typed to log in; kept for as long as this lives, and nowhere else. */
  #credentials: Readonly<Record<string, string>> = {};
  #launching: Promise<LaunchedAgent> | undefined;
  #launched: LaunchedAgent | undefined;
  #crashes: number[] = [];
  #loggingIn: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #isPaused = false;
  /** How often something came from it. */
  #heard = 0;
  /** The end of the process that another one takes the place of. */
  #leaving: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();
  /** It dies as often as it is started: whoever needs it next is told. */
  #crashLoop: LaunchError | undefined;

  constructor(entry: AgentEntry, options: LiveOptions) {
    this.entry = entry;
    this.options = options;
  }

  get connected(): ConnectedAgent {
    if (this.#launched === undefined) throw new Error(`${this.entry.name} does not run`);
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
    const message = `${this.entry.name} did not list its sessions within ${setupTimeoutMs} ms`;
    return this.authenticated(({ agent }) => within(setupTimeoutMs, agent.list(query), message));
  }

  listAll(query: AgentSessionsQuery = {}): Promise<AgentSessions> {
    return listAll((page) => this.list(page), query);
  }

  async login(methodId?: string): Promise<void> {
    await logIn(this, await this.ready(), methodId);
  }

  async logout(): Promise<void> {
    const { agent } = await this.ready();
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
      if (this.#launched?.endInput()) await this.#farewell(this.#launched);
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

  ready(): Promise<LaunchedAgent> {
    if (this.#closing !== undefined)
      return Promise.reject(new ConnectionError("closed", `${this.entry.name} was closed`));
    if (this.#launched !== undefined) return Promise.resolve(this.#launched);
    if (this.#crashLoop !== undefined) {
      const error = this.#crashLoop;
      // once: the next one may try again
      this.#crashLoop = undefined;
      return Promise.reject(error);
    }
    this.#launching ??= this.#launch().finally(() => {
      this.#launching = undefined;
    });
    return this.#launching;
  }

  async authenticated<Result>(work: (launched: LaunchedAgent) => Promise<Result>): Promise<Result> {
    const first = await this.ready();
    try {
      return await work(first);
    } catch (error) {
      if (problemOf(error).kind !== "login_needed") throw error;
    }
    // sessions that are opened at the same time ask once
    this.#loggingIn ??= logIn(this, first).finally(() => {
      this.#loggingIn = undefined;
    });
    await this.#loggingIn;
    const second = await this.ready();
    try {
      return await work(second);
    } catch (error) {
      if (problemOf(error).kind !== "login_needed" || second !== first) throw error;
    }
    // some look for their credentials only when they start
    await this.respawn("to make the login count");
    return work(await this.ready());
  }

  /** Ends the agent; the next who needs it starts it anew, with these variables too. */
  async respawn(reason: string, credentials: Readonly<Record<string, string>> = {}): Promise<void> {
    this.#credentials = { ...this.#credentials, ...credentials };
    const old = this.#launched;
    this.#launched = undefined;
    this.options.onEvent?.({ kind: "restarting", reason });
    const leaving = Promise.all([this.#leaving, old?.close()]).then(() => undefined);
    // whoever asked for it is told; whoever closes only waits
    this.#leaving = leaving.catch(() => undefined);
    await leaving;
  }

  forget(session: KeptSession): void {
    this.#sessions.delete(session);
  }

  heard(): void {
    this.#heard += 1;
  }

  // ----

  async #end(): Promise<void> {
    const launched = this.#launched ?? (await this.#launching?.catch(() => undefined));
    for (const session of this.#sessions) session.ended();
    await launched?.close();
    await this.#leaving;
  }

  async #farewell({ agent }: LaunchedAgent): Promise<void> {
    const gone = new AbortController();
    const leave = () => gone.abort();
    // it never rejects
    void agent.closed.then(leave);
    this.#stop.signal.addEventListener("abort", leave);
    const latest = performance.now() + longestFarewellMs;
    let seen: number;
    do {
      seen = this.#heard;
      if (!(await pause(silenceMs, gone.signal))) break;
    } while (this.#isPaused || (seen !== this.#heard && performance.now() < latest));
    this.#stop.signal.removeEventListener("abort", leave);
  }

  async #begin(place: LivePlace, start: (session: KeptSession) => Promise<void>): Promise<LiveSession> {
    const session = new KeptSession(this, place);
    await start(session);
    this.#sessions.add(session);
    return session;
  }

  async #launch(): Promise<LaunchedAgent> {
    const { options } = this;
    const { onEvent, env = {}, backoffMs = 1_000 } = options;
    // it may be started for another reason than the last crash, and long after it
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
    // ended on purpose
    if (this.#launched !== launched || this.#closing !== undefined) return;
    this.#launched = undefined;
    const { message } = reason;
    const stderr = launched.stderrTail();
    this.options.onEvent?.({ kind: "crashed", message, stderr });
    this.#crashes = [...this.#recentCrashes(), performance.now()];
    if (this.#crashes.length <= (this.options.maxRestarts ?? 5)) return;
    this.#crashLoop = new LaunchError(
      "crash_loop",
      `${this.entry.name} died ${this.#crashes.length} times in five minutes`,
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
