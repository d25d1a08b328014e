// Turns a view that grows into lines that are printed once, in the order of the view, and a tail that is drawn again.

import { changesSince, type MessageItem, type SessionView, type TimelineItem } from "@parley/acp/view";
import type { Conversation, TurnSummary } from "@parley/client/conversation";
import { drawItem } from "../../draw/draw-item.ts";
import { type Marks, marksFor } from "../../draw/marks.ts";
import { clipped, count, widthOf, wrappedWords } from "../../draw/text-lines.ts";
import { isWorthShowing } from "../../draw/tool-card.ts";
import { turnSummaryLines } from "../../draw/usage-text.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine, safeText } from "../../terminal/sanitise.ts";
import { groupOf, hasEnd, isFinished, isQuestion } from "./item-state.ts";
import { endOf, MessageStream, type ReadingTime, type ReadPosition } from "./message-stream.ts";
import { Page, type PageEnd } from "./page.ts";
import { type TailContent, type TailSize, TranscriptTail } from "./transcript-tail.ts";

export interface TranscriptFeedOptions {
  readonly paint: Paint;
  readonly cwd: string;
  readonly isAnimated: boolean;
  /** Default: those that the terminal of this process can show. */
  readonly marks?: Marks;
  /** The time in milliseconds since 1970. Default: now. */
  readonly clock?: () => number;
  /** In milliseconds, of a clock that never goes back. Default: that of this process. */
  readonly timer?: () => number;
}

interface PageSize {
  readonly columns: number;
  readonly rows: number;
}

export interface FeedLines {
  /** To be written once, above the tail. */
  readonly printed: string[];
  readonly tail: string[];
  /** Whether something is left for the next frame. */
  readonly isBehind: boolean;
}

/** More new items at once are a replay or a flood: only the last of them are printed. */
const mostAtOnce = 300;
const keptAtOnce = 100;
/** Text beyond it is drawn without Markdown, until some time has passed. Markdown takes about a second per megabyte. */
const mostMarkdown = 64 * 1024;
const markdownPerMs = 50;
/** What takes longer is left for the next frame, and so is more text: nobody who types waits for it. */
const frameMs = 3;
const frameCharacters = 4 * 1024;
/** A longer message is not drawn to find out its height. */
const longMessage = 8 * 1024;
const noticeIndent = "  ";

/** The transcript of one session on a screen that keeps what was printed. */
export class TranscriptFeed {
  readonly #options: TranscriptFeedOptions;
  readonly #marks: Marks;
  #view: SessionView | undefined;
  /** What was looked at. */
  #version = 0;
  /** The first item that is not printed. */
  #next = 0;
  /** The items that the view had dropped then. */
  #dropped = 0;
  /** The items before it, and how far messages were read. */
  #printed = new WeakMap<TimelineItem, ReadPosition | true>();
  /** Items that were printed before their end. */
  #goingOn = new Set<TimelineItem>();
  /** The message at the head of the tail. */
  #head: MessageStream | undefined;
  /** A message that got more text after others were printed. */
  #late: { readonly stream: MessageStream; length: number } | undefined;
  #end: PageEnd | undefined;
  readonly #time: ReadingTime = { characters: mostMarkdown, read: 0, isUp: () => this.#isLate() };
  readonly #timer: () => number;
  #refilledAt = 0;
  /** When the work of this frame must end. */
  #deadline = Number.POSITIVE_INFINITY;
  /** What this frame prints. */
  #page = new Page();
  #isBehind = false;
  readonly #tail: TranscriptTail;

  constructor(options: TranscriptFeedOptions) {
    this.#options = options;
    this.#marks = options.marks ?? marksFor(process.env);
    const { paint, cwd, isAnimated, clock = Date.now, timer = () => performance.now() } = options;
    this.#timer = timer;
    this.#tail = new TranscriptTail({ paint, cwd, isAnimated, marks: this.#marks, clock });
  }

