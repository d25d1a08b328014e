// The conversation: its sessions, the one that is shown, the history, files, earlier prompts and drafts.

import { type HistoryOpener, historyOpener } from "../../live/history-opener.ts";
import type { LiveOptions } from "../../live/live-options.ts";
import type { SecretsLoader } from "../../settings/known-secrets.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { ChatSession } from "./chat-session.ts";
import type {
  AgentChoice,
  Conversation,
  ConversationEvent,
  ConversationSession,
  ExportFormat,
  FoundSession,
  SessionProblem,
  SessionTarget,
} from "./conversation.ts";
import { DraftFile } from "./draft-file.ts";
import { WorkspaceFiles } from "./find-files.ts";
import { modeWatch } from "./option-choices.ts";
import type { AgentLists } from "./other-agents.ts";
import { redactedTexts } from "./redacted-texts.ts";
import { SentPrompts } from "./sent-prompts.ts";
import type { TurnChanges } from "./session-turns.ts";

export interface ConversationOptions {
  readonly options: LiveOptions;
  readonly secrets: SecretsLoader;
  /** Finds out what a turn changed in a folder. */
  readonly changes?: ((session: ChangedSession) => TurnChanges) | undefined;
}

/** The session whose changes are followed. */
export interface ChangedSession {
  /** The key of the session. */
  readonly key: string;
  readonly roots: readonly string[];
  /** Whether it has turns from before this process. */
  readonly isContinued: boolean;
  /** Its id in the history, as soon as it has one. */
  readonly session: () => string | undefined;
  /** Shows a sentence to the user. */
  readonly notice: (text: string) => void;
}

/** Opens the first session, whose agent starts at once. */
export function startConversation(given: ConversationOptions): Conversation {
  return new ChatConversation(given);
}

class ChatConversation implements Conversation {
  readonly #given: ConversationOptions;
  readonly #history: HistoryOpener | undefined;
  readonly #listeners = new Set<(event: ConversationEvent) => void>();
  readonly #draft: DraftFile;
  readonly #redacted: ReturnType<typeof redactedTexts>;
  readonly #prompts: SentPrompts;
  readonly #files = new Map<string, WorkspaceFiles>();
  /** The sessions of agents that do not run. */
  #others: AgentLists = new Map();
  #sessions: readonly ChatSession[] = [];
  #current: ChatSession;
  #count = 0;
  /** The session from which one was chosen that has not been opened yet. */
  readonly #chosen = new Map<
    ConversationSession,
    { readonly from: ChatSession; readonly target: SessionTarget }
  >();
  /** The problem for which a copy was offered. */
  #offered: SessionProblem | undefined;
  readonly #leaving = new AbortController();
  #closing: Promise<void> | undefined;

  constructor(given: ConversationOptions) {
    this.#given = given;
    const { options, secrets } = given;
    this.#redacted = redactedTexts(secrets);
    if (options.keepsHistory)
      this.#history = historyOpener((text) => this.#current.notice("warning", text), secrets);
    this.#prompts = new SentPrompts(options.cwd, this.#history);
    this.#draft = new DraftFile(options.cwd, () => this.#unsent());
    const { kept } = this.#draft;
    this.#current = this.#begin(options);
    this.#current.draft = kept;
  }

  get current(): ConversationSession {
    return this.#current;
  }

  get sessions(): readonly ConversationSession[] {
    return this.#sessions;
  }

