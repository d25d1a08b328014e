// The conversation on a screen: the tail of the transcript, plan, queue, sheet, status and prompt, and the keys.

import { drawing } from "../../draw/draw-options.ts";
import { backgroundLine } from "../../draw/event-lines.ts";
import { marksFor } from "../../draw/marks.ts";
import { planLines } from "../../draw/plan-lines.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import type { FullScreen, Screen } from "../../screen/screen.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { Conversation, ConversationEvent, LiveSession } from "../conversation/conversation.ts";
import { type ChatAction, chatKeys } from "../keys/keys-and-commands.ts";
import type { SessionReview } from "../review/session-review.ts";
import type { Sheet } from "../sheets/sheet.ts";
import { TranscriptFeed } from "../transcript/transcript-feed.ts";
import { Attention } from "./attention.ts";
import { Composer } from "./composer.ts";
import { FaceActions } from "./face-actions.ts";
import { QuestionDock } from "./question-dock.ts";
import { statusLine } from "./status-line.ts";

export interface ChatFaceOptions {
  readonly screen: Screen;
  readonly conversation: Conversation;
  readonly paint: Paint;
  readonly isAnimated: boolean;
  readonly editor: string;
  /** Whether to tell the desktop when a turn ends or a question waits. */
  readonly notifies: boolean;
  /** The review of a session. */
  review?(session: LiveSession): SessionReview | undefined;
}

/** A second press within this time forces or leaves. */
const againMs = 3_000;
const forceMs = 10_000;

/** Somebody who is asked may look around before the answer. */
const whileAsked: ReadonlySet<ChatAction> = new Set(["transcript", "review", "files"]);

/** Shows a conversation until the user leaves. */
export class ChatFace {
  readonly screen: Screen;
  readonly conversation: Conversation;
  readonly composer: Composer;
  readonly #options: ChatFaceOptions;
  readonly #actions: FaceActions;
  readonly #dock: QuestionDock;
  readonly #attention: Attention;
  readonly #marks = marksFor(process.env);
  readonly #feeds = new Map<string, TranscriptFeed>();
  readonly #left = Promise.withResolvers<void>();
  readonly #removers: (() => void)[] = [];
  /** Paints with the theme of the moment: what is printed stays as it is. */
  readonly #paint: Paint = (role, text) => this.#theme(role, text);
  #theme: Paint;
  /** What the user opened: a list, the help. It is above the questions. */
  #opened: Sheet | undefined;
  #full: { readonly screen: FullScreen; readonly sheet: Sheet } | undefined;
  #hint: { readonly text: string; readonly until: number } | undefined;
  #leavesUntil = 0;
  #stoppedAt = Number.NEGATIVE_INFINITY;
  #clock: NodeJS.Timeout | undefined;