  /** What is new since the last call, as far as a frame has time for it. It costs no more the longer the session is. */
  update(view: SessionView, size: TailSize): FeedLines {
    const { width, rows, now } = size;
    // a flood is drawn as words until its end is reached
    if (!this.#isBehind) this.#refill(now);
    this.#isBehind = false;
    this.#time.read = 0;
    this.#deadline = this.#timer() + frameMs;
    const page = new Page(this.#end);
    this.#page = page;
    if (this.#view !== view) this.#begin(view, page, width, rows);
    this.#shift(view);
    this.#look(view, page, width);
    this.#advance(view, page, width, "finished");
    const most = Math.max(3, Math.floor(rows / 2));
    // what comes after an unfinished item waits for it, but not without end
    while (
      this.#tail.height(this.#rest(view, page), size) > most &&
      !this.#isLate() &&
      this.#printHead(view, page, width)
    )
      this.#advance(view, page, width, "finished");
    const tail = this.#tail.lines(this.#rest(view, page), size);
    this.#end = page.end;
    this.#deadline = Number.POSITIVE_INFINITY;
    return { printed: page.lines, tail, isBehind: this.#isBehind };
  }

  /** Whether the time of this frame is up. */
  #isLate(): boolean {
    if (this.#deadline === Number.POSITIVE_INFINITY) return false;
    if (this.#timer() < this.#deadline && this.#page.size + this.#time.read < frameCharacters) return false;
    this.#isBehind = true;
    return true;
  }

  /** A sentence of ours. Further lines may be quoted from the agent: they are indented, so that none looks like ours. */
  notice(text: string, width: number, paintLine: (line: string) => string): string[] {
    const room = Math.max(10, width) - noticeIndent.length;
    const [first = "", ...rest] = safeText(text)
      .trimEnd()
      .split("\n")
      .flatMap((line) => wrappedWords(line.replaceAll("\t", "    "), room));
    // an error of the agent may begin with a mark of ours
    const begin = /^[\p{L}\p{N}@/~.]/u.test(first) ? "" : noticeIndent;
    const lines = [
      `${begin}${first}`,
      ...rest.map((line) => (line === "" ? line : `${noticeIndent}${line}`)),
    ];
    return this.own(lines.map(paintLine));
  }

  /** Lines of ours. */
  own(lines: readonly string[]): string[] {
    const page = new Page(this.#end);
    page.put(lines, "event", lines);
    this.#end = page.end;
    return page.lines;
  }

  /** The prompt that runs, if nothing follows it yet: it does not grow any more. */
  prompted(view: SessionView, width: number): string[] {
    const last = view.timeline[this.#next];
    if (last?.kind !== "user_message" || this.#next !== view.timeline.length - 1) return [];
    const page = new Page(this.#end);
    this.#advance(view, page, width, "all");
    this.#end = page.end;
    return page.lines;
  }

  /** Prints everything as it is, and what the turn did. */
  turnEnded(view: SessionView, summary: TurnSummary, width: number): string[] {
    const page = this.#settle(view, { columns: width, rows: 0 });
    const { paint } = this.#options;
    const lines = turnSummaryLines(summary, { width, paint, marks: this.#marks });
    const refused =
      summary.result.stopReason === "refusal"
        ? wrappedWords("The agent refused: this turn is removed from its context.", width).map((each) =>
            paint("warning", each),
          )
        : [];
    if (refused.length + lines.length > 0) page.put([...refused, ...lines], "text", summary);
    this.#end = page.end;
    return page.lines;
  }

  /** Prints everything as it is: no turn runs. */
  settled(view: SessionView, size: PageSize): string[] {
    const page = this.#settle(view, size);
    this.#end = page.end;
    return page.lines;
  }

  /** The name of the session and the last screenful of it. */
  shown(view: SessionView, session: Conversation, { columns, rows }: PageSize): string[] {
    const page = new Page();
    page.put(["", this.#divider(session, columns)], "text", session);
    const above = page.lines.length;
    this.#begin(view, page, columns, rows);
    this.#advance(view, page, columns, session.turn === undefined ? "all" : "finished");
    this.#end = page.end;
    return [...page.lines.slice(0, above), ...page.lines.slice(above).slice(-Math.max(1, rows))];
  }

  #divider({ title, agent, cwd }: Conversation, columns: number): string {
    const name = [title ?? "new session", agent.name, cwd].map((part) => safeLine(part)).join(" · ");
    const shown = clipped(name, Math.max(1, columns - 6));
    const rest = Math.max(0, columns - widthOf(shown) - 4);
    return this.#options.paint(
      "dim",
      `── ${shown} ${"─".repeat(rest)}`.slice(0, Math.max(columns, shown.length + 4)),
    );
  }

  // ---- what is printed

  #settle(view: SessionView, { columns, rows }: PageSize): Page {
    const page = new Page(this.#end);
    if (this.#view !== view) this.#begin(view, page, columns, rows);
    this.#shift(view);
    this.#look(view, page, columns);
    this.#advance(view, page, columns, "all");
    return page;
  }

  /** Starts with the last items of a view that fill the rows. */
  #begin(view: SessionView, page: Page, width: number, rows: number): void {
    this.#view = view;
    this.#version = view.version;
    this.#next = 0;
    this.#dropped = view.dropped;
    this.#printed = new WeakMap();
    this.#goingOn = new Set();
    this.#head = undefined;
    this.#late = undefined;
    const { timeline } = view;
    let height = 0;
    let first = timeline.length;
    while (first > 0 && height < rows && timeline.length - first < keptAtOnce) {
      first -= 1;
      const item = timeline[first];
      if (item !== undefined) height += this.#height(item, view, width) + 1;
    }
    this.#skip(view, first, page, width);
  }

  /** The view drops items that were printed long ago. */
  #shift({ dropped }: SessionView): void {
    const gone = dropped - this.#dropped;
    if (gone === 0) return;
    this.#dropped = dropped;
    this.#next = Math.max(0, this.#next - gone);
    if (this.#late !== undefined) this.#late.length -= gone;
  }

  #height(item: TimelineItem, view: SessionView, width: number): number {
    if (item.kind !== "agent_message" || item.text.length < longMessage)
      return this.#lines(item, view, width).length;
    return Math.ceil(item.text.length / width);
  }

  /** Leaves out items, and says so. */
  #skip(view: SessionView, first: number, page: Page, width: number): void {
    const skipped = first - this.#next;
    if (skipped <= 0) return;
    this.#endHead(page, width);
    for (const item of view.timeline.slice(this.#next, first)) this.#passed(item);
    this.#next = first;
    const text = clipped(`… ${count(skipped)} more above: Ctrl-O shows them`, width);
    page.put([this.#options.paint("dim", text)], "event", view);
  }

  /** Counts an item as printed. */
  #passed(item: TimelineItem): void {
    this.#printed.set(item, item.kind === "agent_message" ? endOf(item.content) : true);
    if (hasEnd(item) && !isFinished(item, false)) this.#goingOn.add(item);
  }

  /** What became of items that are printed already. */
  #look(view: SessionView, page: Page, width: number): void {
    const late = this.#late;
    if (late !== undefined && view.timeline.length > late.length) this.#endLate(page, width);
    else if (late !== undefined) page.put(late.stream.take(width, this.#time), "text", late.stream);
    if (view.version === this.#version) return;
    const changes = changesSince(view, this.#version);
    this.#version = view.version;
    for (const changed of changes) {
      if (changed.kind === "agent_message") this.#grown(changed, view, page, width);
      else if (isItem(changed) && this.#printed.has(changed)) this.#changed(changed, view, page, width);
    }
    if (view.timeline.length - this.#next > mostAtOnce)
      this.#skip(view, view.timeline.length - keptAtOnce, page, width);
  }

  #grown(item: MessageItem, view: SessionView, page: Page, width: number): void {
    const position = this.#printed.get(item);
    if (position === undefined || position === true) return;
    if (this.#late?.stream.item !== item) {
      this.#endLate(page, width);
      this.#late = { stream: new MessageStream(item, this.#options.paint, position), length: 0 };
    }
    const late = this.#late;
    if (late === undefined) return;
    late.length = view.timeline.length;
    page.put(late.stream.take(width, this.#time), "text", late.stream);
  }

  #endLate(page: Page, width: number): void {
    const late = this.#late;
    if (late === undefined) return;
    page.put(late.stream.end(width, this.#time), "text", late.stream);
    this.#printed.set(late.stream.item, late.stream.position);
    this.#late = undefined;
  }

  /** A call may also begin again after its end. */
  #changed(item: TimelineItem, view: SessionView, page: Page, width: number): void {
    if (!hasEnd(item)) return;
    if (!isFinished(item, false)) this.#goingOn.add(item);
    else if (this.#goingOn.delete(item)) page.put(this.#lines(item, view, width), groupOf(item), item);
  }

  /** Prints from the first item that is not printed up to the first that is not finished, or all. */
  #advance(view: SessionView, page: Page, width: number, which: "finished" | "all"): void {
    const { timeline } = view;
    for (; this.#next < timeline.length; this.#next += 1) {
      const item = timeline[this.#next];
      if (item === undefined) return;
      const isLast = which === "finished" && this.#next === timeline.length - 1;
      if (this.#isLate()) return;
      if (item.kind === "agent_message") {
        this.#head ??= new MessageStream(item, this.#options.paint);
        page.put(this.#head.take(width, this.#time), "text", this.#head);
        this.#time.read = 0;
        if (isLast || !this.#head.isRead) return;
        this.#endHead(page, width);
        continue;
      }
      if (which === "finished" && !isFinished(item, isLast)) return;
      this.#printItem(item, view, page, width);
    }
    if (which === "all") this.#endLate(page, width);
  }

  #endHead(page: Page, width: number): void {
    const head = this.#head;
    if (head === undefined) return;
    page.put(head.end(width, this.#time), "text", head);
    this.#printed.set(head.item, head.position);
    this.#head = undefined;
  }

  #printItem(item: TimelineItem, view: SessionView, page: Page, width: number): void {
    this.#passed(item);
    const lines = this.#lines(item, view, width);
    if (!this.#goingOn.has(item)) return page.put(lines, groupOf(item), item);
    // it is printed with its answer
    if (isQuestion(item.kind)) return;
    // the rest of the card comes with its end
    const note = this.#options.paint("dim", clipped(`    ${this.#marks.more} goes on`, width));
    page.put([...lines.slice(0, 1), note], groupOf(item), item);
  }

  /** Whether the first item of the tail, which others wait for, could be printed as it is. */
  #printHead(view: SessionView, page: Page, width: number): boolean {
    const item = view.timeline[this.#next];
    // the rest of a message comes with the next frames
    if (item === undefined || item === this.#head?.item || this.#next === view.timeline.length - 1)
      return false;
    this.#printItem(item, view, page, width);
    this.#next += 1;
    return true;
  }

  #lines(item: TimelineItem, view: SessionView, width: number): string[] {
    if (item.kind === "tool_call" && !isWorthShowing(item, view)) return [];
    const { paint, cwd, clock = Date.now } = this.#options;
    return drawItem(item, view, { width, paint, cwd, marks: this.#marks, now: clock() });
  }

  #rest(view: SessionView, { end }: Page): TailContent {
    // what is left for the next frame is not drawn in this one
    const isShort = this.#isBehind;
    return { view, next: this.#next, late: this.#late?.stream, head: this.#head, above: end, isShort };
  }

  #refill(now: number): void {
    const more = Math.max(0, now - this.#refilledAt) * markdownPerMs;
    this.#refilledAt = now;
    this.#time.characters = Math.min(mostMarkdown, this.#time.characters + more);
  }
}

function isItem(changed: { readonly kind: string }): changed is TimelineItem {
  return "seq" in changed;
}
