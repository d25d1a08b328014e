// Follows a session host: folds its entries into a view, keeps its state, and sends it commands.

import { ConnectionError, type Entry, type SessionUpdate } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { JsonValue } from "@parley/acp/model";
import { applyEntry, createView, type SessionView } from "@parley/acp/view";
import type { AttachedText } from "../prompt-input/attached-text.ts";
import type { Conversation, ConversationEvent, ConversationOptions, OpenQuestion } from "./conversation.ts";
import { parentCallOf } from "./parent-call.ts";
import {
  type Answers,
  type ChatInput,
  type CommandKind,
  type CommandOf,
  type HostQuestion,
  type Notice,
  noticeEntry,
  type OutcomeOf,
  type SessionLink,
  type SessionStatus,
  type StatusPatch,
  type Tail,
  type TailEvent,
  type TurnSummary,
  turnEntry,
} from "./session-link.ts";

/** The history has the rest of a longer session. */
const timelineBytes = 32 * 1024 * 1024;
/** It is read with every frame, and an agent may send megabytes. */
const longestTitle = 1_000;
/** A link that was cut is tried again after so long, then after twice as long, up to the longest. */
const shortestPauseMs = 20;
const longestPauseMs = 5_000;

/** Before the host has said anything. */
const unknown: SessionStatus = {
  agent: {
    name: "",
    asker: "",
    title: undefined,
    edition: undefined,
    accepts: { images: false, steering: false, forks: false },
  },
  phase: "starting",
  cwd: "",
  sandbox: "",
  options: [],
  commands: [],
  queue: [],
  sending: [],
  steering: [],
  unsent: [],
  questions: [],
};

/**
 * Opens the model of a session for a front end. It follows the host of the session at once, and again after each cut of
 * the link. Commands that a cut has caught are sent again with the same key, so none is carried out twice.
 *
 * @param link - The host of the session, or a link to it.
 * @param options - What the front end brings along.
 *
 * @example
 * import { openConversation, type SessionLink } from "@parley/client/conversation";
 *
 * export function printTurns(link: SessionLink): void {
 *   const conversation = openConversation(link);
 *   conversation.onEvent((event) => {
 *     if (event.kind === "turn") console.log(event.summary.result.stopReason);
 *     for (const question of conversation.questions)
 *       if (question.kind === "confirm") question.answer(false);
 *   });
 *   conversation.send({ text: "Explain this project" });
 * }
 */
export function openConversation(link: SessionLink, options: ConversationOptions = {}): Conversation {
  return new FollowedSession(link, options);
}

class FollowedSession implements Conversation {
  readonly key: string;
  readonly #link: SessionLink;
  readonly #options: ConversationOptions;
  readonly #listeners = new Set<(event: ConversationEvent) => void>();
  readonly #entryListeners = new Set<(entry: Entry) => void>();
  readonly #shells = new Set<AbortController>();
  #view: SessionView = createView({ timelineBytes });
  #status = unknown;
  #questions: readonly OpenQuestion[] = [];
  #draft = "";
  #cursor: string | undefined;
  #tail: Tail | undefined;
  #pauseMs = shortestPauseMs;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hasLeft = false;
  #isCut = false;
  /** Commands that wait for the link. */
  #waiting: (() => void)[] = [];

  constructor(link: SessionLink, options: ConversationOptions) {
    this.#link = link;
    this.#options = options;
    this.key = options.key ?? crypto.randomUUID();
    this.#follow();
  }

  get view(): SessionView {
    return this.#view;
  }

  get agent(): SessionStatus["agent"] {
    return this.#status.agent;
  }

  get phase(): SessionStatus["phase"] {
    return this.#status.phase;
  }

  get progress(): string | undefined {
    return this.#status.progress;
  }

  get problem(): SessionStatus["problem"] {
    return this.#status.problem;
  }

  get cwd(): string {
    return this.#status.cwd;
  }

  get branch(): string | undefined {
    return this.#status.branch;
  }

  get sandbox(): string {
    return this.#status.sandbox;
  }

  get title(): string | undefined {
    const title = this.#view.title ?? this.#status.title;
    return title === undefined ? undefined : this.#line(title.slice(0, longestTitle));
  }

  get historyId(): string | undefined {
    return this.#status.historyId;
  }

  get sessionId(): string | undefined {
    return this.#status.sessionId;
  }

  get options(): SessionStatus["options"] {
    return this.#status.options;
  }

  get commands(): SessionStatus["commands"] {
    return this.#status.commands;
  }