  constructor(options: ChatFaceOptions) {
    const { screen, conversation, paint, editor } = options;
    this.#options = options;
    this.screen = screen;
    this.conversation = conversation;
    this.#theme = paint;
    this.composer = new Composer({
      screen,
      conversation,
      paint: this.#paint,
      editor,
      redraw: () => this.redraw(),
    });
    this.composer.onSubmit = (input) => this.#actions.submitted(input);
    this.#actions = new FaceActions(this);
    this.#dock = new QuestionDock(screen, this.composer);
    this.#attention = new Attention({
      screen,
      conversation,
      notifies: options.notifies,
      say: (text, role) => this.say(text, role),
    });
    this.#removers.push(
      screen.onKey((key) => this.#key(key)),
      screen.onResize(() => this.redraw()),
      conversation.onEvent((event) => this.#event(event)),
    );
    this.composer.text = conversation.current.draft;
    conversation.prompts().then(
      (prompts) => this.composer.remember(prompts.toReversed()),
      () => undefined,
    );
    this.redraw();
  }

  get session(): LiveSession {
    return this.conversation.current;
  }

  /** The review of the session that is shown. */
  get review(): SessionReview | undefined {
    return this.#options.review?.(this.session);
  }

  /** The command of the user's editor. */
  get editor(): string {
    return this.#options.editor;
  }

  get paint(): Paint {
    return this.#theme;
  }

  set paint(paint: Paint) {
    this.#theme = paint;
    this.redraw();
  }

  /** Resolves when the user has left. */
  get left(): Promise<void> {
    return this.#left.promise;
  }

  leave(): void {
    for (const remove of this.#removers.splice(0)) remove();
    clearInterval(this.#clock);
    this.#full?.screen.close();
    this.#left.resolve();
  }

  /** Opens a sheet over the questions; undefined closes it. */
  open(sheet: Sheet | undefined): void {
    this.#opened = sheet;
    this.#dock.uncovered();
    this.redraw();
  }

  /** Opens a sheet on the whole screen; undefined closes it. */
  openFull(sheet: Sheet | undefined): void {
    this.#full?.screen.close();
    this.#full = sheet === undefined ? undefined : { screen: this.screen.fullScreen(), sheet };
    this.#dock.uncovered();
    this.redraw();
  }

  /** Prints a sentence of ours. */
  say(text: string, role: "dim" | "warning" | "error" = "dim"): void {
    this.screen.print(this.#feed().notice(text, this.screen.columns, (line) => this.#paint(role, line)));
    this.redraw();
  }

  /** Says it if this goes wrong. */
  attempt(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.say(error instanceof Error ? error.message : String(error), "error"));
  }

  /** Shows a sentence above the prompt for a moment. */
  hint(text: string): void {
    this.#hint = { text, until: performance.now() + againMs };
    this.redraw();
  }

  redraw(): void {
    this.#watchClock();
    const now = performance.now();
    if (this.#full !== undefined) {
      this.#full.screen.draw(this.#fullTail(this.#full.sheet, now));
      return;
    }
    this.screen.draw(this.#tail(now));
  }

  // ---- drawing

  /** A question that comes meanwhile is told in the last row. */
  #fullTail(sheet: Sheet, now: number): Tail {
    const { columns, rows } = this.screen;
    if (this.#dock.sheet === undefined) return sheet.draw({ columns, rows }, now);
    const { lines, cursor } = sheet.draw({ columns, rows: rows - 1 }, now);
    const above = Array.from({ length: rows - 1 }, (_, at) => lines[at] ?? "");
    const waits = this.#paint("warning", "a question waits for you: close this to answer");
    return { lines: [...above, waits], ...(cursor && { cursor }) };
  }

  #tail(now: number): Tail {
    const { columns, rows } = this.screen;
    const prompt = this.composer.draw(columns);
    const sheet = this.#sheet();
    const below = prompt.lines.length + prompt.menu.length + 1;
    const room = Math.max(3, rows - below - 2);
    const drawn = sheet?.draw({ columns, rows: room }, now);
    const extras = drawn === undefined ? this.#extras(columns) : [];
    const left = Math.max(1, room - (drawn?.lines.length ?? 0) - extras.length);
    const { printed, tail } = this.#feed().update(this.session.view, { width: columns, rows, now });
    if (printed.length > 0) this.screen.print(printed);
    const above = [...tail.slice(-left), ...extras];
    const blank = above.length > 0 || drawn !== undefined ? [""] : [];
    const sheetRow = above.length + blank.length;
    const lines = [...above, ...blank, ...(drawn?.lines ?? []), this.#status(columns)];
    const promptRow = lines.length;
    const isSheetFocused = drawn !== undefined && (this.#opened !== undefined || this.#dock.isFocused);
    const cursor = isSheetFocused ? drawn.cursor : prompt.cursor;
    const row = isSheetFocused ? sheetRow : promptRow;
    return {
      lines: [...lines, ...prompt.lines, ...prompt.menu],
      ...(cursor && { cursor: { row: cursor.row + row, column: cursor.column } }),
    };
  }

  /** The plan, work in the background and the queue. */
  #extras(columns: number): string[] {
    const { view, queue, isQueueHeld } = this.session;
    const options = { width: columns, paint: this.#paint, marks: this.#marks };
    const plan = planLines(view, options);
    const background = backgroundLine(view, drawing({ ...options, cwd: this.session.cwd }));
    const first = isQueueHeld ? "held" : "next";
    const waiting = queue.map(({ text }, at) => {
      const line = safeLine(text).slice(0, Math.max(10, columns - 12));
      return this.#paint("dim", `${at === 0 ? first : "then"}  ${line}`);
    });
    return [...plan, ...(background === undefined ? [] : [background]), ...waiting];
  }

  #status(columns: number): string {
    const hint = this.#hint;
    if (hint !== undefined && performance.now() < hint.until)
      return this.#paint("warning", safeLine(hint.text).slice(0, columns));
    return statusLine(this.session, columns, this.#paint, Date.now());
  }

  #feed(): TranscriptFeed {
    const { key, cwd } = this.session;
    const known = this.#feeds.get(key);
    if (known !== undefined) return known;
    const feed = new TranscriptFeed({ paint: this.#paint, cwd, isAnimated: this.#options.isAnimated });
    this.#feeds.set(key, feed);
    return feed;
  }

  /** Seconds are counted on the screen while a turn runs, and a hint goes away. */
  #watchClock(): void {
    const isNeeded =
      this.session.turn !== undefined || this.#hint !== undefined || this.#dock.sheet !== undefined;
    if (isNeeded && this.#clock === undefined) this.#clock = setInterval(() => this.#tick(), 250);
    if (isNeeded || this.#clock === undefined) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }

  #tick(): void {
    this.#dock.settle();
    if (this.#hint !== undefined && performance.now() >= this.#hint.until) this.#hint = undefined;
    this.redraw();
  }

  // ---- questions

  #sheet(): Sheet | undefined {
    return this.#opened ?? this.#dock.sheet;
  }

  #ask(): void {
    if (!this.#dock.ask(this.session, this.#paint, () => this.session.questions.length)) return;
    if (!this.#dock.isFocused) this.hint("a question waits: Tab goes to it");
    this.#attention.call(`${this.session.agent.name} needs you`);
  }

  // ---- events

  #event(event: ConversationEvent): void {
    if (event.session === this.session) this.#happened(event);
    else this.#attention.elsewhere(event);
    this.#ask();
    this.#attention.title();
    this.redraw();
  }

  #happened(event: ConversationEvent): void {
    switch (event.kind) {
      case "notice": {
        const { level, text } = event.notice;
        return this.say(text, level === "info" ? "dim" : level);
      }
      case "turn":
        this.screen.print(this.#feed().turnEnded(event.session.view, event.summary, this.screen.columns));
        return this.#attention.turnEnded(event);
      case "state":
        return this.#attention.problem(event.session);
      case "shown":
        this.composer.text = this.session.draft;
        this.screen.print(this.#feed().shown(this.session.view, this.session, this.screen));
        return this.#attention.problem(event.session);
      default:
        return;
    }
  }

  // ---- keys

  #key(key: KeyPress): void {
    const now = performance.now();
    if (this.#full !== undefined) this.#full.sheet.key(key, now);
    else if (this.#opened !== undefined) this.#opened.key(key, now);
    else if (!this.#acted(key, now)) this.#typed(key, now);
    this.#ask();
    this.redraw();
  }

  #typed(key: KeyPress, now: number): void {
    if (this.#dock.isFocused) this.#dock.sheet?.key(key, now);
    else this.composer.key(key);
  }

  /** Whether the key did something of its own. */
  #acted(key: KeyPress, now: number): boolean {
    const isSheetFocused = this.#dock.isFocused;
    if (key.id === "tab" && !this.composer.hasMenu && this.#dock.turn()) return true;
    const action = chatKeys.find(({ keys }) => keys.includes(key.id))?.action;
    switch (action) {
      case "clear":
        this.#interrupted(now);
        return true;
      case "leave":
        if (!this.composer.isEmpty) return false;
        this.leave();
        return true;
      case "stop":
        return !isSheetFocused && !this.composer.hasMenu && this.#stop(now);
      case "send":
        return !isSheetFocused && !this.composer.hasMenu && this.#goOn();
      case "newline":
      case "focus":
      case undefined:
        return this.#isHelpKey(key) && !isSheetFocused && this.#act("help");
      default:
        return (!isSheetFocused || whileAsked.has(action)) && this.#act(action);
    }
  }

  /** Enter starts an agent that has ended again, and sends what is written or was held. */
  #goOn(): boolean {
    const { phase, isQueueHeld, turn } = this.session;
    const { isEmpty } = this.composer;
    if (phase === "crashed" || phase === "failed") {
      this.attempt(this.session.restart());
      return isEmpty;
    }
    if (!isEmpty || !isQueueHeld || turn !== undefined) return false;
    this.session.releaseQueue();
    return true;
  }

  #isHelpKey(key: KeyPress): boolean {
    return key.text === "?" && this.composer.text === "";
  }

  #act(action: ChatAction): true {
    this.#actions.run(action, "");
    return true;
  }

  /** A single Ctrl-C never leaves: it may be meant to copy a selection. */
  #interrupted(now: number): void {
    if (this.composer.text !== "") return this.composer.clear();
    if (this.#stop(now)) return;
    if (now < this.#leavesUntil) return this.leave();
    this.#leavesUntil = now + againMs;
    this.hint("press Ctrl-C again to leave; the session is kept");
  }

  #stop(now: number): boolean {
    const { turn, runsCommand } = this.session;
    if (turn === undefined) {
      // a command of the user
      if (runsCommand) this.session.cancel();
      return runsCommand;
    }
    if (turn.isCancelling && now - this.#stoppedAt < forceMs) {
      this.hint("ending the agent; the session goes on with your next prompt");
      this.attempt(this.session.force());
      return true;
    }
    this.#stoppedAt = now;
    this.session.cancel();
    this.hint("stopping; press Esc again to force it");
    return true;
  }
}
