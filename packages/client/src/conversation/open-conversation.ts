// Follows a session host: folds its entries into a view, keeps its state, and sends it commands.

import type { Entry, SessionUpdate } from "@parley/acp";
import { rewindEntry } from "@parley/acp/extensions";
import type { JsonValue } from "@parley/acp/model";
import { applyEntry, createView, type SessionView } from "@parley/acp/view";
import type { AttachedText, ChatInput } from "../prompt-input/chat-input.ts";
import type { Conversation, ConversationEvent, ConversationOptions, OpenQuestion } from "./conversation.ts";
import { hostWords } from "./host-words.ts";
import { LinkFollower } from "./link-follower.ts";
import { parentCallOf } from "./parent-call.ts";
import { asPrompt, PastPrompts } from "./past-prompts.ts";
import { type SafeTexts, safeStatus, unchanged } from "./safe-status.ts";
import type {
  Answers,
  CommandContent,
  CommandKind,
  HostQuestion,
  PastPrompt,
  RewindOutcome,
  SessionLink,
  SessionStatus,
  StatusPatch,
  TailEvent,
} from "./session-link.ts";

/** The history has the rest of a longer session. */
const timelineBytes = 32 * 1024 * 1024;
/** It is read with every frame, and an agent may send megabytes. */
const longestTitle = 1_000;

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
  readonly #link: LinkFollower;
  readonly #options: ConversationOptions;
  readonly #safe: SafeTexts;
  readonly #listeners = new Set<(event: ConversationEvent) => void>();
  readonly #entryListeners = new Set<(entry: Entry) => void>();
  readonly #shells = new Set<AbortController>();
  readonly #prompts = new PastPrompts();
  #view: SessionView = createView({ timelineBytes });
  #status: SessionStatus;
  /** The prompts that the host may not have yet. */
  readonly #onTheWay = new Map<string, string>();
  #questions: readonly OpenQuestion[] = [];
  #draft = "";

  constructor(link: SessionLink, options: ConversationOptions) {
    this.#options = options;
    this.#safe = options.safe ?? unchanged;
    this.#status = { ...unknown, ...safeStatus(options.initial ?? {}, this.#safe) };
    this.key = options.key ?? crypto.randomUUID();
    this.#link = new LinkFollower(link, options.isFirst ? "" : undefined, (event) => this.#event(event));
    this.#link.follow();
  }

  get view(): SessionView {
    return this.#view;
  }

  get prompts(): readonly PastPrompt[] {
    return this.#prompts.list.map(asPrompt);
  }

  get branches(): SessionStatus["branches"] {
    return this.#status.branches;
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
    return title === undefined ? undefined : this.#safe.line(title.slice(0, longestTitle));
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
    const { unsent } = this.#status;
    const onTheWay = [...this.#onTheWay].filter(([key]) => !unsent.some(({ id }) => id === key));
    return [...unsent.map(({ text }) => text), ...onTheWay.map(([, text]) => text), this.#draft];
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
    this.#link.hold(isBehind);
  }

  // ---- commands

  send(input: ChatInput): void {
    if (this.phase === "closed") throw new Error("this session is closed; open another one");
    this.#options.onSent?.(input.text);
    const key = crypto.randomUUID();
    this.#onTheWay.set(key, input.text);
    const sent = this.#link.submit("prompt", { input }, key).finally(() => this.#onTheWay.delete(key));
    sent.catch((error: unknown) => {
      // the host did not take it: nothing that was written is lost
      this.draft = [this.#draft, input.text].filter((text) => text !== "").join("\n\n");
      this.#options.onError?.(error);
    });
  }

  async steer(input: ChatInput): Promise<"steered" | "resent" | "sent"> {
    this.#options.onSent?.(input.text);
    return (await this.#link.submit("steer", { input })).how;
  }

  async unqueue(id: string): Promise<ChatInput | undefined> {
    return (await this.#link.submit("unqueue", { id })).input;
  }

  moveQueued(id: string, by: number): void {
    this.#do("move", { id, by });
  }

  cancel(): void {
    for (const shell of this.#shells) shell.abort();
    this.#do("cancel", {});
  }

  async force(): Promise<void> {
    await this.#link.submit("cancel", { isForced: true });
  }

  async setOption(configId: string, value: JsonValue): Promise<void> {
    await this.#link.submit("configure", { configId, value });
  }

  async rename(title: string): Promise<void> {
    await this.#link.submit("rename", { title });
  }

  rewind(messageId: string): Promise<RewindOutcome> {
    return this.#link.submit("rewind", { messageId });
  }

  undoRewind(): Promise<RewindOutcome> {
    return this.#link.submit("undoRewind", {});
  }

  async restart(): Promise<void> {
    await this.#link.submit("restart", {});
  }

  async shell(command: string): Promise<void> {
    const { runShell } = this.#options;
    if (runShell === undefined) throw new Error("commands of the user cannot be run here");
    const shell = new AbortController();
    this.#shells.add(shell);
    this.#emit({ kind: "state" });
    try {
      const show = (update: SessionUpdate): void => this.#do("show", { update });
      const told = await runShell(command, { cwd: this.cwd, signal: shell.signal, show });
      await this.#link.submit("tell", { told });
    } finally {
      this.#shells.delete(shell);
      this.#emit({ kind: "state" });
    }
  }

  tell(told: AttachedText): void {
    this.#do("tell", { told });
  }

  async close(): Promise<void> {
    for (const shell of this.#shells) shell.abort();
    await this.#link.submit("close", {});
  }

  leave(): void {
    this.#link.leave();
  }

  /** For commands whose effect is seen in the state. */
  #do<Kind extends CommandKind>(kind: Kind, content: CommandContent<Kind>): void {
    this.#link.submit(kind, content).catch((error: unknown) => this.#options.onError?.(error));
  }

  // ---- the tail

  #event(event: TailEvent): void {
    switch (event.kind) {
      case "entries":
        return this.#heard(event);
      case "status":
        return this.#patch(event.status)();
      case "reset":
        this.#view = createView({ timelineBytes });
        this.#prompts.clear();
        return this.#emit({ kind: "entries" });
      default:
        // of a newer host
        return;
    }
  }

  #heard({ entries, isPast, status }: Extract<TailEvent, { kind: "entries" }>): void {
    const tell = status && this.#patch(status);
    for (const entry of entries) this.#entry(entry, isPast === true);
    tell?.();
  }

  #entry(entry: Entry, isPast: boolean): void {
    applyEntry(this.#view, entry);
    this.#prompts.entry(entry);
    if (entry.kind === "extension" && entry.name === rewindEntry) return;
    const words = hostWords(entry);
    // what was told before is over
    if (words !== undefined) return isPast ? undefined : this.#told(words);
    for (const listener of this.#entryListeners) listener(entry);
    this.#emit({ kind: "entries" });
  }

  #told(words: NonNullable<ReturnType<typeof hostWords>>): void {
    if (words.kind === "turn") return this.#emit(words);
    const { notice } = words;
    this.#emit({ kind: "notice", notice: { ...notice, text: this.#safe.text(notice.text) } });
  }

  /** Returns what tells the listeners about it. */
  #patch(patch: StatusPatch): () => void {
    const { questions, ...rest } = patch;
    // as: null stands for a field without a value
    const values = Object.entries(rest).map(([field, value]) => [field, value ?? undefined]);
    const before = this.#status;
    this.#status = {
      ...before,
      ...safeStatus(Object.fromEntries(values) as Partial<SessionStatus>, this.#safe),
    };
    if (questions) this.#asked(questions);
    if (this.#status.unsent !== before.unsent) this.#options.onUnsent?.();
    return () => {
      if (values.length > 0) this.#emit({ kind: "state" });
      if (questions) this.#emit({ kind: "questions" });
    };
  }

  #asked(questions: readonly HostQuestion[]): void {
    const known = new Map(this.#questions.map((each) => [each.id, each]));
    this.#questions = questions.map((each) => known.get(each.id) ?? this.#question(each));
  }

  #question(data: HostQuestion): OpenQuestion {
    const answer = (given: Answers[keyof Answers]): void =>
      this.#do("answer", { questionId: data.id, answer: given });
    // each line keeps its indent, which says what belongs together
    const safe = (line: string) => line.replace(/[^ ].*/s, (words) => this.#safe.line(words));
    const lines = data.kind === "confirm" ? { lines: data.lines.map(safe) } : {};
    const question = { ...data, ...lines, answer };
    // what it belongs to may be known later
    Object.defineProperty(question, "from", { get: () => this.#subagent(data), enumerable: true });
    // as: the answer belongs to the kind of the question
    return question as OpenQuestion;
  }

  /** The name of the subagent that asks, by its session or by the tool call that it belongs to. */
  #subagent({ sessionId, toolCallId }: HostQuestion): string | undefined {
    const subagent = sessionId === undefined ? undefined : this.#view.subagents.get(sessionId);
    if (subagent !== undefined) return this.#safe.line(subagent.title ?? sessionId ?? "");
    const call = toolCallId === undefined ? undefined : this.#view.toolCalls.get(toolCallId);
    const parent = call && parentCallOf(call);
    const label = parent === undefined ? undefined : this.#view.toolCalls.get(parent)?.label;
    return label === undefined ? undefined : this.#safe.line(label);
  }

  #emit(event: ConversationEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}
