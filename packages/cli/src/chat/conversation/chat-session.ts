// A session of a conversation: starts its agent, sends and queues prompts, and lives through crashes.

import type { Entry, SessionConfigOption, SessionUpdate } from "@parley/acp";
import type { AvailableCommand, JsonValue } from "@parley/acp/model";
import { applyEntry, createView, type SessionView } from "@parley/acp/view";
import type { LiveAgentSession } from "../../live/live-agent.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { agentFacts, sandboxText } from "./agent-facts.ts";
import type {
  AgentFacts,
  ChatInput,
  ConversationEvent,
  ConversationSession,
  ExportFormat,
  Notice,
  OpenQuestion,
  QueuedPrompt,
  SessionProblem,
} from "./conversation.ts";
import type { ConversationAgent, HostedSession, HostOptions } from "./conversation-agent.ts";
import { gitBranch } from "./git-branch.ts";
import { ResentPrompts } from "./resent-prompts.ts";
import { SessionShells } from "./session-shells.ts";
import { SessionTurns, type TurnChanges } from "./session-turns.ts";
import { ShownQuestions } from "./shown-questions.ts";

/** What a session needs of its conversation. */
export interface ChatSessionOptions extends HostOptions {
  readonly key: string;
  /** The session to copy. */
  readonly forks?: ChatSession | undefined;
  /** Whether a copy is opened of the session that the options name, which somebody else uses. */
  readonly copies: boolean;
  /** Called once, when the folder of the session is known. */
  changes(cwd: string, isContinued: boolean): TurnChanges | undefined;
  emit(event: ConversationEvent): void;
  /** Calls back with the text without known secrets, in the order of the calls. */
  redacted(text: string, use: (text: string) => void): void;
  /** What was written and not sent has changed. */
  unsentChanged(): void;
  sent(text: string): void;
}

/** The history has the rest of a longer session. */
const timelineBytes = 32 * 1024 * 1024;

/** It is read with every frame, and an agent may send megabytes. */
const longestTitle = 1_000;

