// The whole transcript on a screen of its own: fold, search, jump, copy, open files.

import type { SessionView } from "@parley/acp/view";
import { type Marks, marksFor, unicodeMarks } from "../../draw/marks.ts";
import type { Attachment } from "../../draw/placeholders.ts";
import { clipped, count, padded } from "../../draw/text-lines.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { displayWidth } from "../../terminal/word-wrap.ts";
import type { Sheet, SheetSize } from "../sheets/sheet.ts";
import { hasMatch, textPattern, withMatches, withoutColours } from "./find-text.ts";
import { attachmentsIn, fileOf, itemText } from "./item-text.ts";
import { openAttachment } from "./open-attachment.ts";
import { helpLines } from "./transcript-help.ts";
import { type Place, TranscriptRows, type Unit } from "./transcript-rows.ts";

export interface FullTranscriptOptions {
  readonly view: () => SessionView;
  readonly paint: Paint;
  readonly cwd: string;
  /** The user has seen enough. */
  closed(): void;
  /** Opens an editor. */
  open(path: string, line: number | undefined): void;
  /** Opens an image, a sound or a resource and says what was done. Default: with a program of the desktop. */
  openAttachment?(attachment: Attachment): Promise<string>;
  copy(text: string): void;
  redraw(): void;
  /** Default: those that the terminal of this process can show. */
  readonly marks?: Marks;
  /** The time in milliseconds since 1970. Default: now. */
  readonly clock?: () => number;
}

/** Of the marks at the left of each line. */
const gutter = 2;
const wheelRows = 3;

export class FullTranscript implements Sheet {
  readonly #options: FullTranscriptOptions;
  readonly #marks: Marks;
  readonly #rows: TranscriptRows;
  #top: Place = { item: 0, part: 0, line: 0 };
  #cursor: Place = { item: 0, part: 0, line: 0 };
  /** The items that the view had dropped when it was looked at last. */
  #dropped = 0;
  /** Whether it stays at the end while entries come in. */
  #isFollowing = true;
  /** Rows for the transcript, as drawn last. */
  #isDrawn = false;
  #beginsAbove = false;
  #height = 20;
  /** The search that is being typed. */
  #typed: string | undefined;
  #pattern: RegExp | undefined;
  #query = "";
  #note = "";
  #showsHelp = false;

  constructor(options: FullTranscriptOptions) {
    this.#options = options;
    this.#marks = options.marks ?? marksFor(process.env);
    const { view, paint, cwd, clock = Date.now } = options;
    this.#rows = new TranscriptRows({ view, paint, cwd, marks: this.#marks, clock });
    this.#dropped = this.#rows.view.dropped;
  }

  // ---- drawing

