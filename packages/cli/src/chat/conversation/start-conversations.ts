// The conversation: its sessions, the one that is shown, the history, files, earlier prompts and drafts.

import {
  type Conversation,
  openConversation,
  type SessionLink,
  type SessionProblem,
} from "@parley/client/conversation";
import type { TurnChanges } from "@parley/client/host";
import { type SessionBranches, SessionHost } from "@parley/client/internal";
import { agentFacts } from "../../live/agent-facts.ts";
import { type HistoryOpener, historyOpener } from "../../live/history-opener.ts";
import type { LiveOptions } from "../../live/live-options.ts";
import type { SecretsLoader } from "../../settings/known-secrets.ts";
import { safeLine, safeText } from "../../terminal/sanitise.ts";
import type {
  AgentChoice,
  ConversationEvent,
  Conversations,
  ExportFormat,
  FoundSession,
  SessionTarget,
} from "./conversations.ts";
import { DraftFile } from "./draft-file.ts";
import { WorkspaceFiles } from "./find-files.ts";
import type { Opening } from "./open-hosted.ts";
import { modeWatch } from "./option-choices.ts";
import type { AgentLists } from "./other-agents.ts";
import { redactedTexts } from "./redacted-texts.ts";
import { SentPrompts } from "./sent-prompts.ts";
import { type RunningSession, sessionBranches } from "./session-branches.ts";
import { userShell } from "./user-shells.ts";

export interface ConversationOptions {
  readonly options: LiveOptions;
  readonly secrets: SecretsLoader;
  /** The link to a host. Default: the host itself, which runs in this process. */
  readonly link?: ((host: SessionHost) => SessionLink) | undefined;
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

/** From what a session begins. */
interface Origin extends Pick<Opening, "forks" | "branch" | "like"> {
  readonly copies?: boolean;
  /** The title that is given to it. */
  readonly title?: string | undefined;
}

/** Opens the first session, whose agent starts at once. */
export function startConversations(given: ConversationOptions): Conversations {
  return new ChatConversations(given);
}

class ChatConversations implements Conversations {
  readonly #given: ConversationOptions;
  readonly #history: HistoryOpener | undefined;
  readonly #listeners = new Set<(event: ConversationEvent) => void>();
  readonly #draft: DraftFile;
  readonly #redacted: ReturnType<typeof redactedTexts>;
  readonly #prompts: SentPrompts;
  readonly #files = new Map<string, WorkspaceFiles>();
  /** The sessions of agents that do not run. */
  #others: AgentLists = new Map();
  #sessions: readonly RunningSession[] = [];
  #current: RunningSession;
  #count = 0;
  /** The session from which one was chosen that has not been opened yet. */
  readonly #chosen = new Map<
    Conversation,
    { readonly from: RunningSession; readonly target: SessionTarget }
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
      this.#history = historyOpener((text) => this.#current.host.notice("warning", text), secrets);
    this.#prompts = new SentPrompts(options.cwd, this.#history);
    this.#draft = new DraftFile(options.cwd, () => this.#unsent());
    const { kept } = this.#draft;
    this.#current = this.#begin(options);
    this.#current.shown.draft = kept;
  }

  get current(): Conversation {
    return this.#current.shown;
  }

  get sessions(): readonly Conversation[] {
    return this.#sessions.map(({ shown }) => shown);
  }