  async agents(): Promise<readonly AgentChoice[]> {
    const { agentChoices } = await import("./agent-choices.ts");
    return agentChoices((text) => this.#current.notice("warning", safeLine(text)));
  }

  async find(query: string, signal: AbortSignal): Promise<readonly FoundSession[]> {
    const { foundSessions } = await import("./found-sessions.ts");
    return foundSessions(query, this.#sessions, this.#history, signal, this.#others);
  }

  async askOthers(): Promise<readonly string[]> {
    const { askOtherAgents } = await import("./other-agents.ts");
    const running = new Set(this.#sessions.flatMap(({ host, agent }) => (host ? [agent.name] : [])));
    const warn = (text: string) => this.#current.notice("warning", safeLine(text));
    const { lists, problems } = await askOtherAgents(running, warn);
    this.#others = new Map([...this.#others, ...lists]);
    return problems;
  }

  open(target: SessionTarget): ConversationSession {
    const open = this.#openHere(target);
    const session = open ?? this.#begin(this.#optionsFor(target), forked(target), target.kind === "copy");
    if (open === undefined) this.#choose(session, target);
    this.show(session);
    return session;
  }

  show(session: ConversationSession): void {
    const shown = this.#sessions.find((each) => each === session);
    if (shown === undefined) throw new Error("this session is not open in this conversation");
    if (shown === this.#current) return;
    this.#current = shown;
    this.#emit({ kind: "shown", session: shown });
  }

  async exported(target: SessionTarget, format: ExportFormat): Promise<string> {
    const open = this.#openHere(target);
    if (open !== undefined) return open.exported(format);
    const { exportedSession } = await import("./open-hosted.ts");
    const session = { ...this.#given, history: this.#history };
    return exportedSession(target.kind === "kept" ? target.id : undefined, session, format);
  }

  async findFiles(query: string, signal: AbortSignal): Promise<readonly string[]> {
    const { cwd } = this.#current;
    const files = this.#files.get(cwd) ?? new WorkspaceFiles(cwd);
    this.#files.set(cwd, files);
    return files.find(query, signal);
  }

  prompts(query = ""): Promise<readonly string[]> {
    return this.#prompts.find(query);
  }

  onEvent(listener: (event: ConversationEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.#leaving.abort();
      this.#draft.close();
      await Promise.allSettled(this.#sessions.map((session) => session.close()));
      await this.#history?.close();
    })();
    return this.#closing;
  }

  #begin(options: LiveOptions, forks?: ChatSession, copies = false): ChatSession {
    const { secrets, changes } = this.#given;
    const key = `session-${++this.#count}`;
    const watchMode = modeWatch();
    const session: ChatSession = new ChatSession({
      key,
      options,
      secrets,
      history: this.#history,
      forks,
      copies,
      changes: (cwd, isContinued) =>
        changes?.({
          key,
          isContinued,
          roots: [cwd, ...options.extraRoots],
          session: () => session.historyId,
          notice: (text) => session.notice("info", text),
        }),
      emit: (event) => {
        this.#emit(event);
        watchMode(session);
      },
      redacted: this.#redacted,
      unsentChanged: () => this.#draft.changed(),
      sent: (text) => this.#prompts.add(text),
    });
    this.#sessions = [...this.#sessions, session];
    // after the first paint
    setImmediate(() => void session.start());
    return session;
  }

  #emit(event: ConversationEvent): void {
    const phase = event.kind === "state" ? event.session.phase : undefined;
    if (phase === "closed") this.#forget(event.session);
    if (phase === "failed" && this.#goBack(event.session)) return;
    if (phase === "ready") this.#opened(event.session);
    for (const listener of this.#listeners) listener(event);
    if (phase === "failed") this.#offerOwnCopy(event.session);
  }

  /** What was written for a session that could not be opened is for this one. */
  #choose(session: ChatSession, target: SessionTarget): void {
    const from = this.#current;
    this.#chosen.set(session, { from, target });
    if (from.phase !== "failed") return;
    session.draft = from.draft;
    from.draft = "";
  }

  /** One that could not be opened ends when there is another. */
  #opened(session: ConversationSession): void {
    const { from } = this.#chosen.get(session) ?? {};
    this.#chosen.delete(session);
    if (from?.phase === "failed") void from.close();
  }

  /** Closes a session that was chosen and could not be opened, and shows the one before it. */
  #goBack(failed: ConversationSession): boolean {
    const { from, target } = this.#chosen.get(failed) ?? {};
    this.#chosen.delete(failed);
    if (from === undefined || !this.#sessions.includes(from) || this.#closing !== undefined) return false;
    const { problem, queue, draft } = failed;
    from.draft = [from.draft, ...queue.map(({ text }) => text), draft]
      .filter((text) => text.trim() !== "")
      .join("\n\n");
    if (this.#current === failed) this.show(from);
    const [message = "it could not be opened", ...more] = [
      problem?.message,
      problem?.stderr,
      problem?.hint,
    ].filter((text) => text !== undefined);
    void failed.close();
    if (problem?.isInUse === true && target?.kind === "kept") void this.#offerCopy(from, target.id, message);
    else from.notice("error", [message, ...more].join("\n"));
    return true;
  }

  /** Of a session that is in use elsewhere. */
  async #offerCopy(from: ChatSession, id: string, why: string): Promise<void> {
    const { signal } = this.#leaving;
    if (await from.asked.confirm([why], "Open a copy of it?", signal)) this.open({ kind: "copy", id });
  }

  /** The first session may be in use, too. It is said once. */
  #offerOwnCopy({ problem }: ConversationSession): void {
    const { isInUse, historyId } = problem ?? {};
    if (isInUse !== true || historyId === undefined || problem === this.#offered) return;
    this.#offered = problem;
    void this.#offerCopy(
      this.#current,
      historyId,
      "A copy has the whole conversation, and does not change the original.",
    );
  }

  #forget(closed: ConversationSession): void {
    if (this.#closing === undefined && this.#sessions.length > 1)
      this.#sessions = this.#sessions.filter((each) => each !== closed);
    const [last = this.#current] = this.#sessions.slice(-1);
    if (closed === this.#current && last !== closed) this.show(last);
  }

  #unsent(): string {
    const texts = this.#sessions.flatMap(({ unsent }) => unsent);
    return texts.filter((text) => text.trim() !== "").join("\n\n");
  }

  /** One that is open already. */
  #openHere(target: SessionTarget): ChatSession | undefined {
    return this.#sessions.find(
      (each) =>
        (target.kind === "live" && each === target.session) ||
        (target.kind === "kept" && each.historyId === target.id) ||
        (target.kind === "listed" && each.sessionId === target.sessionId && each.agent.name === target.agent),
    );
  }

  #optionsFor(target: SessionTarget): LiveOptions {
    const { options } = this.#given;
    const again = { ...options, session: undefined, isContinued: false };
    // mode, model and options were typed for another agent
    const other = { ...again, command: [], address: undefined, mode: undefined, model: undefined, set: [] };
    switch (target.kind) {
      case "kept":
      case "copy":
        return { ...other, agent: undefined, session: target.id, isCwdGiven: false };
      case "listed":
        return {
          ...other,
          agent: target.agent,
          session: target.sessionId,
          cwd: target.cwd,
          isCwdGiven: true,
        };
      case "new": {
        const { agent, cwd = this.#current.cwd } = target;
        const isSame = agent === undefined || agent === options.agent;
        return { ...(isSame ? again : { ...other, agent }), cwd, isCwdGiven: true };
      }
      case "fork":
        return { ...again, cwd: target.of.cwd };
      default:
        return again;
    }
  }
}

/** The session to copy. */
function forked(target: SessionTarget): ChatSession | undefined {
  return target.kind === "fork" && target.of instanceof ChatSession ? target.of : undefined;
}
