// Records a run in the history, which opens while the agent starts. A failure never stops the run.

import type { Entry } from "@parley/acp";
import type { HistorySession } from "@parley/client/history";
import {
  type BegunSession,
  type ManagedRecorder,
  managedRecorder,
  type RecordingHistory,
  recordingHistory,
} from "@parley/client/internal";
import type { RunSecrets } from "../printers/run-printer.ts";
import { historyPath } from "../sessions/stored-sessions.ts";
import { safeLine } from "../terminal/sanitise.ts";
import type { RunTarget } from "./run-target.ts";
import { busySession, isBusy } from "./start-session.ts";

export class RunHistory {
  readonly #notice: (text: string) => void;
  readonly #secrets: RunSecrets;
  #opening: Promise<RecordingHistory> | undefined;
  /** The error if another process has just started a session of this name. */
  #busy: unknown;

  constructor(notice: (text: string) => void, secrets: RunSecrets) {
    this.#notice = notice;
    this.#secrets = secrets;
  }

  /** Loads the history and begins to open its file. */
  open(): Promise<RecordingHistory> {
    this.#opening ??= Promise.all([import("@parley/client/history"), this.#secrets()]).then((loaded) => {
      const [{ openHistory }, secrets] = loaded;
      const failed = (error: unknown) => this.#failed(error);
      const history = recordingHistory(openHistory({ path: historyPath(), secrets, failed }));
      // writes report the failure
      history.open().catch(() => undefined);
      return history;
    });
    return this.#opening;
  }

  /** `target` is called when the session starts, after it was looked up at the agent. */
  recorder(target: () => RunTarget, name: string | undefined): RunRecorder {
    return new RunRecorder(async () => {
      const history = await this.open();
      const { agent, known, listed } = target();
      const failed = (error: unknown) => this.#failed(error);
      const isNamed = known === undefined && listed === undefined;
      const names = isNamed ? { name } : { title: listed?.title };
      return managedRecorder(history, { agent, known, ...names, failed });
    });
  }

  /** Throws a RunError if another process uses the session. */
  async claim({ id, name }: HistorySession): Promise<void> {
    try {
      await (await this.open()).claim(id);
    } catch (error) {
      if (isBusy(error)) throw busySession(name ?? id, error);
      // writes report the failure
    }
  }

  /** Throws a RunError if another process has just started a session of this name. */
  checkNew(name: string): void {
    if (this.#busy !== undefined) throw busySession(name, this.#busy);
  }

  /** Deletes a session without any prompt. */
  async delete(id: string): Promise<void> {
    // it belongs to another process
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
    const reason = error instanceof Error ? error.message : String(error);
    this.#notice(`cannot store this session in the history: ${safeLine(reason)}`);
  }
}

/** Buffers entries until the history is loaded. */
export class RunRecorder {
  readonly #load: () => Promise<ManagedRecorder>;
  readonly #early: Entry[] = [];
  #loading: Promise<ManagedRecorder> | undefined;
  #recorder: ManagedRecorder | undefined;

  constructor(load: () => Promise<ManagedRecorder>) {
    this.#load = load;
  }

  /** The id in the history; undefined if nothing is recorded. */
  async id(): Promise<string | undefined> {
    return (await this.#loading)?.id;
  }

  /** Resolves when it is known whether the session can be recorded. */
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
