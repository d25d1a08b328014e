// Opens a session at its agent, and reopens it after a restart or a loss.

import {
  type ClientSession,
  ConnectionError,
  type Entry,
  type SessionConfigOption,
  type SessionOptions,
} from "@parley/acp";
import { optional, withTimeout } from "@parley/acp/jsonrpc";
import type { JsonValue } from "@parley/acp/model";
import type { LaunchedAgent } from "../launch/launch-agent.ts";
import { reportWaiting } from "../launch/report-waiting.ts";
import { EntryFilter } from "./entry-filter.ts";
import type { ManagedSessionOptions, RecordedSession } from "./managed-options.ts";
import type { ManagedProcess } from "./managed-process.ts";
import { problemOf } from "./problem.ts";
import { applySetup, type SetupProblem } from "./session-setup.ts";

type How = "new" | "loaded" | "resumed";
/** The session that a new one replaces, or is a copy of. */
type Origin = Pick<RecordedSession, "forks" | "atSeq"> & { readonly replaces?: string | undefined };
type OpenCall = (agent: LaunchedAgent["agent"], place: SessionOptions) => Promise<ClientSession>;

/** What an activation needs of its session. */
interface Activated {
  /** Throws if the session cannot be opened under this id. */
  checkId(sessionId: string): void;
  deliver(entry: Entry, isRecorded: boolean): void;
}

export class SessionActivation {
  sessionId = "";
  problems: readonly SetupProblem[] = [];
  /** Options that were set after the session was opened; a restarted agent does not know them. */
  readonly chosen: Record<string, JsonValue> = {};
  readonly #process: ManagedProcess;
  readonly #place: ManagedSessionOptions;
  readonly #session: Activated;
  /** Another client has taken it. */
  isTaken = false;
  #inner: ClientSession | undefined;
  #owner: LaunchedAgent | undefined;
  #filter: EntryFilter | undefined;
  /** The options as they were before the session was reopened. */
  #optionsBefore: readonly SessionConfigOption[] = [];

  constructor(process: ManagedProcess, place: ManagedSessionOptions, session: Activated) {
    this.#process = process;
    this.#place = place;
    this.#session = session;
  }

  /** The session at the process that runs, or ran last. */
  get inner(): ClientSession | undefined {
    return this.#inner;
  }

  /** The process of `inner`. */
  get owner(): LaunchedAgent | undefined {
    return this.#owner;
  }

  get canReopen(): boolean {
    const { resume, load } = this.#owner?.agent.capabilities ?? {};
    return resume === true || load === true;
  }

  /** Whether the agent has begun to work on the last prompt. */
  get hasBegun(): boolean {
    return this.#filter?.hasBegun ?? false;
  }

  beginPrompt(): void {
    this.#filter?.beginPrompt();
  }

  async openNew(replaces?: string): Promise<void> {
    const { sessionId: forks, atSeq } = this.#place.copies ?? {};
    const of = replaces === undefined ? optional({ forks, atSeq }) : { replaces };
    await this.#open((agent, place) => agent.newSession(place), of);
  }

