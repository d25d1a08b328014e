// The conversation on a screen: the tail of the transcript, plan, queue, sheet, status and prompt, and the keys.

import type { Conversation } from "@parley/client/conversation";
import type { KeyPress } from "../../screen/key-press.ts";
import type { DrawnPrompt } from "../../screen/prompt-editor.ts";
import type { FullScreen, Screen } from "../../screen/screen.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint, ThemeName } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import type { ConversationEvent, Conversations } from "../conversation/conversations.ts";
import { type ChatAction, chatKeys } from "../keys/keys-and-commands.ts";
import type { SessionReview } from "../review/session-review.ts";
import type { Sheet } from "../sheets/sheet.ts";
import { Attention } from "./attention.ts";
import { Composer } from "./composer.ts";
import type { FaceActions } from "./face-actions.ts";
import { faceTail } from "./face-tail.ts";
import { Hint } from "./hint.ts";
import type { pinnedLines as PinnedLines, TurnEnds } from "./pinned-lines.ts";
import { frameColumns, framedPrompt } from "./prompt-frame.ts";
import type { QuestionDock } from "./question-dock.ts";
import { statusLine } from "./status-line.ts";
import type { TranscriptPane } from "./transcript-pane.ts";
import { stopping, TurnKeys } from "./turn-keys.ts";

export interface ChatFaceOptions {
  readonly screen: Screen;
  readonly conversation: Conversations;
  readonly paint: Paint;
  /** The name of its theme. Default: that of the terminal. */
  readonly theme?: ThemeName;
  readonly isAnimated: boolean;
  readonly editor: string;
  /** Whether to tell the desktop when a turn ends or a question waits. */
  readonly notifies: boolean;
  /** The review of a session. */
  review?(session: Conversation): SessionReview | undefined;
}

/** Somebody who is asked may look around before the answer, or change the mode, which may be the answer. */
const whileAsked: ReadonlySet<ChatAction> = new Set([
  ...["transcript", "review", "files", "mode", "palette", "help"],
] as ChatAction[]); // as: the list has no other words

/** Shows a conversation until the user leaves. */
export class ChatFace {
  readonly screen: Screen;
  readonly conversation: Conversations;
  readonly composer: Composer;
  readonly #options: ChatFaceOptions;
  readonly #loading: Promise<void>;
  readonly #attention: Attention;
  readonly #keys = new TurnKeys(this);
  readonly #left = Promise.withResolvers<void>();
  readonly #removers: (() => void)[] = [];
  /** What is loaded after the first paint, and what happened before it was there. */
  #pinned: typeof PinnedLines | undefined;
  readonly #early: ConversationEvent[] = [];
  #actions: FaceActions | undefined;
  #dock: QuestionDock | undefined;
  #transcript: TranscriptPane | undefined;
  /** Paints with the theme of the moment: what is printed stays as it is. */
  readonly #paint: Paint = (role, text) => this.#theme(role, text);
  #theme: Paint;
  #themeName: ThemeName;
  /** What the user opened: a list, the help. It is above the questions. */
  #opened: Sheet | undefined;
  #full: { readonly screen: FullScreen; readonly sheet: Sheet } | undefined;
  readonly #hint = new Hint();
  #hasPrompts = false;
  readonly #endedAt = new WeakMap<Conversation, TurnEnds>();
  #clock: NodeJS.Timeout | undefined;

  constructor(options: ChatFaceOptions) {
    const { screen, conversation, paint, editor } = options;
    this.#options = options;
    this.screen = screen;
    this.conversation = conversation;
    this.#theme = paint;
    this.#themeName = options.theme ?? "terminal";
    this.composer = new Composer({
      screen,
      conversation,
      paint: this.#paint,
      editor,
      redraw: () => this.redraw(),
    });
    this.composer.onSubmit = (input) => this.#withActions((actions) => actions.submitted(input));
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
    this.redraw();
    screen.flush();
    this.#loading = this.#load();
    this.#loading.catch((error: unknown) => this.#left.reject(error));
  }

  async #load(): Promise<void> {
    const loaded = await import("./face-parts.ts");
    this.#pinned = loaded.pinnedLines;
    this.#actions = new loaded.FaceActions(this);
    this.#dock = new loaded.QuestionDock(this.screen, this.composer);
    const { screen, isAnimated } = this.#options;
    this.#transcript = new loaded.TranscriptPane({ screen, isAnimated, paint: this.#paint });
    for (const event of this.#early.splice(0)) this.#event(event);
    this.redraw();
  }

