// Draws the end of a transcript that may still change: running cards with live output, and text that goes on.

import type { SessionView, TimelineItem } from "@parley/acp/view";
import { drawItem } from "../../draw/draw-item.ts";
import { type Marks, unicodeMarks } from "../../draw/marks.ts";
import { isWorthShowing } from "../../draw/tool-card.ts";
import type { Paint } from "../../terminal/paint.ts";
import { groupOf, isFinished, isQuestion, shownVersion } from "./item-state.ts";
import type { MessageStream } from "./message-stream.ts";
import { Page, type PageEnd } from "./page.ts";

export interface TailOptions {
  readonly paint: Paint;
  readonly cwd: string;
  readonly isAnimated: boolean;
  readonly marks: Marks;
  /** The time in milliseconds since 1970. */
  readonly clock: () => number;
}

/** What is not printed. */
export interface TailContent {
  readonly view: SessionView;
  /** The first item of it. */
  readonly next: number;
  /** A message before it that goes on. */
  readonly late: MessageStream | undefined;
  /** The first item, if it is a message of the agent. */
  readonly head: MessageStream | undefined;
  /** What stands above. */
  readonly above: PageEnd | undefined;
  /** Whether only its first message is shown, because there is no time for the rest. */
  readonly isShort: boolean;
}

export interface TailSize {
  readonly width: number;
  /** The rows that the tail may take. */
  readonly rows: number;
  /** In milliseconds, of a clock that never goes back. */
  readonly now: number;
}

const spinner = ["◐", "◓", "◑", "◒"] as const;
const spinnerMs = 250;

interface Drawn {
  readonly version: number;
  readonly look: string;
  readonly lines: readonly string[];
}

export class TranscriptTail {
  readonly #options: TailOptions;
  readonly #drawn = new WeakMap<TimelineItem, Drawn>();

  constructor(options: TailOptions) {
    this.#options = options;
  }

  /** At most `rows` lines. If not all fit, running cards are shown by their titles, and the last one with its last lines. */
  lines(content: TailContent, size: TailSize): string[] {
    const most = Math.max(1, size.rows);
    const whole = this.#page(content, size, "whole");
    if (whole.length <= most) return whole;
    const short = this.#page(content, size, "titles");
    const last = content.view.timeline.at(-1);
    if (last === undefined || !isCard(last) || short.length >= most) return short.slice(-most);
    const rest = this.#itemLines(last, content.view, size).slice(1);
    return [...short, ...rest.slice(-(most - short.length))];
  }

  /** The rows that it needs at least. */
  height(content: TailContent, size: TailSize): number {
    return this.#page(content, size, "titles").length;
  }

  #page(content: TailContent, size: TailSize, how: "whole" | "titles"): string[] {
    const { view, next, late, head, above, isShort } = content;
    const page = new Page(above);
    const isAsked = view.timeline.slice(next).some(isOpenQuestion);
    if (late !== undefined) page.put(late.rest(size.width), "text", late);
    for (let at = next; at < view.timeline.length && page.lines.length <= size.rows; at += 1) {
      const item = view.timeline[at];
      if (item === undefined) break;
      if (head?.item === item) page.put(head.rest(size.width), "text", head);
      else if (isShort) break;
      else {
        const lines = this.#itemLines(item, view, size);
        const isTitle = isCard(item) && (how === "titles" || (isAsked && hasOnlyDiffs(item)));
        page.put(isTitle ? lines.slice(0, 1) : lines, groupOf(item), item);
      }
    }
    return page.lines;
  }

  /** Drawn again only if it changed. */
  #itemLines(item: TimelineItem, view: SessionView, { width, now }: TailSize): readonly string[] {
    // an open question has a sheet of its own
    if (isOpenQuestion(item)) return [];
    const frame = isFinished(item, false) ? 0 : Math.floor(now / spinnerMs);
    const look = `${width} ${frame}`;
    const version = shownVersion(item, view);
    const known = this.#drawn.get(item);
    if (known !== undefined && known.version === version && known.look === look) return known.lines;
    const lines = this.#draw(item, view, width, frame);
    this.#drawn.set(item, { version, look, lines });
    return lines;
  }

  #draw(item: TimelineItem, view: SessionView, width: number, frame: number): string[] {
    if (item.kind === "tool_call" && !isWorthShowing(item)) return [];
    const { paint, cwd, isAnimated, marks, clock } = this.#options;
    const running = spinner[frame % spinner.length] ?? marks.running;
    const turning = isAnimated && marks === unicodeMarks ? { ...marks, running } : marks;
    return drawItem(item, view, { width, paint, cwd, marks: turning, now: clock() });
  }
}

function isOpenQuestion(item: TimelineItem): boolean {
  return isQuestion(item.kind) && !isFinished(item, false);
}

/** The question for a permission shows them too. */
function hasOnlyDiffs(item: TimelineItem): boolean {
  return item.kind === "tool_call" && item.content.every(({ type }) => type === "diff");
}

/** Something that runs. */
function isCard(item: TimelineItem): boolean {
  return groupOf(item) === "event" && !isFinished(item, false);
}
