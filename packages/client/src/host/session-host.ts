// The authority over a session: it runs the agent, has the queue and the questions, and alone appends entries.

import type { Entry, SessionUpdate } from "@parley/acp";
import { noticeEntry, turnEntry } from "@parley/acp/extensions";
import type { JsonValue } from "@parley/acp/model";
import type { EntryBody } from "@parley/acp/store";
import type {
  CommandKind,
  CommandOf,
  Notice,
  OutcomeOf,
  SessionCommand,
  SessionLink,
  SessionProblem,
  SessionStatus,
  Tail,
  TailEvent,
  TurnSummary,
} from "../conversation/session-link.ts";
import { CommandKeys } from "./command-keys.ts";
import { gitBranch } from "./git-branch.ts";
import { HostQuestions } from "./host-questions.ts";
import { HostTails } from "./host-tails.ts";
import type { LateUpdates } from "./late-updates.ts";
import { Rewinds } from "./rewind.ts";
import type { KnownSession, OpenedSession, SessionAgent, SessionHostOptions } from "./session-agent.ts";
import { SessionEntries, stateTags } from "./session-entries.ts";
import { SessionTurns } from "./session-turns.ts";
import type { TurnChanges } from "./turn-changes.ts";
import { promptOf, type WaitingPrompt } from "./waiting-prompts.ts";

const defaultKeptChars = 8 * 1024 * 1024;

