// A list to choose from, with a filter.

import { fuzzyFilter } from "@earendil-works/pi-tui/dist/fuzzy.js";
import { clipped, padded, widthOf, wrappedWords } from "../../draw/text-lines.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import { LineField } from "../../screen/line-field.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { barred, innerColumns } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

export interface PickerItem<T> {
  readonly label: string;
  /** Shown beside the label. */
  readonly detail?: string;
  /** Items of a group are together. */
  readonly group?: string;
  readonly isCurrent?: boolean;
  readonly value: T;
}

export interface PickerOptions<T> {
  readonly title: string;
  readonly paint: Paint;
  /** The whole list, which is filtered by what is typed. */
  readonly items?: readonly PickerItem<T>[];
  /** Finds the items for what is typed, best first. */
  readonly search?: (query: string, signal: AbortSignal) => Promise<readonly PickerItem<T>[]>;
  /** What to begin with as if it were typed. */
  readonly query?: string;
  readonly chosen: (value: T) => void;
  readonly closed: () => void;
  readonly redraw: () => void;
  /** More that can be done with the selected item, by the id of a key. */
  readonly keys?: Readonly<Record<string, (value: T) => void>>;
  /** What the keys do. */
  readonly hint?: string;
}

const mostNumbered = 9;
const usualHint = "Enter chooses, Esc closes";

export class Picker<T> implements Sheet {
  readonly #options: PickerOptions<T>;
  readonly #filter: LineField;
  #items: readonly PickerItem<T>[];
  #shown: readonly PickerItem<T>[] = [];
  #at = 0;
  #top = 0;
  #page = 1;
  #searching: AbortController | undefined;
  #problem: string | undefined;

