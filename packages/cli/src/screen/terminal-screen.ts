// A screen on a terminal. What is printed and drawn is written at most once per frame.

import type { Terminal } from "@earendil-works/pi-tui";
import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { asciiText, hasUtf8 } from "../terminal/ascii-text.ts";
import { safeLine } from "../terminal/sanitise.ts";
import { type KeyPress, keyPress } from "./key-press.ts";
import type { Drawn, FullScreen, Screen } from "./screen.ts";
import { type Tail, TailWriter } from "./tail-writer.ts";
import { copySequence, noticeSequence } from "./terminal-requests.ts";
import type { TerminalWatch } from "./terminal-watch.ts";

/** The methods of a terminal that a screen uses. */
export type ScreenTerminal = Pick<Terminal, "start" | "stop" | "write" | "columns" | "rows">;

/** No eye sees more frames. */
const frameMs = 16;
/** More lines at once keep a terminal busy, and with it everybody who types. The rest comes with the next frame. */
const frameCharacters = 8 * 1024;

const csi = "\u001b[";
const emptyTail: Tail = { lines: [] };
/** Terminals that know it tell when the window gets and loses the focus. */
const reportFocus = `${csi}?1004h`;
const ignoreFocus = `${csi}?1004l`;
const focusIn = `${csi}I`;
const focusOut = `${csi}O`;
/** The wheel is reported while the alternate screen is open: elsewhere it belongs to the scrollback. */
const reportMouse = `${csi}?1000h${csi}?1006h`;
const ignoreMouse = `${csi}?1006l${csi}?1000l`;
/** Saves the title of the window, and brings it back. */
const saveTitle = `${csi}22;0t`;
const restoreTitle = `${csi}23;0t`;

export interface ScreenOptions {
  /** Whether the wheel scrolls on the alternate screen. The terminal then selects text only with Shift. Default: false. */
  readonly hasMouse?: boolean;
  /** Restores the terminal if this process is killed while the alternate screen is open. */
  readonly watch?: TerminalWatch;
}

export class TerminalScreen implements Screen {
  readonly #terminal: ScreenTerminal;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #hasMouse: boolean;
  readonly #fit: Fit;
  readonly #watch: TerminalWatch | undefined;
  readonly #keyListeners = new Set<(key: KeyPress) => void>();
  readonly #resizeListeners = new Set<() => void>();
  readonly #writer = new TailWriter();
  #finished: string[] = [];
  #tail: Drawn = emptyTail;
  #full: FullFrame | undefined;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  /** Whether a frame with a key is due. */
  #early = false;
  #lastFrame = Number.NEGATIVE_INFINITY;
  /** Whether the last frame left something for the next. */
  #isPartial = false;
  #state: "open" | "suspended" | "closed" = "open";
  #title: string | undefined;
  #isFocused = true;

  constructor(
    terminal: ScreenTerminal,
    environment: NodeJS.ProcessEnv = process.env,
    { hasMouse = false, watch }: ScreenOptions = {},
  ) {
    this.#watch = watch;
    this.#terminal = terminal;
    this.#environment = environment;
    this.#hasMouse = hasMouse;
    this.#fit = hasUtf8(environment)
      ? fitting
      : (line, columns) => fitting(asciiText(line.replaceAll(unsafe, "")), columns);
    process.on("exit", this.#leave);
    this.#start();
  }

  #beginFull(): void {
    this.#watch?.begin(`${this.#fullEnd}${csi}?25h${csi}?2004l${ignoreFocus}\r\n`);
    this.#terminal.write(`${csi}?1049h${csi}2J${this.#hasMouse ? reportMouse : ""}`);
  }