  /** Opens a session with the conversation of another one, or with what came before a message. */
  async openFork(sessionId: string, before?: string): Promise<void> {
    const { atSeq } = this.#place.copies ?? {};
    await this.#open((agent, place) => agent.forkSession(sessionId, { ...place, before }), {
      forks: sessionId,
      ...optional({ atSeq }),
    });
  }

  async openOld(sessionId: string, replay: "history" | "silent"): Promise<void> {
    this.#session.checkId(sessionId);
    this.sessionId = sessionId;
    const { session, how } = await this.#loadOrResume(replay === "silent");
    this.#startRecording(session, how);
    await this.#setUp(session);
  }

  /** The session at the running agent, reopened when that is another process than before. */
  async active(): Promise<ClientSession> {
    const launched = await this.#process.running();
    if (this.#inner !== undefined && this.#owner === launched && !this.isTaken) return this.#inner;
    await this.reopen();
    if (this.#inner === undefined) throw new ConnectionError("closed", "the session has been closed");
    return this.#inner;
  }

  /** Loads or resumes it; opens a new one in its place when the agent can do neither. */
  async reopen(): Promise<void> {
    const launched = await this.#process.running();
    const { resume, load } = launched.agent.capabilities;
    if (!resume && !load) return this.replace();
    const after = this.#owner === launched ? "loss" : "restart";
    const { session, how } = await this.#loadOrResume(true);
    this.#process.options.onEvent?.({ kind: "continued", sessionId: this.sessionId, how, after });
    await this.#setUp(session);
    this.reportProblems();
  }

  async replace(): Promise<void> {
    const after = this.#owner === (await this.#process.running()) ? "loss" : "restart";
    await this.openNew(this.sessionId);
    this.#process.options.onEvent?.({ kind: "continued", sessionId: this.sessionId, how: "new", after });
    this.reportProblems();
  }

  async #open(call: OpenCall, of: Origin): Promise<void> {
    this.#optionsBefore = [];
    const opened = await this.#activate("new", call);
    this.#session.checkId(opened.sessionId);
    this.#startRecording(opened, "new", of);
    await this.#setUp(opened);
  }

  #startRecording({ sessionId, cwd }: ClientSession, how: How, of: Origin = {}): void {
    this.sessionId = sessionId;
    const agent = this.#process.entry.name;
    const replayed = this.#filter?.takeReplayed();
    this.#process.options.recorder?.begin({ agent, sessionId, cwd, how, ...optional({ ...of, replayed }) });
    this.#filter?.startRecording();
  }

  async #loadOrResume(isSilent: boolean): Promise<{ session: ClientSession; how: "loaded" | "resumed" }> {
    let how: "loaded" | "resumed" = "resumed";
    const id = this.sessionId;
    const { configOptions: options, availableCommands: commands } = this.#inner ?? {
      configOptions: [],
      availableCommands: [],
    };
    this.#optionsBefore = options;
    const lastKnown = { configOptions: options, availableCommands: commands };
    const session = await this.#activate(isSilent ? "silent" : "history", (agent, given) => {
      const place: SessionOptions = { ...given, lastKnown };
      const { resume, load } = agent.capabilities;
      how = resume && (isSilent || !load) ? "resumed" : "loaded";
      return how === "resumed" ? agent.resumeSession(id, place) : agent.loadSession(id, place);
    });
    return { session, how };
  }

  /** Tries once more with twice the time when the agent does not answer. */
  async #activate(what: "new" | "history" | "silent", call: OpenCall): Promise<ClientSession> {
    const { setupTimeoutMs = 60_000, onEvent } = this.#process.options;
    const {
      setup: _setup,
      copies: _copies,
      onUpdate: _onUpdate,
      onEntry: _onEntry,
      signal,
      ...place
    } = this.#place;
    // the signal is for the first time: a session that is open stays open
    const first = this.#inner === undefined ? optional({ signal }) : {};
    const attempt = (timeoutMs: number) =>
      this.#process.authenticated(async (launched) => {
        const filter = new EntryFilter(what, this.#session.deliver);
        this.#filter?.stop();
        this.#filter = filter;
        const onEntry = (entry: Entry): void => filter.entry(entry);
        const work = call(launched.agent, { ...place, ...first, onEntry });
        const answered = reportWaiting({ what: "session", timeoutMs }, launched.stderrTail, onEvent);
        const session = await withTimeout(timeoutMs, work).finally(answered);
        if (session === undefined) {
          void work.then((late) => late.close()).catch(() => undefined);
          const message = `${this.#process.entry.name} did not answer within ${timeoutMs} ms`;
          throw new ConnectionError("timeout", message);
        }
        filter.activated();
        this.#inner = session;
        this.#owner = launched;
        this.isTaken = false;
        return session;
      });
    try {
      return await attempt(setupTimeoutMs);
    } catch (error) {
      const problem = problemOf(error);
      if (problem.kind !== "timeout") throw error;
      onEvent?.({ kind: "retrying", problem, delayMs: 0, attempt: 1 });
      return attempt(2 * setupTimeoutMs);
    }
  }

  async #setUp(session: ClientSession): Promise<void> {
    const { mode, model, options } = this.#place.setup ?? this.#process.entry.setup ?? {};
    const setup = { ...optional({ mode, model }), options: { ...options, ...this.chosen } };
    this.problems = await applySetup(session, setup, this.#optionsBefore);
  }

  /** For whoever does not look at `setupProblems`. */
  reportProblems(): void {
    for (const { message } of this.problems) this.#process.options.onEvent?.({ kind: "warning", message });
  }
}