  constructor(options: PickerOptions<T>) {
    this.#options = options;
    this.#filter = new LineField(options.query?.replaceAll(/\s+/g, " ") ?? "");
    this.#items = options.items ?? [];
    this.#find();
    this.#at = Math.max(
      0,
      this.#shown.findIndex(({ isCurrent }) => isCurrent),
    );
  }

  /** Replaces the list. What is selected stays selected, if it is still there. */
  replace(items: readonly PickerItem<T>[]): void {
    const selected = this.#shown[this.#at]?.value;
    this.#items = items;
    this.#show();
    const same = this.#shown.findIndex(({ value }) => value === selected);
    if (same >= 0) this.#at = same;
    this.#options.redraw();
  }

  key(key: KeyPress): void {
    const { closed, keys } = this.#options;
    const selected = this.#shown[this.#at];
    const more = keys?.[key.id];
    if (more !== undefined) {
      if (selected !== undefined) more(selected.value);
      return;
    }
    if (key.id === "escape" || key.id === "ctrl+c") {
      this.#searching?.abort();
      return closed();
    }
    if (key.id === "enter") return this.#choose(selected);
    if (this.#moved(key.id)) return;
    if (this.#filter.text === "" && /^[1-9]$/.test(key.text ?? "")) {
      const numbered = this.#shown[Number(key.text) - 1];
      if (numbered !== undefined) return this.#choose(numbered);
    }
    const before = this.#filter.text;
    this.#filter.handle(key);
    if (this.#filter.text === before) return;
    this.#at = 0;
    this.#find();
  }

  #choose(item: PickerItem<T> | undefined): void {
    if (item === undefined) return;
    this.#searching?.abort();
    this.#options.chosen(item.value);
  }

  #moved(id: string): boolean {
    const steps: Readonly<Record<string, number>> = {
      up: -1,
      "ctrl+p": -1,
      down: 1,
      "ctrl+n": 1,
      wheelUp: -1,
      wheelDown: 1,
      pageUp: -this.#page,
      pageDown: this.#page,
    };
    const by = steps[id];
    if (by === undefined) return false;
    this.#at = Math.max(0, Math.min(this.#shown.length - 1, this.#at + by));
    return true;
  }

  // ---- finding

  #find(): void {
    const { search, redraw } = this.#options;
    if (search === undefined) return this.#show();
    this.#searching?.abort();
    const searching = new AbortController();
    this.#searching = searching;
    const settled = (items: readonly PickerItem<T>[], problem?: string) => {
      if (searching.signal.aborted) return;
      this.#searching = undefined;
      this.#items = items;
      this.#problem = problem;
      this.#show();
      redraw();
    };
    search(this.#filter.text, searching.signal).then(
      (items) => settled(items),
      (error: unknown) => settled([], error instanceof Error ? error.message : String(error)),
    );
  }

  #show(): void {
    const query = this.#filter.text.trim();
    const isFiltered = this.#options.search === undefined && query !== "";
    this.#shown = isFiltered ? matching(this.#items, query) : grouped(this.#items);
    this.#at = Math.max(0, Math.min(this.#at, this.#shown.length - 1));
  }

  // ---- drawing

  draw(size: SheetSize): Tail {
    const { paint, hint } = this.#options;
    const columns = innerColumns(size);
    const { line, column } = this.#head(columns);
    const isFiltered = this.#filter.text.trim() !== "";
    const numbers = this.#filter.text === "" && this.#shown.length > 0 ? ", 1-9 choose at once" : "";
    const words = wrappedWords(safeLine(hint ?? `${usualHint}${numbers}`), columns);
    // a list that shows nothing is worth less than a hint that is cut
    const most = size.rows > 6 ? 2 : size.rows > 4 ? 1 : 0;
    const foot = words.slice(0, most).map((line) => paint("dim", line));
    const room = Math.max(1, size.rows - 1 - foot.length);
    const rows = this.#window(this.#rows(columns, isFiltered && this.#options.search === undefined), room);
    const list = rows.length > 0 ? rows : [paint("dim", clipped(this.#nothing(), columns))];
    return barred(size, [line, ...list, ...foot], paint, { row: 0, column });
  }

  #nothing(): string {
    if (this.#problem !== undefined) return safeLine(this.#problem);
    return this.#searching === undefined ? "nothing found" : "searching …";
  }

  /** The title and what is typed; how many there are is on the right. */
  #head(columns: number): { readonly line: string; readonly column: number } {
    const { paint, title } = this.#options;
    const name = clipped(safeLine(title), Math.floor(columns / 2));
    const count = this.#shown.length > 0 && columns > 40 ? `${this.#at + 1} of ${this.#shown.length}` : "";
    const begin = widthOf(name) + 3;
    const room = Math.max(1, columns - begin - count.length - 1);
    const field = this.#filter.draw(room);
    const typed = this.#filter.text === "" ? paint("dim", clipped("type to filter", room)) : field.line;
    const line = `${paint("strong", name)} > ${padded(typed, room)} ${paint("dim", count)}`;
    return { line: line.trimEnd(), column: begin + field.column };
  }

  #rows(columns: number, isFiltered: boolean): PickerRow[] {
    const { paint } = this.#options;
    const isNumbered = this.#filter.text === "";
    const hasCurrent = this.#shown.some(({ isCurrent }) => isCurrent);
    const begin = 2 + (isNumbered ? 2 : 0) + (hasCurrent ? 2 : 0);
    const widest = Math.max(0, ...this.#shown.slice(0, 1_000).map(({ label }) => widthOf(safeLine(label))));
    const hasDetails = this.#shown.some(({ detail, group }) => detail || (isFiltered && group));
    const most = hasDetails ? Math.max(12, Math.floor((columns - begin) * 0.6)) : columns - begin;
    const width = Math.min(widest, most, columns - begin);
    return this.#shown.flatMap((item, at) => {
      const isFirst = !isFiltered && item.group !== undefined && item.group !== this.#shown[at - 1]?.group;
      const heading = isFirst
        ? [{ line: () => paint("heading", clipped(safeLine(item.group ?? ""), columns)) }]
        : [];
      const line = () => {
        const isSelected = at === this.#at;
        const number = isNumbered ? (at < mostNumbered ? `${at + 1} ` : "  ") : "";
        const mark = hasCurrent ? (item.isCurrent ? "✓ " : "  ") : "";
        const label = padded(clipped(safeLine(item.label), width), width);
        const detail = [item.detail ?? "", isFiltered ? (item.group ?? "") : ""]
          .map(safeLine)
          .filter((text) => text !== "");
        const rest = columns - begin - width - 2;
        const shown =
          detail.length === 0 || rest < 4 ? "" : `  ${paint("dim", clipped(detail.join(" · "), rest))}`;
        const left = `${isSelected ? "> " : "  "}${paint("dim", number)}${mark}`;
        return `${left}${isSelected ? paint("accent", label) : label}${shown}`.trimEnd();
      };
      return [...heading, { line, at }];
    });
  }

  /** The rows around the selected one. */
  #window(rows: readonly PickerRow[], room: number): string[] {
    const selected = rows.findIndex(({ at }) => at === this.#at);
    // with the heading of its group
    const first = selected > 0 && rows[selected - 1]?.at === undefined ? selected - 1 : selected;
    if (selected >= this.#top + room) this.#top = selected - room + 1;
    if (first < this.#top) this.#top = Math.max(0, room > 1 ? first : selected);
    this.#top = Math.max(0, Math.min(this.#top, rows.length - room));
    this.#page = Math.max(1, room - 1);
    return rows.slice(this.#top, this.#top + room).map(({ line }) => line());
  }
}

interface PickerRow {
  readonly line: () => string;
  /** Which item it is; none for the heading of a group. */
  readonly at?: number;
}

/** Groups in the order in which they come, each in one piece. */
function grouped<T>(items: readonly PickerItem<T>[]): readonly PickerItem<T>[] {
  const groups = new Map<string | undefined, PickerItem<T>[]>();
  for (const item of items) {
    const group = groups.get(item.group);
    if (group === undefined) groups.set(item.group, [item]);
    else group.push(item);
  }
  return [...groups.values()].flat();
}

/** Those whose label fits, best first, and then those that have the words beside it. */
function matching<T>(items: readonly PickerItem<T>[], query: string): readonly PickerItem<T>[] {
  const byLabel = fuzzyFilter([...items], query, ({ label }) => label);
  const found = new Set(byLabel);
  const words = query.toLowerCase().split(/\s+/);
  const beside = items.filter((item) => {
    const text = `${item.label} ${item.detail ?? ""} ${item.group ?? ""}`.toLowerCase();
    return !found.has(item) && words.every((word) => text.includes(word));
  });
  return [...byLabel, ...beside];
}