  #endFull(): void {
    this.#terminal.write(this.#fullEnd);
    this.#watch?.end();
  }

  get #fullEnd(): string {
    return `${this.#hasMouse ? ignoreMouse : ""}${csi}?1049l`;
  }

  get columns(): number {
    return Math.max(1, this.#terminal.columns);
  }

  get rows(): number {
    return Math.max(2, this.#terminal.rows);
  }

  get isFocused(): boolean {
    return this.#isFocused;
  }

  print(lines: readonly string[]): void {
    for (const line of lines) this.#finished.push(line);
    this.#schedule();
  }

  draw(tail: Drawn): void {
    this.#tail = tail;
    this.#schedule();
  }

  onKey(listener: (key: KeyPress) => void): () => void {
    this.#keyListeners.add(listener);
    return () => this.#keyListeners.delete(listener);
  }

  onResize(listener: () => void): () => void {
    this.#resizeListeners.add(listener);
    return () => this.#resizeListeners.delete(listener);
  }

  fullScreen(): FullScreen {
    if (this.#full !== undefined) throw new Error("fullScreen: one is open already; close it first");
    this.flush();
    const full = new FullFrame(this.#fit);
    this.#full = full;
    this.#beginFull();
    return {
      draw: (tail) => {
        full.tail = tail;
        if (this.#full === full) this.#schedule();
      },
      close: () => {
        if (this.#full !== full) return;
        this.#full = undefined;
        this.#endFull();
        this.#schedule();
      },
    };
  }

  async suspend<T>(work: () => Promise<T>): Promise<T> {
    this.flush();
    const isFull = this.#full !== undefined;
    if (isFull) this.#endFull();
    else this.#terminal.write(this.#writer.clear(this.columns, this.rows));
    this.#state = "suspended";
    this.#stop();
    try {
      return await work();
    } finally {
      if (this.#is("suspended")) this.#resume(isFull);
    }
  }

  title(text: string): void {
    if (this.#state === "closed") return;
    const title = this.#fit(safeLine(text).slice(0, 200), 200);
    if (title === this.#title) return;
    this.#terminal.write(`${this.#title === undefined ? saveTitle : ""}\u001b]2;${title}\u0007`);
    this.#title = title;
  }

  bell(): void {
    if (this.#state === "open") this.#terminal.write("\u0007");
  }

  notify(text: string): void {
    if (this.#state === "open")
      this.#terminal.write(noticeSequence(this.#fit(safeLine(text), 1_000), this.#environment));
  }

  copy(text: string): void {
    if (this.#state === "open") this.#terminal.write(copySequence(text));
  }

  refresh(): void {
    if (this.#state !== "open") return;
    this.#full?.forget();
    if (this.#full === undefined) this.#terminal.write(this.#writer.clear(this.columns, this.rows));
    this.#schedule();
  }

  flush(): void {
    do this.#frame();
    while (this.#state === "open" && this.#full === undefined && this.#finished.length > 0);
  }

  close(): void {
    if (this.#state === "closed") return;
    if (this.#state === "open") {
      if (this.#full !== undefined) this.#endFull();
      this.#full = undefined;
      this.#tail = emptyTail;
      this.flush();
      this.#terminal.write(`${this.#writer.clear(this.columns, this.rows)}${csi}?25h`);
      this.#stop();
    }
    if (this.#title !== undefined) this.#terminal.write(restoreTitle);
    this.#state = "closed";
    this.#unschedule();
    process.removeListener("exit", this.#leave);
  }

  /** A crash must not leave the terminal without echo. */
  readonly #leave = (): void => this.close();

  /** The state may have changed during an await. */
  #is(state: "open" | "suspended" | "closed"): boolean {
    return this.#state === state;
  }

  #start(): void {
    this.#terminal.start(
      (data) => this.#input(data),
      () => this.#resized(),
    );
    this.#terminal.write(reportFocus);
  }

  #stop(): void {
    this.#terminal.write(ignoreFocus);
    this.#terminal.stop();
  }

  #resume(isFull: boolean): void {
    this.#state = "open";
    this.#start();
    if (isFull) this.#beginFull();
    this.#full?.forget();
    this.#schedule();
  }

  #input(data: string): void {
    if (data === focusIn || data === focusOut) this.#isFocused = data === focusIn;
    const key = keyPress(data);
    if (key === undefined) return;
    for (const listener of [...this.#keyListeners]) listener(key);
    // whoever types waits neither until a frame is due nor for what else was received meanwhile
    if (this.#early || (this.#timer === undefined && this.#immediate === undefined)) return;
    this.#early = true;
    process.nextTick(() => this.#earlyFrame());
  }

  #resized(): void {
    this.#full?.forget();
    for (const listener of [...this.#resizeListeners]) listener();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#state !== "open" || this.#timer !== undefined || this.#immediate !== undefined) return;
    const wait = this.#lastFrame + frameMs - performance.now();
    if (wait > 0) this.#timer = setTimeout(() => this.#frame(), wait);
    else this.#immediate = setImmediate(() => this.#frame());
  }

  #unschedule(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
    this.#early = false;
  }

  /** The number of finished lines for one frame. */
  #fitting(): number {
    let size = 0;
    const end = this.#finished.findIndex((line) => {
      size += line.length;
      return size > frameCharacters;
    });
    return end < 0 ? this.#finished.length : Math.max(1, end);
  }

  #earlyFrame(): void {
    // another frame may have shown the key
    const bytes = this.#early && this.#state === "open" ? this.#bytes(true) : "";
    this.#early = false;
    if (bytes !== "") this.#terminal.write(bytes);
  }

  #frame(): void {
    if (this.#state !== "open") return this.#unschedule();
    this.#isPartial = false;
    const bytes = this.#bytes(false);
    // what was printed meanwhile is in this frame
    this.#unschedule();
    this.#lastFrame = performance.now();
    if (bytes !== "") this.#terminal.write(bytes);
    if (this.#isPartial) this.#immediate = setImmediate(() => this.#frame());
  }

  #bytes(isEarly: boolean): string {
    const { columns, rows } = this;
    return this.#full?.frame(columns, rows, isEarly) ?? this.#inlineFrame(columns, rows, isEarly);
  }

  #inlineFrame(columns: number, rows: number, isEarly: boolean): string {
    // what is not written yet goes before what could be drawn
    const drawn = made(this.#tail, isEarly || this.#finished.length > this.#fitting());
    const tail = shownTail(drawn, columns, rows, this.#fit);
    const finished = this.#finished.splice(0, this.#fitting()).map((line) => this.#fit(line, columns));
    this.#isPartial = drawn.isPartial === true || this.#finished.length > 0;
    return this.#writer.frame(finished, tail, columns, rows);
  }
}

function made(drawn: Drawn, isEarly: boolean): Tail {
  return typeof drawn === "function" ? drawn(isEarly) : drawn;
}

/** The last rows that fit, with the cursor among them. */
function shownTail({ lines, cursor }: Tail, columns: number, rows: number, fitted: Fit): Tail {
  const hidden = Math.max(0, lines.length - (rows - 1));
  const shown = lines.slice(hidden).map((line) => fitted(line, columns));
  if (cursor === undefined || cursor.row < hidden) return { lines: shown };
  const column = Math.min(cursor.column, columns - 1);
  return { lines: shown, cursor: { row: Math.min(cursor.row - hidden, shown.length - 1), column } };
}

const plain = /^[\x20-\x7e]*$/;

/** Everything but text, tabs and colours: whoever draws has removed it, and if not, it ends here. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it looks for
const unsafe = /[\u0000-\u0008\u000a-\u001a\u001c-\u001f\u007f-\u009f]|\u001b(?!\[[\d;:]*m)/g;

/** Makes a line safe, and as wide as the terminal at most. */
type Fit = (line: string, columns: number) => string;

/** A line that is too wide would take two rows. */
function fitting(line: string, columns: number): string {
  if (line.length <= columns && plain.test(line)) return line;
  const safe = line.replaceAll(unsafe, "");
  return visibleWidth(safe) <= columns ? safe : truncateToWidth(safe, columns, "");
}

/** The alternate screen: each row has its place. */
class FullFrame {
  tail: Drawn = emptyTail;
  readonly #fit: Fit;
  #rows: readonly string[] = [];

  constructor(fit: Fit) {
    this.#fit = fit;
  }

  /** Forgets what is on the screen. */
  forget(): void {
    this.#rows = [];
  }

  frame(columns: number, rows: number, isEarly: boolean): string {
    const tail = made(this.tail, isEarly);
    const lines = tail.lines.slice(0, rows).map((line) => this.#fit(line, columns));
    let body = "";
    for (let at = 0; at < rows; at++) {
      const line = lines[at] ?? "";
      if (this.#rows[at] !== line) body += `${csi}${at + 1};1H${line}${csi}0m${csi}K`;
    }
    this.#rows = Array.from({ length: rows }, (_, at) => lines[at] ?? "");
    const { cursor } = tail;
    const place =
      cursor === undefined ? `${csi}?25l` : `${csi}${cursor.row + 1};${cursor.column + 1}H${csi}?25h`;
    return `${csi}?2026h${csi}?25l${body}${place}${csi}?2026l`;
  }
}
