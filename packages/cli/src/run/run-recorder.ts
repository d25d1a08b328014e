// The history of a run. It is loaded and opened while the agent starts, and is never a reason to stop.

import type { Entry } from "@parley/acp";
import type { BegunSession, History, HistorySession, LiveRecorder } from "@parley/client/history";
import type { RunSecrets } from "../printers/redacting-printer.ts";
import { historyPath } from "../sessions/open-history.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { busySession, isBusy } from "./busy-session.ts";
import type { RunTarget } from "./run-target.ts";

export class RunHistory {
  readonly #notice: (text: string) => void;
  readonly #secrets: RunSecrets;
  #opening: Promise<History> | undefined;
  /** Why a name cannot be used: another process has just begun a session of it. */
  #busy: unknown;

  constructor(notice: (text: string) => void, secrets: RunSecrets) {
    this.#notice = notice;
    this.#secrets = secrets;
  }

  /** Loads it, and opens its file in the meantime. */
  open(): Promise<History> {
    this.#opening ??= Promise.all([import("@parley/client/history"), this.#secrets()]).then((loaded) => {
      const [{ openHistory }, secrets] = loaded;
      const failed = (error: unknown) => this.#failed(error);
      const history = openHistory({ path: historyPath(), secrets, failed });
      // whoever writes is told why not
      history.open().catch(() => undefined);
      return history;
    });
    return this.#opening;
  }

  /** The target is asked for when the session begins: by then the agent has said what it knows. */
  recorder(target: () => RunTarget, name: string | undefined): RunRecorder {
    return new RunRecorder(async () => {
      const [history, { liveRecorder }] = await Promise.all([this.open(), import("@parley/client/history")]);
      const { agent, known, listed } = target();
      const failed = (error: unknown) => this.#failed(error);
      const isNamed = known === undefined && listed === undefined;
      const called = isNamed ? { name } : { title: listed?.title };
      return liveRecorder(history, { agent, known, ...called, failed });
    });
  }

  /** Throws a RunError while another process is in the session: two conversations would not know of one another. */
  async claim({ id, name }: HistorySession): Promise<void> {
    try {
      await (await this.open()).claim(id);
    } catch (error) {
      if (isBusy(error)) throw busySession(name ?? id, error);
      // whoever writes is told
    }
  }

  /** Throws a RunError where another process has just begun a session of this name. */
  checkNew(name: string): void {
    if (this.#busy !== undefined) throw busySession(name, this.#busy);
  }

  /** A session in which nothing was ever asked is no history. */
  async forget(id: string): Promise<void> {
    // not what another process has begun
    if (this.#busy !== undefined) return;
    await (await this.#opening)?.delete(id).catch((error: unknown) => this.#failed(error));
  }

  async close(): Promise<void> {
    await (await this.#opening)?.close();
  }

  #failed(error: unknown): void {
    if (isBusy(error)) {
      this.#busy = error;
      return;
    }
    const why = error instanceof Error ? error.message : String(error);
    this.#notice(`this session is not kept in the history: ${safeLine(why)}`);
  }
}

/** A recorder that is there before what it needs is loaded. */
export class RunRecorder {
  readonly #load: () => Promise<LiveRecorder>;
  readonly #early: Entry[] = [];
  #loading: Promise<LiveRecorder> | undefined;
  #recorder: LiveRecorder | undefined;

  constructor(load: () => Promise<LiveRecorder>) {
    this.#load = load;
  }

  /** In the history; undefined where nothing can be recorded. */
  async id(): Promise<string | undefined> {
    return (await this.#loading)?.id;
  }

  /** When it is known whether the session can be recorded. */
  async ready(): Promise<void> {
    await (await this.#loading)?.ready();
  }

  begin(session: BegunSession): void {
    this.#loading ??= this.#load();
    this.#loading = this.#loading.then((recorder) => {
      recorder.begin(session);
      for (const entry of this.#early.splice(0)) recorder.entry(session.sessionId, entry);
      this.#recorder = recorder;
      return recorder;
    });
  }

  entry(sessionId: string, entry: Entry): void {
    if (this.#recorder === undefined) this.#early.push(entry);
    else this.#recorder.entry(sessionId, entry);
  }

  async close(): Promise<void> {
    await (await this.#loading)?.close();
  }
}