export class ChatSession implements ConversationSession, HostedSession {
  readonly key: string;
  readonly view: SessionView = createView({ timelineBytes });
  readonly asked = new ShownQuestions(() => this.#emit("questions"));
  readonly #given: ChatSessionOptions;
  readonly #listeners = new Set<(entry: Entry) => void>();
  readonly #turns: SessionTurns;
  readonly #resent = new ResentPrompts();
  #separate: ((entry: Entry) => Entry) | undefined;
  #phase: ConversationSession["phase"] = "starting";
  #problem: SessionProblem | undefined;
  #progress: string | undefined;
  #host: ConversationAgent | undefined;
  #opened: LiveAgentSession | undefined;
  #historyId: string | undefined;
  #cwd: string;
  #branch: string | undefined;
  #title: string | undefined;
  #draft = "";
  #changes: TurnChanges | undefined;
  readonly #shells = new SessionShells((update) => this.ownUpdate(update));

  constructor(given: ChatSessionOptions) {
    this.#given = given;
    this.key = given.key;
    this.#cwd = given.options.cwd;
    if (given.forks?.title !== undefined) this.#title = `${given.forks.title} (copy)`;
    this.#branch = gitBranch(this.#cwd);
    this.#turns = new SessionTurns({
      changes: () => this.#changes,
      ready: () => {
        const { session } = this.#opened ?? {};
        const host = this.#host;
        const isReady = this.#phase === "ready" && session !== undefined && host !== undefined;
        return isReady ? { host, session } : undefined;
      },
      changed: () => {
        given.unsentChanged();
        this.#emit("state");
      },
      waitedMs: () => this.asked.waitedMs,
      notice: (level, text) => this.notice(level, text),
      crashed: (error) => this.#failed("crashed", error),
      ended: (summary) => {
        this.#progress = undefined;
        this.#branch = gitBranch(this.#cwd);
        given.emit({ kind: "turn", session: this, summary });
      },
    });
  }

  get agent(): AgentFacts {
    const { options, forks } = this.#given;
    return agentFacts(options, this.#host?.agent ?? forks?.host?.agent);
  }

  get phase(): ConversationSession["phase"] {
    return this.#phase;
  }

  get progress(): string | undefined {
    return this.#progress;
  }

  get problem(): SessionProblem | undefined {
    return this.#problem;
  }

  get cwd(): string {
    return this.#cwd;
  }

  get branch(): string | undefined {
    return this.#branch;
  }

  get sandbox(): string {
    return this.#host === undefined ? "" : sandboxText(this.#host.agent, this.#given.options);
  }

  get title(): string | undefined {
    const title = this.view.title ?? this.#title;
    return title === undefined ? undefined : safeLine(title.slice(0, longestTitle));
  }

  get historyId(): string | undefined {
    return this.#historyId;
  }

  /** The agent's id of it. */
  get sessionId(): string | undefined {
    return this.#opened?.session.sessionId;
  }

  get host(): ConversationAgent | undefined {
    return this.#host;
  }

  get options(): readonly SessionConfigOption[] {
    return this.#opened?.session.configOptions ?? [];
  }

  get commands(): readonly AvailableCommand[] {
    return this.#opened?.session.availableCommands ?? [];
  }

  get turn(): ConversationSession["turn"] {
    return this.#turns.turn;
  }

  get queue(): readonly QueuedPrompt[] {
    return this.#turns.queue;
  }

  get sending(): readonly string[] {
    return this.#turns.sending;
  }

  get steering(): readonly string[] {
    return this.#turns.steering;
  }

  /** What would be lost with this process. */
  get unsent(): readonly string[] {
    return [...this.#turns.unsent, this.#draft];
  }

  get runsCommand(): boolean {
    return this.#shells.isRunning;
  }

  get questions(): readonly OpenQuestion[] {
    return this.asked.list;
  }

  get draft(): string {
    return this.#draft;
  }

  set draft(text: string) {
    if (text === this.#draft) return;
    this.#draft = text;
    this.#given.unsentChanged();
  }

  holdOutput(isBehind: boolean): void {
    this.#host?.pace.hold(isBehind);
  }

  onEntry(listener: (entry: Entry) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Starts the agent. It never rejects: a failure is the phase "failed". */
  async start(): Promise<void> {
    this.#set("starting");
    try {
      // loaded after the first paint
      const { openHosted } = await import("./open-hosted.ts");
      if (this.#phase !== "starting") return;
      const { host, opened } = await openHosted(this, this.#given, {
        begun: (host) => {
          this.#host = host;
          const { known, listed, cwd } = host.agent.target;
          this.#cwd = cwd;
          this.#branch = gitBranch(cwd);
          const isContinued = known !== undefined || listed !== undefined || this.#given.forks !== undefined;
          this.#changes ??= this.#given.changes(cwd, isContinued);
          const title = known?.name ?? known?.title ?? listed?.title ?? undefined;
          if (!this.#given.copies) this.#historyId ??= known?.id;
          this.#title ??= title === undefined || !this.#given.copies ? title : `${title} (copy)`;
          this.#emit("state");
        },
        entry: (entry) => this.#entry(entry),
      });
      this.#host = host;
      this.#opened = opened;
      this.#historyId = opened.recorder?.id ?? this.#historyId;
      // a copy that cannot be renamed is a copy all the same
      if ((this.#given.forks || this.#given.copies) && this.#title)
        await this.rename(this.#title).catch(() => undefined);
      this.#set("ready");
      this.#turns.pump();
    } catch (error) {
      await this.#failed("failed", error);
    }
  }

  async restart(): Promise<void> {
    if (this.#phase === "failed") {
      // a second call finds it started
      this.#set("starting");
      await this.#host?.leave(this);
      this.#host = undefined;
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
    this.#shells.stop();
    this.#turns.stop();
    this.asked.withdrawAll();
    // an agent with other sessions goes on
    const shared = this.#opened?.session.close().catch(() => undefined);
    await this.#host?.leave(this);
    await shared;
  }

  async #failed(phase: "failed" | "crashed", error: unknown): Promise<void> {
    // closed meanwhile
    if (this.#phase === "closed") return;
    const { redactedProblem } = await import("./session-problem.ts");
    redactedProblem(error, this.#given.redacted, (problem) => {
      this.asked.withdrawAll();
      this.#set(phase, problem);
    });
  }

  #set(phase: ConversationSession["phase"], problem?: SessionProblem): void {
    if (this.#phase === "closed") return;
    this.#phase = phase;
    this.#problem = problem;
    this.#progress = undefined;
    this.#emit("state");
  }

  #emit(kind: "state" | "questions"): void {
    this.#given.emit({ kind, session: this });
  }

  notice(level: Notice["level"], text: string): void {
    this.#given.redacted(text, (clean) =>
      this.#given.emit({ kind: "notice", session: this, notice: { level, text: clean } }),
    );
  }

  async protect(path: string): Promise<void> {
    await this.#changes?.protect(path);
  }

  waits(text: string | undefined): void {
    this.#progress = text === undefined ? undefined : safeLine(text);
    this.#emit("state");
  }

  crashed(error: Error): void {
    // while it works, the end of the prompt says whether the kit could start it again
    if (this.#phase !== "ready" || (this.#turns.endsWithPrompt && !("kind" in error))) return;
    this.#turns.hold();
    void this.#failed("crashed", error);
  }

  continued(): void {
    if (this.#phase === "crashed") this.#set("ready");
  }

  #entry(entry: Entry): void {
    this.#progress = undefined;
    this.#turns.heard(entry);
    const separated = this.#separate?.(entry) ?? entry;
    const shown = this.#resent.shown(separated, this.turn?.startedAt);
    if (shown === undefined) return;
    const numbered = { ...shown, seq: this.view.seq + 1 };
    applyEntry(this.view, numbered);
    for (const listener of this.#listeners) listener(numbered);
    this.#given.emit({ kind: "entries", session: this });
    this.#host?.pace.heard();
  }

  /** Makes tool calls unique where a restarted agent counts from 1 again. */
  set separate(separate: (entry: Entry) => Entry) {
    this.#separate = separate;
  }

  ownUpdate(update: SessionUpdate): void {
    this.#entry({ format: 1, seq: 0, time: Date.now(), kind: "update", update });
  }

  send(input: ChatInput): void {
    if (this.#phase === "closed") throw new Error("this session is closed; open another one");
    this.#given.sent(input.text);
    this.#title ??= safeLine(input.text).slice(0, 80);
    this.#turns.send(input);
    if (this.#phase === "failed" || this.#phase === "crashed") void this.restart();
  }

  steer(input: ChatInput): Promise<"steered" | "resent" | "sent"> {
    this.#given.sent(input.text);
    return this.#turns.steer(input);
  }

  unqueue(id: string): ChatInput | undefined {
    return this.#turns.unqueue(id);
  }

  moveQueued(id: string, by: number): void {
    this.#turns.move(id, by);
  }

  cancel(): void {
    this.#shells.stop();
    this.#turns.cancel();
  }

  force(): Promise<void> {
    return this.#turns.force();
  }

  tell(told: Parameters<ConversationSession["tell"]>[0]): void {
    this.#turns.tell(told);
  }

  async setOption(configId: string, value: JsonValue): Promise<void> {
    const { session } = this.#opened ?? {};
    if (session === undefined) throw new Error("the agent has not been started yet");
    await session.setConfigOption(configId, value);
    this.#emit("state");
  }

  async rename(title: string): Promise<void> {
    const { renamed } = await import("./open-hosted.ts");
    this.ownUpdate(await renamed(title, this.#host, this.#opened));
    this.#emit("state");
  }

  async shell(command: string): Promise<void> {
    try {
      this.tell(await this.#shells.run(command, this.#cwd));
    } finally {
      this.#emit("state");
    }
  }

  async exported(format: ExportFormat): Promise<string> {
    const { exportedSession } = await import("./open-hosted.ts");
    await this.#opened?.recorder?.stored();
    return exportedSession(this.#historyId, this.#given, format);
  }
}
