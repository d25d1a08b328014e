// Records sessions into the history, across restarts of their agents, without ever delaying them.

import { type ContentBlock, type Entry, textOf } from "@parley/acp";
import { noticeEntry } from "@parley/acp/extensions";
import { optional } from "@parley/acp/jsonrpc";
import type { EntryBody, LogWriter } from "@parley/acp/store";
import type { Rule } from "../rules/rule.ts";
import type { HistoryFile } from "./history-file.ts";
import { type HistoryAgent, type HistorySession, sessionId } from "./history-record.ts";
import { importedEntries } from "./imported-entries.ts";
import type { RecordedEntries } from "./recorded-entries.ts";
import { grantBody, type SessionGrant } from "./session-grants.ts";

const titleLength = 80;

/** The facts of a session when it begins. */
export interface BegunSession {
  readonly sessionId: string;
  readonly cwd: string;
  readonly how?: "new" | "loaded" | "resumed";
  /** The agent's id of the session that it replaces. */
  readonly replaces?: string;
  /** The agent's id of the session of which it is a copy. */
  readonly forks?: string;
  /** The last entry in the history that it has of that session. Default: all. */
  readonly atSeq?: number;
  /** What the agent has replayed of it. */
  readonly replayed?: readonly Entry[];
}

/** How a session is recorded. */
export interface RecordingOptions {
  readonly agent: HistoryAgent;
  /** The name that the user gave the session. */
  readonly name?: string | undefined;
  /** The title of the agent. Default: the first prompt. */
  readonly title?: string | undefined;
  /** The proxies in front of the agent. Default: those of the session that is continued. */
  readonly proxies?: readonly string[] | undefined;
  /** The session to continue. */
  readonly known?: HistorySession | undefined;
  /** Waits until the session of which this is a copy is stored, and returns its id. */
  readonly original?: (() => Promise<string | undefined>) | undefined;
  /** Deletes a new session at its end if no prompt was sent. */
  readonly dropsUnused?: boolean;
  /** Called once if nothing more can be recorded. The session itself continues. */
  failed(error: unknown): void;
}

/** Records one session. Entries that come before the history is open are kept until then. */
export class SessionRecording {
  readonly #open: () => Promise<HistoryFile>;
  readonly #options: RecordingOptions;
  #id: string | undefined;
  #problem: unknown;
  #opening: Promise<void> | undefined;
  #early: Entry[] | undefined = [];
  #history: HistoryFile | undefined;
  #recorded: RecordedEntries | undefined;
  #writer: LogWriter | undefined;
  #title: string | undefined;
  #hasPrompt = false;

  /** `open` is called when the session begins. */
  constructor(open: () => Promise<HistoryFile>, options: RecordingOptions) {
    this.#open = open;
    this.#options = options;
  }

  /** The id in the history, once the session has begun. It is known before anything is stored. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Why nothing is recorded. */
  get problem(): unknown {
    return this.#problem;
  }

  /** Call it when the session has begun, or when the agent has another id for it. */
  begin(session: BegunSession): void {
    const { agent, name, known } = this.#options;
    this.#id ??= known?.id ?? sessionId(agent, session.cwd, name);
    const id = this.#id;
    const begun =
      this.#opening?.then(() => this.#history?.renamed(this.#id ?? id, session.sessionId)) ??
      this.#begin(session, id);
    this.#opening = begun.catch((error: unknown) => this.#fail(error));
  }

