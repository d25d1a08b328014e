// The rows of a transcript, drawn when they are looked at: a long one opens at once.

import { textOf } from "@parley/acp";
import type { MessageItem, SessionView, TimelineItem } from "@parley/acp/view";
import { DrawnItems } from "../../draw/drawn-items.ts";
import type { Marks } from "../../draw/marks.ts";
import { clipped, count, counted } from "../../draw/text-lines.ts";
import type { Paint } from "../../terminal/paint.ts";
import { groupOf } from "./item-state.ts";
import { someText } from "./item-text.ts";
import { type MessagePart, messageParts } from "./message-parts.ts";

/** A part of an item. Only long messages have several. */
export interface Unit {
  readonly item: number;
  readonly part: number;
}

/** A row of the transcript. */
export interface Place extends Unit {
  readonly line: number;
}

/** Where what is left out can be read. */
const whole = "/export writes the whole session";

export interface RowsOptions {
  readonly view: () => SessionView;
  readonly paint: Paint;
  readonly cwd: string;
  readonly marks: Marks;
  readonly clock: () => number;
}

interface KnownParts {
  readonly version: number;
  /** The list that the view replaces when the agent replaces the message. */
  readonly content: MessageItem["content"];
  /** Of each block. */
  readonly blocks: readonly { readonly length: number; readonly parts: readonly MessagePart[] }[];
  /** None if the message is not text alone. */
  readonly parts: readonly MessagePart[];
}

export class TranscriptRows {
  /** Of the lines. */
  width = 80;
  readonly #options: RowsOptions;
  readonly #drawn: DrawnItems;
  /** With a blank line above, by the lines without it. */
  readonly #spaced = new WeakMap<readonly string[], readonly string[]>();
  readonly #parts = new WeakMap<TimelineItem, KnownParts>();
  #expandsAll = false;
  /** Items that differ from the rest. */
  readonly #others = new Set<string>();

  constructor(options: RowsOptions) {
    this.#options = options;
    const { paint, cwd, marks } = options;
    this.#drawn = new DrawnItems({ paint, cwd, marks });
  }

  get view(): SessionView {
    return this.#options.view();
  }

  item(at: number): TimelineItem | undefined {
    return this.view.timeline[at];
  }

  isExpanded({ key }: TimelineItem): boolean {
    return this.#expandsAll !== this.#others.has(key);
  }