  async agents(): Promise<readonly AgentChoice[]> {
    const { agentChoices } = await import("./agent-choices.ts");
    return agentChoices((text) => this.#current.host.notice("warning", text));
  }

  async find(query: string, signal: AbortSignal): Promise<readonly FoundSession[]> {
    const { foundSessions } = await import("./found-sessions.ts");
    return foundSessions(query, this.#sessions, this.#history, signal, this.#others);
  }

  async askOthers(): Promise<readonly string[]> {
    const { askOtherAgents } = await import("./other-agents.ts");
    const running = new Set(
      this.#sessions.flatMap(({ host, shown }) => (host.agent ? [shown.agent.name] : [])),
    );
    const warn = (text: string) => this.#current.host.notice("warning", text);
    const { lists, problems } = await askOtherAgents(running, warn);
    this.#others = new Map([...this.#others, ...lists]);
    return problems;
  }

  open(target: SessionTarget): Conversation {
    const open = this.#openHere(target);
    const session = open ?? this.#begin(this.#optionsFor(target), this.#origin(target));
    if (open === undefined) this.#choose(session, target);
    this.show(session.shown);
    return session.shown;
  }

  show(session: Conversation): void {
    const running = this.#sessions.find(({ shown }) => shown === session);
    if (running === undefined) throw new Error("this session is not open in this conversation");
    if (running === this.#current) return;
    this.#current = running;
    this.#emit({ kind: "shown", session });
  }

  async exported(target: SessionTarget, format: ExportFormat): Promise<string> {
    const open = this.#openHere(target)?.host;
    await open?.stored();
    const { exportedSession } = await import("./open-hosted.ts");
    const id = target.kind === "kept" ? target.id : open?.historyId;
    return exportedSession(id, { ...this.#given, history: this.#history }, format);
  }

  async findFiles(query: string, signal: AbortSignal): Promise<readonly string[]> {
    const { cwd } = this.current;
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
      await Promise.allSettled(this.#sessions.map(({ host }) => host.close()));
      await this.#history?.close();
    })();
    return this.#closing;
  }

  #begin(options: LiveOptions, origin: Origin = {}): RunningSession {
    const { secrets, changes, link } = this.#given;
    const { forks, branch, like, copies = false } = origin;
    const key = `session-${++this.#count}`;
    const watchMode = modeWatch();
    const opening = { options, secrets, history: this.#history, forks, branch, like, copies };
    const initial = {
      cwd: options.cwd,
      agent: (forks ?? branch?.of ?? like)?.agent?.facts ?? agentFacts(options, undefined),
      title: origin.title,
    };
    const host: SessionHost = new SessionHost({
      ...initial,
      setsTitle: forks !== undefined || copies || origin.title !== undefined,
      keepsId: !copies,
      branches: this.#branches,
      // the only conversation in this process is never cut
      ...(link === undefined && { keptChars: 0 }),
      redacted: this.#redacted,
      async open(session, found) {
        // loaded after the first paint
        const { openHosted } = await import("./open-hosted.ts");
        return openHosted(session, opening, found);
      },
      problem: async (error) => (await import("./session-problem.ts")).sessionProblem(error),
      changes: (cwd, isContinued) =>
        changes?.({
          key,
          isContinued,
          roots: [cwd, ...options.extraRoots],
          session: () => host.historyId,
          notice: (text) => host.notice("info", text),
        }),
      changed: (session) => watchMode(session),
    });
    const shown = openConversation(link?.(host) ?? host, {
      key,
      isFirst: true,
      initial,
      safe: { line: safeLine, text: safeText },
      runShell: userShell(),
      onUnsent: () => this.#draft.changed(),
      onSent: (text) => this.#prompts.add(text),
      onError: (error) => host.notice("error", error instanceof Error ? error.message : String(error)),
    });
    const running = { host, shown };
    this.#sessions = [...this.#sessions, running];
    shown.onEvent((event) => this.#emit({ ...event, session: shown }));
    // after the first paint
    setImmediate(() => void host.start());
    return running;
  }

  /** Where rewinds go. */
  get #branches(): SessionBranches {
    const history = this.#history;
    return sessionBranches({
      history,
      begin: (of, point) =>
        this.#begin(
          { ...this.#optionsFor({ kind: "kept", id: "" }), session: undefined, cwd: point.cwd },
          { branch: { of, point }, title: point.title },
        ),
      open: ({ historyId, sessionId }) =>
        this.#sessions.find(
          ({ shown }) =>
            (historyId !== undefined && shown.historyId === historyId) ||
            (sessionId !== undefined && shown.sessionId === sessionId),
        ) ?? this.#begin(this.#optionsFor({ kind: "kept", id: historyId ?? "" })),
    });
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
  #choose({ shown }: RunningSession, target: SessionTarget): void {
    const from = this.#current;
    this.#chosen.set(shown, { from, target });
    if (from.shown.phase !== "failed") return;
    shown.draft = from.shown.draft;
    from.shown.draft = "";
  }

  /** One that could not be opened ends when there is another. */
  #opened(session: Conversation): void {
    const { from } = this.#chosen.get(session) ?? {};
    this.#chosen.delete(session);
    if (from?.shown.phase === "failed") void from.host.close();
  }

  /** Closes a session that was chosen and could not be opened, and shows the one before it. */
  #goBack(failed: Conversation): boolean {
    const { from, target } = this.#chosen.get(failed) ?? {};
    this.#chosen.delete(failed);
    if (from === undefined || !this.#sessions.includes(from) || this.#closing !== undefined) return false;
    const { problem, unsent } = failed;
    from.shown.draft = [from.shown.draft, ...unsent].filter((text) => text.trim() !== "").join("\n\n");
    if (this.current === failed) this.show(from.shown);
    const [message = "it could not be opened", ...more] = [
      problem?.message,
      problem?.stderr,
      problem?.hint,
    ].filter((text) => text !== undefined);
    void failed.close();
    if (problem?.isInUse === true && target?.kind === "kept") void this.#offerCopy(from, target.id, message);
    else from.host.notice("error", [message, ...more].join("\n"));
    return true;
  }

  /** Of a session that is in use elsewhere. */
  async #offerCopy(from: RunningSession, id: string, why: string): Promise<void> {
    const { signal } = this.#leaving;
    if (await from.host.asked.confirm([why], "Open a copy of it?", signal)) this.open({ kind: "copy", id });
  }

  /** The first session may be in use, too. It is said once. */
  #offerOwnCopy({ problem }: Conversation): void {
    const { isInUse, historyId } = problem ?? {};
    if (isInUse !== true || historyId === undefined || problem === this.#offered) return;
    this.#offered = problem;
    void this.#offerCopy(
      this.#current,
      historyId,
      "A copy has the whole conversation, and does not change the original.",
    );
  }