export class SessionHost implements SessionLink {
  readonly asked = new HostQuestions(() => this.#changed());
  readonly rewinds: Rewinds;
  readonly #given: SessionHostOptions;
  readonly #tails: HostTails;
  readonly #keys = new CommandKeys();
  readonly #turns: SessionTurns;
  readonly #entries: SessionEntries;
  #phase: SessionStatus["phase"] = "starting";
  #problem: SessionProblem | undefined;
  #progress: string | undefined;
  #agent: SessionAgent | undefined;
  #opened: OpenedSession | undefined;
  #historyId: string | undefined;
  #cwd: string;
  #branch: string | undefined;
  #title: string | undefined;
  #changes: TurnChanges | undefined;

  constructor(given: SessionHostOptions) {
    this.#given = given;
    this.#cwd = given.cwd;
    this.#title = given.title;
    this.#branch = gitBranch(this.#cwd);
    const { keptChars = defaultKeptChars } = given;
    this.#tails = new HostTails({ keptChars, hold: (isBehind) => this.#agent?.hold(isBehind) });
    this.#entries = new SessionEntries(this.#tails);
    this.#turns = new SessionTurns({
      changes: () => this.#changes,
      ready: () => {
        const { session } = this.#opened ?? {};
        const agent = this.#agent;
        const isReady =
          this.#phase === "ready" && !this.rewinds.isRunning && session !== undefined && agent !== undefined;
        return isReady ? { agent, session } : undefined;
      },
      changed: () => this.#changed(),
      waitedMs: () => this.asked.waitedMs,
      notice: (level, text) => this.notice(level, text),
      crashed: (error) => this.#failed("crashed", error),
      unanswered: (error, isShown) => {
        if (given.unanswered !== undefined) given.unanswered(error);
        else if (!isShown) this.notice("error", error instanceof Error ? error.message : String(error));
      },
      isOthers: given.isOthers,
      stored: (summary) => this.#turnStored(summary),
    });
    this.rewinds = new Rewinds(this, given.branches, {
      changes: () => this.#changes,
      turns: this.#turns,
      own: (body) => this.#own(body, this.#status),
    });
    this.#changed();
  }

  // ---- for conversations

  submit<Kind extends CommandKind>(command: CommandOf<Kind>): Promise<OutcomeOf<Kind>> {
    // as: a command of one kind is one of all, and its outcome is that of this kind
    return this.#keys.once(command, () => this.#carryOut(command as SessionCommand)) as Promise<
      OutcomeOf<Kind>
    >;
  }

  tail(cursor: string | undefined, listener: (event: TailEvent) => void): Tail {
    return this.#tails.tail(cursor, listener);
  }

  async #carryOut(command: SessionCommand): Promise<OutcomeOf<CommandKind>> {
    switch (command.kind) {
      case "prompt":
        this.#send(promptOf(command));
        break;
      case "steer":
        this.#checkOpen();
        return { how: await this.#turns.steer(promptOf(command)) };
      case "unqueue": {
        const input = this.#turns.unqueue(command.id);
        return input === undefined ? {} : { input };
      }
      case "move":
        this.#turns.move(command.id, command.by);
        break;
      case "tell":
        this.#turns.tell(command.told);
        break;
      case "cancel":
        if (command.isForced === true) await this.#turns.force();
        else this.#turns.cancel();
        break;
      case "answer":
        await this.asked.answer(command.questionId, command.answer);
        await this.stored();
        break;
      case "configure":
        await this.#configure(command.configId, command.value);
        break;
      case "rename":
        await this.rename(command.title);
        break;
      case "rewind":
      case "undoRewind":
        return this.rewinds.carryOut(command);
      case "restart":
        await this.#restart();
        break;
      case "show":
        this.ownUpdate(command.update);
        break;
      case "close":
        await this.close();
        break;
      default:
        throw new Error(`this host does not know the command ${JSON.stringify(command satisfies never)}`);
    }
    return {};
  }

  #send(prompt: WaitingPrompt): void {
    this.#checkOpen();
    this.#title ??= prompt.text.replaceAll(/\s+/g, " ").trim().slice(0, 80);
    this.#turns.send(prompt);
    if (this.#phase === "failed" || this.#phase === "crashed") void this.#restart();
  }

  async #configure(configId: string, value: JsonValue): Promise<void> {
    const { session } = this.#opened ?? {};
    if (session === undefined) throw new Error("the agent has not been started yet");
    await session.setConfigOption(configId, value);
    this.#changed();
  }

  async rename(title: string): Promise<void> {
    const { session, agent } = this.#opened ?? {};
    if (agent?.connection?.capabilities.setTitle === true) await session?.setTitle(title);
    this.ownUpdate({ sessionUpdate: "session_info_update", title });
  }

  async #restart(): Promise<void> {
    if (this.#phase === "failed") {
      // a second call finds it started
      this.#set("starting");
      await this.#agent?.leave(this);
      this.#agent = undefined;
      return this.start();
    }
    if (this.#phase !== "crashed") return;
    this.#set("starting");
    try {
      await this.#opened?.session.activate();
      this.#set("ready");
      this.#turns.pump();
    } catch (error) {
      await this.#failed("crashed", error);
    }
  }

  async close(): Promise<void> {
    if (this.#phase === "closed") return;
    this.#set("closed");
    this.#turns.stop();
    this.asked.withdrawAll();
    // an agent with other sessions goes on
    const shared = this.#given.keepsOpen ? undefined : this.#opened?.session.close().catch(() => undefined);
    await this.#agent?.leave(this);
    await shared;
  }

  #checkOpen(): void {
    if (this.#phase === "closed") throw new Error("this session is closed; open another one");
  }

  // ---- for the agent

  get phase(): SessionStatus["phase"] {
    return this.#phase;
  }

  get options(): SessionStatus["options"] {
    return this.#opened?.session.configOptions ?? [];
  }

  get agent(): SessionAgent | undefined {
    return this.#agent;
  }

  /** The agent's id of it. */
  get sessionId(): string | undefined {
    return this.#opened?.session.sessionId;
  }

  get historyId(): string | undefined {
    return this.#historyId;
  }

  /** Resolves when everything so far is stored. */
  async stored(): Promise<void> {
    await this.#opened?.recording?.stored();
  }

  /** What has come after the end of a turn. Undefined before the first prompt. */
  get late(): Pick<LateUpdates, "hasLate" | "hasOutput"> | undefined {
    return this.#turns.late;
  }

  /** Whether nothing was said yet. */
  get isEmpty(): boolean {
    return this.#entries.isEmpty;
  }

  /** Whether the session has a subagent with this id. */
  hasSubagent(sessionId: string): boolean {
    return this.#entries.hasSubagent(sessionId);
  }

  /** Starts the agent. It never rejects: a failure is the phase "failed". */
  async start(): Promise<void> {
    this.#set("starting");
    try {
      const opened = await this.#given.open(this, (found) => this.#found(found));
      this.#agent = opened.agent;
      this.#opened = opened;
      this.#historyId = opened.recording?.id ?? this.#historyId;
      await this.rewinds.opened(opened.memory);
      // a copy that cannot be renamed is a copy all the same
      if (this.#given.setsTitle && this.#title) await this.rename(this.#title).catch(() => undefined);
      this.#set("ready");
      this.#turns.pump();
    } catch (error) {
      await this.#failed("failed", error);
    }
  }

  #found({ agent, cwd, title, historyId, isContinued }: KnownSession): void {
    const { setsTitle, keepsId = true } = this.#given;
    this.#agent = agent;
    this.#cwd = cwd;
    this.#branch = gitBranch(cwd);
    this.#changes ??= this.#given.changes?.(cwd, isContinued);
    if (keepsId) this.#historyId ??= historyId;
    this.#title ??= title === undefined || !setsTitle ? title : `${title} (copy)`;
    this.#changed();
  }

  /** What was said before the session was opened here. */
  past(entry: Entry): void {
    this.#entries.add(entry, { isPast: true });
  }

  /** What the agent says. */
  heard(entry: Entry): void {
    if (this.#turns.isOthers(entry)) return;
    this.#progress = undefined;
    this.#turns.heard(entry);
    this.asked.heard(entry);
    this.#entries.add(entry, { turn: this.#turns.turn?.startedAt });
    this.#agent?.heard();
    if (entry.kind === "update" && stateTags.has(entry.update.sessionUpdate)) this.#changed();
  }

  /** An update of the host itself, or of a front end. */
  ownUpdate(update: SessionUpdate): void {
    this.#own({ kind: "update", update });
  }

  #own(body: EntryBody, status?: SessionStatus): void {
    const entry = this.#entries.own(body, status);
    this.#opened?.recording?.entry(entry);
  }

  /** Who is told of the end of a turn finds it in the history, whatever happens to this process. */
  async #turnStored(summary: TurnSummary): Promise<() => void> {
    this.asked.turnEnded();
    const value = summary as unknown as JsonValue; // as: plain JSON
    const entry = this.#entries.made({ kind: "extension", name: turnEntry, value });
    this.#opened?.recording?.entry(entry);
    await this.stored();
    return () => {
      this.#progress = undefined;
      this.#branch = gitBranch(this.#cwd);
      this.#entries.show(entry, this.#status);
    };
  }

  notice(level: Notice["level"], text: string): void {
    const { redacted = (given, use) => use(given) } = this.#given;
    redacted(text, (clean) =>
      this.#own({ kind: "extension", name: noticeEntry, value: { level, text: clean } }),
    );
  }

  /** Keeps a file that is about to be written as it is. It never rejects. */
  async protect(path: string): Promise<void> {
    await this.#changes?.protect(path);
  }

  /** One line about what it waits for. */
  waits(text: string | undefined): void {
    this.#progress = text;
    this.#changed();
  }

  /** Its agent has ended, or another client has it: the error has the kind "session_taken" then. */
  crashed(error: Error): void {
    // while it works, the end of the prompt says whether the kit could start it again
    if (this.#phase !== "ready" || (this.#turns.endsWithPrompt && !("kind" in error))) return;
    this.#turns.hold();
    void this.#failed("crashed", error);
  }

  /** The agent was started again, or has the session again. */
  continued(): void {
    if (this.#phase === "crashed") this.#set("ready");
  }

  async #failed(phase: "failed" | "crashed", error: unknown): Promise<void> {
    if (this.#phase === "closed") return;
    const problem = await this.#given.problem(error);
    const { redacted = (text, use) => use(text) } = this.#given;
    redacted(JSON.stringify(problem), (text) => {
      this.asked.withdrawAll();
      // as: it was made here
      this.#set(phase, JSON.parse(text) as SessionProblem);
    });
  }

  #set(phase: SessionStatus["phase"], problem?: SessionProblem): void {
    if (this.#phase === "closed") return;
    this.#phase = phase;
    this.#problem = problem;
    this.#progress = undefined;
    this.#changed();
  }

  #changed(): void {
    this.#tails.status(this.#status);
    this.#given.changed?.(this);
  }

  get #status(): SessionStatus {
    return {
      agent: this.#agent?.facts ?? this.#given.agent,
      phase: this.#phase,
      progress: this.#progress,
      problem: this.#problem,
      cwd: this.#cwd,
      branch: this.#branch,
      sandbox: this.#agent?.sandbox ?? "",
      title: this.#title,
      historyId: this.#historyId,
      sessionId: this.sessionId,
      options: this.options,
      commands: this.#opened?.session.availableCommands ?? [],
      turn: this.#turns.turn,
      queue: this.#turns.queue,
      sending: this.#turns.sending,
      steering: this.#turns.steering,
      unsent: this.#turns.unsent,
      questions: this.asked.list,
      branches: this.rewinds.branches,
    };
  }
}
