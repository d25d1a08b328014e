// Records sessions in the history, which opens while the agent starts. A failure never stops the work.

import type { Entry } from "@parley/acp";
import type { HistorySession } from "@parley/client/history";
import type { BegunSession, ManagedRecorder, RecordingHistory } from "@parley/client/internal";
import { historyPath } from "../settings/data-folder.ts";
import type { SecretsLoader } from "../settings/known-secrets.ts";
import { safeLine } from "../terminal/sanitise.ts";
import type { AgentTarget } from "./agent-target.ts";
import { busySession, isBusy } from "./live-error.ts";

export class LiveHistory {
  readonly #notice: (text: string) => void;
  readonly #secrets: SecretsLoader;
  #opening: Promise<RecordingHistory> | undefined;
  /** The error if another process has just started a session of this name. */
  #busy: unknown;

  constructor(notice: (text: string) => void, secrets: SecretsLoader) {
    this.#notice = notice;
    this.#secrets = secrets;
  }

  /** Loads the history and begins to open its file. */
  open(): Promise<RecordingHistory> {
    this.#opening ??= Promise.all([import("./recording.ts"), this.#secrets()]).then((loaded) => {
      const [{ openHistory, recordingHistory }, secrets] = loaded;
      const failed = (error: unknown) => this.#failed(error);
      const history = recordingHistory(openHistory({ path: historyPath(), secrets, failed }));
      // writes report the failure
      history.open().catch(() => undefined);
      return history;
    });
    return this.#opening;
  }

  /** `target` is called when the session starts, after it was looked up at the agent. */
  recorder(
    target: () => AgentTarget,
    name: string | undefined,
    /** Finds the session of which it is a copy. */
    original?: () => Promise<string | undefined>,
  ): LiveRecorder {
    let isNew = false;
    return new LiveRecorder(
      async () => {
        const [history, { managedRecorder }] = await Promise.all([this.open(), import("./recording.ts")]);
        const { agent, known, listed } = target();
        isNew = known === undefined && original === undefined;
        const failed = (error: unknown) => this.#failed(error);
        const isNamed = known === undefined && listed === undefined;
        const names = isNamed ? { name } : { title: listed?.title };
        return managedRecorder(history, { agent, known, ...names, original, failed });
      },
      async (id) => {
        if (isNew) await this.#delete(id);
      },
    );
  }

  /** Throws a LiveError with its id if another process uses the session. */
  async claim({ id, name }: HistorySession, takesOver = false): Promise<void> {
    try {
      await (await this.open()).claim(id);
    } catch (error) {
      if (isBusy(error)) throw Object.assign(busySession(name ?? id, error, { takesOver }), { session: id });
      // writes report the failure
    }
  }

  /** Throws a LiveError if another process has just started a session of this name. */
  checkNew(name: string): void {
    if (this.#busy !== undefined) throw busySession(name, this.#busy);
  }

  /** Deletes a session without any prompt. */
  async #delete(id: string): Promise<void> {
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
export class LiveRecorder {
  readonly #load: () => Promise<ManagedRecorder>;
  readonly #unused: (id: string) => Promise<void>;
  readonly #early: Entry[] = [];
  #hasPrompt = false;
  #loading: Promise<ManagedRecorder> | undefined;
  #recorder: ManagedRecorder | undefined;

  /** `unused` is called at the end if no prompt was sent. */
  constructor(load: () => Promise<ManagedRecorder>, unused: (id: string) => Promise<void>) {
    this.#load = load;
    this.#unused = unused;
  }

  /** The id in the history; undefined if nothing is recorded. */
  async id(): Promise<string | undefined> {
    return (await this.#loading)?.id;
  }

  /** Resolves when it is known whether the session can be recorded. */
  async ready(): Promise<void> {
    await (await this.#loading)?.ready();
  }

  /** Resolves when everything so far is stored. */
  async stored(): Promise<void> {
    await (await this.#loading)?.stored();
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
    if (entry.kind === "prompt") this.#hasPrompt = true;
    if (this.#recorder === undefined) this.#early.push(entry);
    else this.#recorder.entry(sessionId, entry);
  }

  async close(): Promise<void> {
    const recorder = await this.#loading;
    await recorder?.close();
    if (!this.#hasPrompt && recorder?.id !== undefined) await this.#unused(recorder.id);
  }
}