  draw({ columns, rows }: SheetSize): Tail {
    this.#rows.width = Math.max(1, columns - gutter);
    this.#shift();
    const above = this.#showsHelp
      ? helpLines(columns, this.#options.paint).slice(0, Math.max(0, rows - 2))
      : [];
    const height = Math.max(0, rows - above.length - 1);
    this.#height = Math.max(1, height);
    this.#settle();
    this.#isDrawn = true;
    if (this.#beginsAbove) this.#prompt(-1);
    this.#beginsAbove = false;
    const body = height > 0 ? this.#body() : [];
    const blank = Array.from({ length: height - body.length }, () => "");
    const lines = [...body, ...blank, ...above, this.#footer(columns)];
    if (this.#typed === undefined) return { lines };
    return { lines, cursor: { row: rows - 1, column: Math.min(columns - 1, 1 + displayWidth(this.#typed)) } };
  }

  #body(): string[] {
    const lines: string[] = [];
    let unit: Unit = this.#top;
    let { line } = this.#top;
    while (lines.length < this.#height) {
      const drawn = this.#rows.lines(unit);
      for (; line < drawn.length && lines.length < this.#height; line += 1)
        lines.push(this.#row(drawn[line] ?? "", { ...unit, line }));
      const next = this.#rows.after(unit);
      if (next === undefined) break;
      unit = next;
      line = 0;
    }
    return lines;
  }

  #row(line: string, place: Place): string {
    const { paint } = this.#options;
    const isFound = this.#pattern !== undefined && hasMatch(withoutColours(line), this.#pattern);
    const isHere = TranscriptRows.compare(place, this.#cursor) === 0;
    const isSelected = place.item === this.#cursor.item && line !== "";
    const isUnicode = this.#marks === unicodeMarks;
    const mark = isHere ? (isUnicode ? "▶" : ">") : isSelected ? this.#marks.bar : isFound ? "*" : " ";
    // without colours, the mark at the left must do
    const isPlain = paint("strong", "x") === "x";
    const shown =
      isFound && !isPlain && this.#pattern !== undefined ? withMatches(line, this.#pattern) : line;
    return `${mark === " " ? " " : paint("accent", mark)}${isFound && mark !== "*" ? paint("accent", "*") : " "}${shown}`.trimEnd();
  }

  #footer(columns: number): string {
    const { paint } = this.#options;
    if (this.#typed !== undefined) return clipped(`/${this.#typed}`, columns);
    const { timeline, dropped } = this.#rows.view;
    const { length } = timeline;
    const here = Math.min(length, this.#cursor.item + 1);
    const at = `${count(dropped + here)} of ${count(dropped + length)}`;
    const query = this.#query === "" ? "" : `/${this.#query}`;
    const parts = [this.#note, at, this.#isFollowing ? "follows" : "", query];
    const left = parts.filter((part) => part !== "").join(` ${this.#marks.dot} `);
    const right = "? help  q back";
    const room = columns - right.length - 1;
    return paint("dim", room < 10 ? clipped(left, columns) : `${padded(clipped(left, room), room)} ${right}`);
  }

  /** The view may have dropped its oldest items. */
  #shift(): void {
    const { dropped } = this.#rows.view;
    const gone = dropped - this.#dropped;
    this.#dropped = dropped;
    const moved = (place: Place): Place =>
      place.item < gone ? { item: 0, part: 0, line: 0 } : { ...place, item: place.item - gone };
    this.#top = moved(this.#top);
    this.#cursor = moved(this.#cursor);
  }

  /** The cursor is on the screen, and the end of the transcript not above its end. */
  #settle(): void {
    const rows = this.#rows;
    this.#cursor = this.#isFollowing ? rows.last : rows.step(this.#cursor, 0);
    this.#top = rows.step(this.#top, 0);
    const lowest = rows.step(rows.last, 1 - this.#height);
    const least = rows.step(this.#cursor, 1 - this.#height);
    if (TranscriptRows.compare(this.#top, least) < 0) this.#top = least;
    if (TranscriptRows.compare(this.#top, this.#cursor) > 0) this.#top = this.#cursor;
    if (TranscriptRows.compare(this.#top, lowest) > 0) this.#top = lowest;
  }

  // ---- keys

  key(key: KeyPress): void {
    this.#note = "";
    this.#shift();
    if (this.#isFollowing) this.#cursor = this.#rows.last;
    if (this.#typed !== undefined) this.#type(this.#typed, key);
    else this.#act(key.text ?? key.id);
    this.#options.redraw();
  }

  #act(key: string): void {
    const half = Math.max(1, Math.floor(this.#height / 2));
    switch (key) {
      case "j":
      case "down":
        return this.#move(1);
      case "k":
      case "up":
        return this.#move(-1);
      case "d":
      case " ":
      case "ctrl+d":
      case "pageDown":
        return this.#scroll(half);
      case "u":
      case "ctrl+u":
      case "pageUp":
        return this.#scroll(-half);
      case "wheelDown":
        return this.#scroll(wheelRows);
      case "wheelUp":
        return this.#scroll(-wheelRows);
      case "g":
      case "home":
        return this.#jump({ item: 0, part: 0, line: 0 });
      case "G":
      case "end":
        this.#isFollowing = true;
        return;
      case "[":
      case "ctrl+up":
      case "alt+up":
        return this.#prompt(-1);
      case "]":
      case "ctrl+down":
      case "alt+down":
        return this.#prompt(1);
      default:
        return this.#actOn(key);
    }
  }

  #actOn(key: string): void {
    switch (key) {
      case "enter":
      case "tab":
        return this.#fold();
      case "E":
        return this.#foldAll();
      case "/":
        this.#typed = "";
        return;
      case "n":
        return this.#find(1);
      case "N":
        return this.#find(-1);
      case "o":
        return this.#open();
      case "y":
        return this.#copy();
      case "?":
        this.#showsHelp = !this.#showsHelp;
        return;
      case "escape":
        if (this.#showsHelp) {
          this.#showsHelp = false;
          return;
        }
        if (this.#query !== "") return this.#search("");
        return this.#options.closed();
      case "q":
      case "ctrl+c":
      case "ctrl+o":
        return this.#options.closed();
      default:
        return;
    }
  }

  #type(typed: string, key: KeyPress): void {
    if (key.id === "escape" || key.id === "ctrl+c") {
      this.#typed = undefined;
      this.#search("");
    } else if (key.id === "enter") {
      this.#typed = undefined;
      this.#search(typed);
      this.#find(1);
    } else if (key.id === "backspace") {
      if (typed === "") this.#typed = undefined;
      else this.#typed = [...typed].slice(0, -1).join("");
    } else if (key.id === "ctrl+u") this.#typed = "";
    else this.#typed = `${typed}${key.paste === undefined ? (key.text ?? "") : safeLine(key.paste)}`;
    if (this.#typed !== undefined) this.#pattern = textPattern(this.#typed);
  }

  // ---- moving

  #move(by: number): void {
    this.#go(this.#rows.step(this.#cursor, by));
  }

  /** The cursor stays where it is on the screen. */
  #scroll(by: number): void {
    this.#top = this.#rows.step(this.#top, by);
    this.#move(by);
  }

  /** Some rows above it are shown too. */
  #jump(place: Place): void {
    this.#go(place);
    const isVisible =
      TranscriptRows.compare(place, this.#top) >= 0 &&
      TranscriptRows.compare(place, this.#rows.step(this.#top, this.#height - 1)) <= 0;
    if (!isVisible) this.#top = this.#rows.step(place, -Math.floor(this.#height / 3));
  }

  #go(place: Place): void {
    this.#cursor = place;
    this.#isFollowing = TranscriptRows.compare(place, this.#rows.last) === 0;
  }

  #prompt(direction: 1 | -1): void {
    const { timeline } = this.#rows.view;
    let at = this.#cursor.item + direction;
    // above the first line of a prompt is the prompt itself
    if (direction < 0 && this.#cursor.line > this.#rows.startOf({ item: this.#cursor.item, part: 0 }).line)
      at += 1;
    while (at >= 0 && at < timeline.length && timeline[at]?.kind !== "user_message") at += direction;
    if (timeline[at] !== undefined) return this.#jump(this.#rows.startOf({ item: at, part: 0 }));
    this.#note = direction > 0 ? "no prompt below" : "no prompt above";
  }

  /** Goes to the prompt above. Before the first drawing it has no place yet. */
  previousPrompt(): void {
    if (this.#isDrawn) this.#prompt(-1);
    else this.#beginsAbove = true;
    this.#options.redraw();
  }

  // ---- the item under the cursor

  #fold(): void {
    const item = this.#rows.item(this.#cursor.item);
    if (item === undefined) return;
    this.#rows.expand(item, !this.#rows.isExpanded(item));
    this.#jump(this.#rows.startOf({ item: this.#cursor.item, part: 0 }));
    // its end may be on the screen; the user looks at its start
    this.#isFollowing = false;
  }

  #foldAll(): void {
    this.#note = this.#rows.expandAll() ? "all unfolded" : "all folded";
    if (this.#isFollowing) return;
    this.#jump(this.#rows.startOf({ item: this.#cursor.item, part: 0 }));
  }

  #open(): void {
    const item = this.#rows.item(this.#cursor.item);
    const file = item === undefined ? undefined : fileOf(item, this.#options.cwd);
    if (file !== undefined) return this.#options.open(file.path, file.line);
    const [attachment] = item === undefined ? [] : attachmentsIn(item);
    if (attachment === undefined) this.#note = "this names no file";
    else this.#openAttachment(attachment);
  }

  #openAttachment(attachment: Attachment): void {
    const open = this.#options.openAttachment ?? openAttachment;
    open(attachment).then(
      (said) => this.#say(said),
      (error: unknown) => this.#say(`cannot open it: ${safeLine(String(error))}`),
    );
  }

  #say(note: string): void {
    this.#note = note;
    this.#options.redraw();
  }

  #copy(): void {
    const item = this.#rows.item(this.#cursor.item);
    if (item === undefined) return;
    this.#options.copy(itemText(item, this.#rows.view));
    this.#note = "copied";
  }

  // ---- search

  #search(query: string): void {
    this.#query = query;
    this.#pattern = textPattern(query);
  }

  /** Goes to the next line with the text. Folded items that have it are unfolded. */
  #find(direction: 1 | -1): void {
    const pattern = this.#pattern;
    if (pattern === undefined) {
      this.#note = "type / and what to look for";
      return;
    }
    const { item, part, line } = this.#cursor;
    const here = this.#found({ item, part }, pattern).filter((at) => (direction > 0 ? at > line : at < line));
    const near = direction > 0 ? here[0] : here.at(-1);
    if (near !== undefined) return this.#jump({ item, part, line: near });
    for (const unit of this.#rows.others({ item, part }, direction)) {
      const lines = this.#found(unit, pattern);
      const at = direction > 0 ? lines[0] : lines.at(-1);
      if (at === undefined) continue;
      const isAround = direction > 0 ? unit.item < item : unit.item > item;
      if (isAround) this.#note = direction > 0 ? "from the start" : "from the end";
      return this.#jump({ ...unit, line: at });
    }
    this.#note = "not found";
  }

  /** The lines of a unit that have the text. */
  #found(unit: Unit, pattern: RegExp): number[] {
    if (!this.#rows.someText(unit, (text) => hasMatch(text, pattern))) return [];
    const item = this.#rows.item(unit.item);
    if (item !== undefined) this.#rows.expand(item, true);
    const found: number[] = [];
    for (const [at, line] of this.#rows.lines(unit).entries())
      if (hasMatch(withoutColours(line), pattern)) found.push(at);
    // it may go over the end of a line
    return found.length > 0 || this.#rows.lines(unit).length === 0 ? found : [this.#rows.startOf(unit).line];
  }
}