  get turn(): SessionStatus["turn"] {
    return this.#status.turn;
  }

  get queue(): SessionStatus["queue"] {
    return this.#status.queue;
  }

  get sending(): readonly string[] {
    return this.#status.sending;
  }

  get steering(): readonly string[] {
    return this.#status.steering;
  }

  get unsent(): readonly string[] {
    return [...this.#status.unsent, this.#draft];
  }

  get questions(): readonly OpenQuestion[] {
    return this.#questions;
  }

  get runsCommand(): boolean {
    return this.#shells.size > 0;
  }

  get draft(): string {
    return this.#draft;
  }

  set draft(text: string) {
    if (text === this.#draft) return;
    this.#draft = text;
    this.#options.onUnsent?.();
  }

  onEvent(listener: (event: ConversationEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onEntry(listener: (entry: Entry) => void): () => void {
    this.#entryListeners.add(listener);
    return () => this.#entryListeners.delete(listener);
  }

  holdOutput(isBehind: boolean): void {
    this.#tail?.hold(isBehind);
  }

  // ---- commands

  send(input: ChatInput): void {
    if (this.phase === "closed") throw new Error("this session is closed; open another one");
    this.#options.onSent?.(input.text);
    this.#do({ kind: "prompt", input });
  }

  async steer(input: ChatInput): Promise<"steered" | "resent" | "sent"> {
    this.#options.onSent?.(input.text);
    return (await this.#submit("steer", { kind: "steer", input })).how;
  }

  async unqueue(id: string): Promise<ChatInput | undefined> {
    return (await this.#submit("unqueue", { kind: "unqueue", id })).input;
  }

  moveQueued(id: string, by: number): void {
    this.#do({ kind: "move", id, by });
  }

  cancel(): void {
    for (const shell of this.#shells) shell.abort();
    this.#do({ kind: "cancel" });
  }

  async force(): Promise<void> {
    await this.#submit("cancel", { kind: "cancel", isForced: true });
  }

  async setOption(configId: string, value: JsonValue): Promise<void> {
    await this.#submit("configure", { kind: "configure", configId, value });
  }

  async rename(title: string): Promise<void> {
    await this.#submit("rename", { kind: "rename", title });
  }

  async restart(): Promise<void> {
    await this.#submit("restart", { kind: "restart" });
  }

  async shell(command: string): Promise<void> {
    const { runShell } = this.#options;
    if (runShell === undefined) throw new Error("commands of the user cannot be run here");
    const shell = new AbortController();
    this.#shells.add(shell);
    this.#emit({ kind: "state" });
    try {
      const show = (update: SessionUpdate): void => this.#do({ kind: "show", update });
      this.tell(await runShell(command, { cwd: this.cwd, signal: shell.signal, show }));
    } finally {
      this.#shells.delete(shell);
      this.#emit({ kind: "state" });
    }
  }

  tell(told: AttachedText): void {
    this.#do({ kind: "tell", told });
  }

  async close(): Promise<void> {
    for (const shell of this.#shells) shell.abort();
    await this.#submit("close", { kind: "close" });
  }

  leave(): void {
    this.#hasLeft = true;
    clearTimeout(this.#timer);
    this.#tail?.stop();
    for (const go of this.#waiting.splice(0)) go();
  }

  /** For commands whose effect is seen in the state. */
  #do(command: Content): void {
    const failed = (error: unknown): void => this.#options.onError?.(error);
    this.#submit(command.kind, command).catch(failed);
  }

  async #submit<Kind extends CommandKind>(
    _kind: Kind,
    content: Omit<CommandOf<Kind>, "key">,
  ): Promise<OutcomeOf<Kind>> {
    // as: the content of a command with its key is a command
    const command = { ...content, key: crypto.randomUUID() } as unknown as CommandOf<Kind>;
    for (;;) {
      try {
        return await this.#link.submit(command);
      } catch (error) {
        if (!(error instanceof ConnectionError) || error.kind !== "closed" || this.#hasLeft) throw error;
        // the outcome was lost, or the command: the tail says when the link is back
        await new Promise<void>((resolve) => {
          if (this.#isCut) this.#waiting.push(resolve);
          else setTimeout(resolve, shortestPauseMs);
        });
        if (this.#hasLeft) throw error;
      }
    }
  }

  // ---- the tail

  #follow(): void {
    // events may come before `tail` returns
    const tail = this.#link.tail(this.#cursor, (event) => this.#event(event));
    if (this.#hasLeft) tail.stop();
    else this.#tail = tail;
  }

  #event(event: TailEvent): void {
    switch (event.kind) {
      case "entries":
        for (const entry of event.entries) this.#entry(entry, event.isPast === true);
        this.#cursor = event.cursor;
        return;
      case "status":
        return this.#patched(event.status);
      case "reset":
        this.#view = createView({ timelineBytes });
        this.#cursor = undefined;
        return this.#emit({ kind: "entries" });
      case "cut":
        return this.#again();
      default:
        // of a newer host
        return;
    }
  }

  #again(): void {
    this.#isCut = true;
    if (this.#hasLeft || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#follow();
    }, this.#pauseMs);
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }

  #entry(entry: Entry, isPast: boolean): void {
    applyEntry(this.#view, entry);
    if (entry.kind === "extension" && (entry.name === noticeEntry || entry.name === turnEntry)) {
      // what was told before is over
      if (!isPast) this.#told(entry.name, entry.value);
      return;
    }
    for (const listener of this.#entryListeners) listener(entry);
    this.#emit({ kind: "entries" });
  }

  /** as: only a host writes these entries. */
  #told(name: string, value: JsonValue): void {
    if (name === turnEntry) return this.#emit({ kind: "turn", summary: value as unknown as TurnSummary });
    const notice = value as unknown as Notice;
    this.#emit({ kind: "notice", notice: { ...notice, text: this.#text(notice.text) } });
  }

  #patched(patch: StatusPatch): void {
    const { questions, ...rest } = patch;
    // as: null stands for a field without a value
    const values = Object.entries(rest).map(([field, value]) => [field, value ?? undefined]);
    const before = this.#status;
    this.#status = { ...before, ...this.#safe(Object.fromEntries(values) as Partial<SessionStatus>) };
    // the link works
    this.#isCut = false;
    this.#pauseMs = shortestPauseMs;
    for (const go of this.#waiting.splice(0)) go();
    if (this.#status.unsent !== before.unsent) this.#options.onUnsent?.();
    if (values.length > 0) this.#emit({ kind: "state" });
    if (questions) this.#asked(questions);
  }

  /** The fields that are shown as they are. */
  #safe(status: Partial<SessionStatus>): Partial<SessionStatus> {
    const { agent, problem, progress } = status;
    return {
      ...status,
      ...(agent && {
        agent: {
          ...agent,
          name: this.#line(agent.name),
          asker: this.#line(agent.asker),
          title: agent.title === undefined ? undefined : this.#line(agent.title),
        },
      }),
      ...(progress && { progress: this.#line(progress) }),
      ...(problem && {
        problem: {
          ...problem,
          message: this.#text(problem.message),
          ...optional({ hint: problem.hint === undefined ? undefined : this.#text(problem.hint) }),
          ...optional({ stderr: problem.stderr === undefined ? undefined : this.#text(problem.stderr) }),
        },
      }),
    };
  }

  #asked(questions: readonly HostQuestion[]): void {
    const known = new Map(this.#questions.map((each) => [each.id, each]));
    this.#questions = questions.map((each) => known.get(each.id) ?? this.#question(each));
    this.#emit({ kind: "questions" });
  }

  #question(data: HostQuestion): OpenQuestion {
    const answer = (given: Answers[keyof Answers]): void =>
      this.#do({ kind: "answer", questionId: data.id, answer: given });
    const lines = data.kind === "confirm" ? { lines: data.lines.map((line) => this.#line(line)) } : {};
    // as: the answer belongs to the kind of the question
    return { ...data, ...lines, ...optional({ from: this.#subagent(data) }), answer } as OpenQuestion;
  }

  /** The name of the subagent that asks, by its session or by the tool call that it belongs to. */
  #subagent({ sessionId, toolCallId }: HostQuestion): string | undefined {
    const subagent = sessionId === undefined ? undefined : this.#view.subagents.get(sessionId);
    if (subagent !== undefined) return this.#line(subagent.title ?? sessionId ?? "");
    const call = toolCallId === undefined ? undefined : this.#view.toolCalls.get(toolCallId);
    const parent = call && parentCallOf(call);
    const label = parent === undefined ? undefined : this.#view.toolCalls.get(parent)?.label;
    return label === undefined ? undefined : this.#line(label);
  }

  #line(text: string): string {
    return this.#options.safe?.line(text) ?? text;
  }

  #text(text: string): string {
    return this.#options.safe?.text(text) ?? text;
  }

  #emit(event: ConversationEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

type Content = { readonly [Kind in CommandKind]: Omit<CommandOf<Kind>, "key"> }[CommandKind];