  /** At once, or as soon as they are loaded. */
  #withActions(work: (actions: FaceActions) => void): void {
    const actions = this.#actions;
    if (actions !== undefined) return work(actions);
    this.#loading.then(
      () => this.#withActions(work),
      () => undefined,
    );
  }

  get session(): Conversation {
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

  get theme(): ThemeName {
    return this.#themeName;
  }

  usePaint(paint: Paint, theme: ThemeName): void {
    this.#theme = paint;
    this.#themeName = theme;
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
    this.#dock?.uncovered();
    this.redraw();
  }

  /** Opens a sheet on the whole screen; undefined closes it. */
  openFull(sheet: Sheet | undefined): void {
    this.#full?.screen.close();
    this.#full = sheet === undefined ? undefined : { screen: this.screen.fullScreen(), sheet };
    this.#dock?.uncovered();
    this.redraw();
  }

  /** Prints a sentence of ours. */
  say(text: string, role: "dim" | "warning" | "error" = "dim"): void {
    this.#withActions(() => this.#transcript?.say(this.session, text, role));
    this.redraw();
  }

  /** Says it if this goes wrong. */
  attempt(work: Promise<unknown>): void {
    work.catch((error: unknown) => this.say(error instanceof Error ? error.message : String(error), "error"));
  }

  /** Shows a sentence above the prompt for a moment. */
  hint(text: string): void {
    this.#hint.show(text);
    this.redraw();
  }

  redraw(): void {
    this.#watchClock();
    if (this.#full === undefined) return this.screen.draw((isEarly) => this.#tail(isEarly));
    const { screen, sheet } = this.#full;
    screen.draw(() => this.#fullTail(sheet));
  }

  // ---- drawing

  /** A question that comes meanwhile is told in the last row. */
  #fullTail(sheet: Sheet): Tail {
    const now = performance.now();
    const { columns, rows } = this.screen;
    if (this.#dock?.sheet === undefined) return sheet.draw({ columns, rows }, now);
    const { lines, cursor } = sheet.draw({ columns, rows: rows - 1 }, now);
    const above = Array.from({ length: rows - 1 }, (_, at) => lines[at] ?? "");
    const waits = this.#paint("warning", "a question waits for you: close this to answer");
    return { lines: [...above, waits], ...(cursor && { cursor }) };
  }

  /** An early frame shows a key: the transcript waits for the next one. */
  #tail(isEarly: boolean): Tail {
    const now = performance.now();
    const { columns, rows } = this.screen;
    if (!isEarly) this.#transcript?.update(this.session, now);
    this.#attention.title();
    const sheet = this.#sheet();
    const ended = this.#endedAt.get(this.session) ?? { last: 0, before: 0 };
    const tail = faceTail({
      columns,
      rows,
      open: this.#transcript?.open ?? [],
      hasPrinted: this.#transcript?.hasPrinted === true,
      pinned: this.#pinned?.(this.session, ended, columns, this.#paint) ?? [],
      sheet: sheet && { isOpened: sheet === this.#opened, draw: (size) => sheet.draw(size, now) },
      isSheetFocused: this.#opened !== undefined || this.#isAsking,
      status: this.#status(columns),
      prompt: this.#prompt(columns, rows),
    });
    return { ...tail, isPartial: this.#transcript?.isBehind === true };
  }

  #prompt(columns: number, rows: number): DrawnPrompt {
    const { title } = this.session;
    const isFocused = this.#opened === undefined && !this.#isAsking;
    const frame = { columns, rows, title, paint: this.#paint, isFocused };
    const isAsked = this.#isAsking && this.#opened === undefined;
    return framedPrompt(this.composer.draw(columns - frameColumns(frame), isAsked), frame);
  }

  #status(columns: number): string {
    const { text } = this.#hint;
    if (text !== undefined) return this.#paint("warning", safeLine(text).slice(0, columns));
    return statusLine(this.session, columns, this.#paint, Date.now());
  }

  /** Seconds are counted on the screen while a turn runs, and a hint goes away. */
  #watchClock(): void {
    const isNeeded =
      this.session.turn !== undefined || this.#hint.text !== undefined || this.#dock?.sheet !== undefined;
    if (isNeeded && this.#clock === undefined) this.#clock = setInterval(() => this.#tick(), 250);
    if (isNeeded || this.#clock === undefined) return;
    clearInterval(this.#clock);
    this.#clock = undefined;
  }

  #tick(): void {
    this.#dock?.settle();
    this.redraw();
  }

  // ---- questions

  #sheet(): Sheet | undefined {
    return this.#opened ?? this.#dock?.sheet;
  }

  /** Whether a question gets the keys. */
  get #isAsking(): boolean {
    return this.#dock?.isFocused ?? false;
  }

  #ask(): void {
    if (this.#dock?.ask(this.session, this.#paint, () => this.session.questions.length) !== true) return;
    if (!this.#isAsking) this.hint("a question waits: Tab goes to it");
    this.#attention.call(`${this.session.agent.name} needs you`);
  }

  // ---- events

  #event(event: ConversationEvent): void {
    if (this.#pinned === undefined) {
      this.#early.push(event);
      return this.redraw();
    }
    if (event.session === this.session) this.#happened(event);
    else this.#attention.elsewhere(event);
    if (event.kind !== "entries") this.#ask();
    this.redraw();
  }

  #happened(event: ConversationEvent): void {
    switch (event.kind) {
      case "notice": {
        const { level, text } = event.notice;
        return this.say(text, level === "info" ? "dim" : level);
      }
      case "turn":
        return this.#turnEnded(event);
      case "state":
        this.#withActions((actions) => actions.unsent());
        this.#remember();
        // what came before an end is printed before it
        this.#settle(event.session);
        return this.#attention.problem(event.session);
      case "shown":
        this.composer.text = this.session.draft;
        this.#transcript?.show(this.session);
        return this.#attention.problem(event.session);
      default:
        return;
    }
  }

  /** Earlier prompts come when the agent is there: reading them takes time. */
  #remember(): void {
    if (this.#hasPrompts || this.session.phase === "starting") return;
    this.#hasPrompts = true;
    this.conversation.prompts().then(
      (prompts) => this.composer.remember(prompts.toReversed()),
      () => undefined,
    );
  }

  /** A session that was continued is printed to its end: no turn will end it. Nothing more comes of one that has ended. */
  #settle(session: Conversation): void {
    const { phase, turn } = session;
    const isOver = phase === "ready" ? turn === undefined : phase === "crashed";
    if (isOver) this.#transcript?.settle(session);
  }

  #turnEnded(event: Extract<ConversationEvent, { kind: "turn" }>): void {
    const { session, summary } = event;
    this.#endedAt.set(session, { last: session.view.version, before: this.#endedAt.get(session)?.last ?? 0 });
    this.#hint.remove(stopping);
    this.#transcript?.turnEnded(session, summary);
    this.#attention.turnEnded(event);
  }

  // ---- keys

  #key(key: KeyPress): void {
    const now = performance.now();
    if (key.id === "ctrl+z") this.#act("suspend");
    else if (this.#full !== undefined) this.#full.sheet.key(key, now);
    else if (this.#opened !== undefined) this.#opened.key(key, now);
    else if (!this.#acted(key, now)) this.#typed(key, now);
    this.#ask();
    this.redraw();
  }

  #typed(key: KeyPress, now: number): void {
    if (this.#isAsking) this.#dock?.sheet?.key(key, now);
    else this.composer.key(key);
  }

  /** Whether the key did something of its own. */
  #acted(key: KeyPress, now: number): boolean {
    const isSheetFocused = this.#isAsking;
    if (key.id === "tab" && !this.composer.hasMenu && this.#dock?.turn() === true) return true;
    const action = chatKeys.find(({ keys }) => keys.includes(key.id))?.action;
    switch (action) {
      case "clear":
        this.#keys.interrupt(now);
        return true;
      case "leave":
        if (!this.composer.isEmpty) return false;
        this.leave();
        return true;
      case "stop":
        if (isSheetFocused || this.composer.hasMenu) return false;
        return this.#keys.stop(now) || (this.#keys.rewinds(now) && this.#act("rewind"));
      case "send":
        return !isSheetFocused && !this.composer.hasMenu && this.#keys.goOn();
      case "newline":
      case "focus":
      case "deleteLine":
      case undefined:
        return key.text === "?" && this.composer.text === "" && !isSheetFocused && this.#act("help");
      default:
        return (!isSheetFocused || whileAsked.has(action)) && this.#act(action);
    }
  }

  #act(action: ChatAction): true {
    this.#withActions((actions) => actions.run(action, ""));
    return true;
  }
}