  entry(entry: Entry): void {
    if (this.#problem !== undefined) return;
    if (this.#early !== undefined) this.#early.push(entry);
    else for (const body of this.#recorded?.next(entry) ?? []) this.#append(body);
  }

  /** Keeps an answer for the session. `workspace` is where it holds. */
  granted(rule: Rule, workspace: SessionGrant["workspace"]): void {
    if (this.#id === undefined) return;
    this.entry({ format: 1, seq: 0, time: Date.now(), ...grantBody(rule, this.#id, workspace) });
  }

  /** Resolves when it is known whether the session can be recorded. */
  async ready(): Promise<void> {
    await this.#opening;
  }

  /** Resolves when everything so far is stored. */
  async stored(): Promise<void> {
    await this.#opening;
    await this.#writer?.flush().catch((error: unknown) => this.#fail(error));
  }

  async close(): Promise<void> {
    await this.#opening;
    for (const body of this.#recorded?.end() ?? []) this.#append(body);
    await this.#writer?.close().catch((error: unknown) => this.#fail(error));
    const isUnused = this.#options.dropsUnused === true && !this.#hasPrompt && this.#problem === undefined;
    if (isUnused && this.#id !== undefined)
      await this.#history?.delete(this.#id).catch((error: unknown) => this.#fail(error));
  }

  async #begin(session: BegunSession, id: string): Promise<void> {
    const { agent, name, title, known, original, proxies } = this.#options;
    const history = await this.#open();
    this.#history = history;
    const isOld = session.how === "loaded" || session.how === "resumed";
    const old = known ?? (isOld ? await history.ofAgent(agent, session.sessionId) : undefined);
    this.#id = old?.id ?? id;
    const recorded = history.recorded();
    const fail = (error: unknown) => {
      if (this.#problem === undefined) history.failed?.(error);
      this.#fail(error);
    };
    const made = { agent, id, agentSessionId: session.sessionId, cwd: session.cwd, ...optional({ proxies }) };
    const names = optional({ name: name || undefined, title: title || undefined });
    const copied = optional({ forks: await original?.(), atSeq: session.atSeq });
    const writer =
      old === undefined
        ? await history.begin({ ...made, ...names, ...copied }, fail)
        : await history.resume(old.id, { agentSessionId: session.sessionId, ...optional({ proxies }) }, fail);
    this.#writer = writer;
    this.#recorded = recorded;
    this.#title = old?.title ?? title;
    const { replayed = [] } = session;
    const clean = history.recorded();
    const again = [...replayed.flatMap((entry) => clean.next(entry)), ...clean.end()];
    for (const body of await importedEntries(again, history.recent(this.#id))) {
      this.#append(body);
      // `imported` counts them: none is joined with the next
      writer.mark();
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const entry of early) this.entry(entry);
  }

  #append(body: EntryBody): void {
    const writer = this.#writer;
    if (writer === undefined || this.#problem !== undefined) return;
    writer.append(body);
    if (body.kind === "update") {
      const { update } = body;
      if (update.sessionUpdate !== "session_info_update") return;
      const title = update.title?.trim();
      if (title) this.#setTitle(title);
      return;
    }
    if (body.kind === "imported" || (body.kind === "extension" && body.name === noticeEntry)) return;
    if (body.kind === "prompt") this.#noteUse(body.prompt);
    else if (body.kind === "result") writer.patch({});
    // what a user did is stored at once, and so is the end of a turn
    const isSynced = body.kind !== "ask";
    writer.flush({ isSynced }).catch((error: unknown) => this.#fail(error));
  }

  #noteUse(prompt: readonly ContentBlock[]): void {
    this.#hasPrompt = true;
    const text = prompt.map((block) => textOf(block)).join(" ");
    const [line = ""] = text.trim().split("\n");
    if (this.#title !== undefined || line === "") this.#writer?.patch({});
    else this.#setTitle(line.length > titleLength ? `${line.slice(0, titleLength - 1)}…` : line);
  }

  #setTitle(title: string): void {
    this.#title = title;
    this.#writer?.patch({ title });
  }

  #fail(error: unknown): void {
    if (this.#problem !== undefined) return;
    this.#problem = error;
    // frees the memory: a session may continue for days
    this.#early = undefined;
    this.#options.failed(error);
  }
}

/** Records the sessions of an agent. `describe` is called for each session that does not continue a recorded one. */
export function recordSessions(
  open: () => Promise<HistoryFile>,
  describe: (session: BegunSession) => RecordingOptions | undefined,
) {
  const recordings = new Map<string, SessionRecording>();
  const closing = new Set<Promise<void>>();
  function close(recording: SessionRecording): void {
    const closed = recording.close().finally(() => closing.delete(closed));
    closing.add(closed);
  }
  return {
    /** The recording of a session, by the agent's id of it. */
    of: (agentSessionId: string): SessionRecording | undefined => recordings.get(agentSessionId),
    /** The id in the history of one of the agent's sessions, when everything of it is stored. */
    async historyOf(agent: HistoryAgent, agentSessionId: string): Promise<string | undefined> {
      const recording = recordings.get(agentSessionId);
      await recording?.stored();
      return recording?.id ?? (await (await open()).ofAgent(agent, agentSessionId))?.id;
    },
    begin(session: BegunSession): void {
      const { sessionId: agentSessionId, replaces = agentSessionId } = session;
      let recording = recordings.get(replaces);
      if (recording === undefined) {
        const options = describe(session);
        if (options === undefined) return;
        recording = new SessionRecording(open, options);
      }
      recordings.delete(replaces);
      recordings.set(agentSessionId, recording);
      recording.begin(session);
    },
    entry: (agentSessionId: string, entry: Entry): void => recordings.get(agentSessionId)?.entry(entry),
    ended(agentSessionId: string): void {
      const recording = recordings.get(agentSessionId);
      recordings.delete(agentSessionId);
      if (recording !== undefined) close(recording);
    },
    async finish(): Promise<void> {
      for (const recording of new Set(recordings.values())) close(recording);
      recordings.clear();
      await Promise.all(closing);
    },
  };
}