  #forget(closed: Conversation): void {
    if (this.#closing === undefined && this.#sessions.length > 1)
      this.#sessions = this.#sessions.filter(({ shown }) => shown !== closed);
    const [last = this.#current] = this.#sessions.slice(-1);
    if (closed === this.current && last.shown !== closed) this.show(last.shown);
  }

  #unsent(): string {
    const texts = this.#sessions.flatMap(({ shown }) => shown.unsent);
    return texts.filter((text) => text.trim() !== "").join("\n\n");
  }

  /** One that is open already. */
  #openHere(target: SessionTarget): RunningSession | undefined {
    return this.#sessions.find(
      ({ shown }) =>
        (target.kind === "live" && shown === target.session) ||
        (target.kind === "kept" && shown.historyId === target.id) ||
        (target.kind === "listed" &&
          shown.sessionId === target.sessionId &&
          shown.agent.name === target.agent),
    );
  }

  /** The session from which another one begins. */
  #origin(target: SessionTarget): Origin {
    if (target.kind === "copy") return { copies: true };
    if (target.kind !== "fork" && target.kind !== "like") return {};
    const of = this.#sessions.find(({ shown }) => shown === target.of);
    if (target.kind === "like") return { like: of?.host };
    const title = of?.shown.title;
    return { forks: of?.host, title: title === undefined ? undefined : `${title} (copy)` };
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
        const { agent, cwd = this.current.cwd } = target;
        const isSame = agent === undefined || agent === options.agent;
        return { ...(isSame ? again : { ...other, agent }), cwd, isCwdGiven: true };
      }
      case "fork":
      case "like":
        return { ...again, cwd: target.of.cwd };
      default:
        return again;
    }
  }
}