  expand(item: TimelineItem, isExpanded: boolean): void {
    if (this.isExpanded(item) === isExpanded) return;
    if (!this.#others.delete(item.key)) this.#others.add(item.key);
  }

  expandAll(): boolean {
    this.#expandsAll = !this.#expandsAll;
    this.#others.clear();
    return this.#expandsAll;
  }

  /** Whether the text as it was sent passes the test. */
  someText({ item: at, part }: Unit, test: (text: string) => boolean): boolean {
    const item = this.item(at);
    if (item === undefined) return false;
    const parts = item.kind === "agent_message" ? this.#partsOf(item) : [];
    return parts.length > 1 ? test(parts[part]?.text ?? "") : someText(item, this.view, test);
  }

  lines(unit: Unit): readonly string[] {
    const item = this.item(unit.item);
    if (item === undefined) return [];
    const lines = this.#draw(item, unit.part);
    const left = unit.part === 0 ? this.#leftOut(unit.item, item) : [];
    if (lines.length === 0 || !this.#isApart(unit, item))
      return left.length === 0 ? lines : [...left, ...lines];
    const known = this.#spaced.get(lines) ?? ["", ...lines];
    this.#spaced.set(lines, known);
    return left.length === 0 ? known : [...left, ...known];
  }

  /** What the view keeps no more of what stands here. */
  #leftOut(at: number, item: TimelineItem): string[] {
    const { paint } = this.#options;
    const { dropped } = this.view;
    const note = (text: string) => paint("dim", clipped(`… ${text}`, this.width));
    const items = at === 0 && dropped > 0 ? [note(`${counted(dropped, "item")} more above: ${whole}`)] : [];
    const isCut = item.kind === "agent_message" || item.kind === "agent_thought";
    const text = isCut && item.dropped > 0 ? [note(`${count(item.dropped)} characters more: ${whole}`)] : [];
    return [...items, ...text];
  }

  /** The first line that is not blank. */
  startOf(unit: Unit): Place {
    const lines = this.lines(unit);
    return { ...unit, line: lines.length > 1 && lines[0] === "" ? 1 : 0 };
  }

  /** The last row. */
  get last(): Place {
    const item = this.view.timeline.length - 1;
    const unit = { item, part: Math.max(0, this.#count(item) - 1) };
    const { length } = this.lines(unit);
    if (length > 0 || item < 0) return { ...unit, line: Math.max(0, length - 1) };
    const before = this.#shownBefore(unit);
    return before === undefined ? { ...unit, line: 0 } : this.#bottom(before);
  }

  /** The place that is so many rows below, or above if it is negative. It ends at the first and last row. */
  step(from: Place, by: number): Place {
    return by < 0 ? this.#up(this.#valid(from), -by) : this.#down(this.#valid(from), by);
  }

  /** The units after or before this one, and then those from the other end, with this one last. */
  *others({ item, part }: Unit, direction: 1 | -1): Generator<Unit> {
    const { length } = this.view.timeline;
    if (length === 0) return;
    let at = item;
    let next = part + direction;
    for (let seen = 0; seen <= length; seen += 1) {
      for (; next >= 0 && next < this.#count(at); next += direction) yield { item: at, part: next };
      at = (at + direction + length) % length;
      next = direction > 0 ? 0 : this.#count(at) - 1;
    }
  }

  /** Below 0 if a is above b. */
  static compare(a: Place, b: Place): number {
    return a.item - b.item || a.part - b.part || a.line - b.line;
  }

  #down(from: Place, by: number): Place {
    let place = from;
    let left = by;
    for (;;) {
      const room = Math.max(0, this.lines(place).length - 1 - place.line);
      if (left <= room) return { ...place, line: place.line + left };
      const next = this.after(place);
      if (next === undefined) return this.#bottom(place);
      left -= room + 1;
      place = { ...next, line: 0 };
    }
  }

  #up(from: Place, by: number): Place {
    let place = from;
    let left = by;
    for (;;) {
      if (left <= place.line) return { ...place, line: place.line - left };
      const before = this.#shownBefore(place);
      if (before === undefined) return { ...place, line: 0 };
      left -= place.line + 1;
      place = this.#bottom(before);
    }
  }

  #bottom({ item, part }: Unit): Place {
    return { item, part, line: Math.max(0, this.lines({ item, part }).length - 1) };
  }

  /** An item may have become shorter. */
  #valid({ item: at, part: which, line }: Place): Place {
    const item = Math.min(Math.max(0, at), Math.max(0, this.view.timeline.length - 1));
    const part = Math.min(which, Math.max(0, this.#count(item) - 1));
    return { item, part, line: Math.min(line, Math.max(0, this.lines({ item, part }).length - 1)) };
  }

  /** The next one that has rows. */
  after({ item, part }: Unit): Unit | undefined {
    let next = { item, part };
    for (;;) {
      next =
        next.part + 1 < this.#count(next.item)
          ? { ...next, part: next.part + 1 }
          : { item: next.item + 1, part: 0 };
      if (next.item >= this.view.timeline.length) return undefined;
      if (this.lines(next).length > 0) return next;
    }
  }

  #shownBefore({ item, part }: Unit): Unit | undefined {
    let next = { item, part };
    for (;;) {
      const above = next.item - 1;
      next =
        next.part > 0
          ? { ...next, part: next.part - 1 }
          : { item: above, part: Math.max(0, this.#count(above) - 1) };
      if (next.item < 0) return undefined;
      if (this.lines(next).length > 0) return next;
    }
  }

  #count(at: number): number {
    const item = this.item(at);
    return item?.kind === "agent_message" ? Math.max(1, this.#partsOf(item).length) : 1;
  }

  /** A text that grows is not cut again from its start. */
  #partsOf(item: MessageItem): readonly MessagePart[] {
    const known = this.#parts.get(item);
    if (known?.version === item.version) return known.parts;
    const { version, content } = item;
    const before = known?.content === content ? known.blocks : [];
    const blocks: { length: number; parts: readonly MessagePart[] }[] = [];
    const isText = content.every(({ type }) => type === "text");
    let opening: string | undefined;
    for (const [at, block] of isText ? content.entries() : []) {
      const text = textOf(block);
      const old = before[at];
      const isContinued = at < content.length - 1;
      // the last block was the end of the message before
      const isSame = old?.length === text.length && (isContinued ? at < before.length - 1 : true);
      const place = {
        opening,
        isContinued,
        known: text.length > (old?.length ?? 0) ? old?.parts : undefined,
      };
      const parts = isSame ? old.parts : messageParts(text, place);
      blocks.push({ length: text.length, parts });
      opening = parts.at(-1)?.fence;
    }
    const parts = blocks.flatMap((block) => block.parts);
    this.#parts.set(item, { version, content, blocks, parts });
    return parts;
  }

  #draw(item: TimelineItem, part: number): readonly string[] {
    const options = { width: this.width, isExpanded: this.isExpanded(item), now: this.#options.clock() };
    const parts = item.kind === "agent_message" ? this.#partsOf(item) : [];
    const shown = parts[part];
    if (item.kind !== "agent_message" || parts.length < 2 || shown === undefined)
      return this.#drawn.draw(item, this.view, options);
    const { text } = shown;
    const key = `${item.key} ${part}`;
    return this.#drawn.draw({ ...item, key, content: [{ type: "text", text }], text }, this.view, options);
  }

  /** Whether text meets something else: then there is a blank line above. */
  #isApart({ item: at, part }: Unit, item: TimelineItem): boolean {
    const above = part > 0 ? item : this.item(at - 1);
    if (above === undefined) return false;
    if (item.kind === "agent_message" && part > 0 && this.#partsOf(item)[part]?.opening !== undefined)
      return false;
    return groupOf(item) === "text" || groupOf(above) === "text";
  }
}
