// The help: all keys and commands.

import { clipped, padded, widthOf, wrappedWords } from "../../draw/text-lines.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { commandEntries, type HelpEntry, keyEntries } from "../keys/help-entries.ts";
import { framed, innerColumns, Scrolled } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

export interface HelpSheetOptions {
  readonly paint: Paint;
  readonly closed: () => void;
}

/** From this width on, keys and commands are beside one another. */
const wide = 130;
const closing = ["escape", "enter", "q", "?", "f1", "ctrl+_", "ctrl+c"];

export class HelpSheet implements Sheet {
  readonly #options: HelpSheetOptions;
  readonly #scrolled = new Scrolled();

  constructor(options: HelpSheetOptions) {
    this.#options = options;
  }

  key(key: KeyPress): void {
    if (closing.includes(key.text ?? key.id)) this.#options.closed();
    else this.#scrolled.key(key);
  }

  draw(size: SheetSize): Tail {
    const { paint } = this.#options;
    const columns = innerColumns(size);
    const left = (width: number) => section("Keys", keyEntries, width, paint);
    const right = (width: number) => section("Commands", commandEntries, width, paint);
    const content = columns < wide ? [...left(columns), "", ...right(columns)] : beside(left, right, columns);
    const foot = { lines: [paint("dim", "Esc closes, PgUp and PgDn scroll")] };
    return framed(size, { paint, content, scrolled: this.#scrolled, foot });
  }
}

function section(title: string, entries: readonly HelpEntry[], columns: number, paint: Paint): string[] {
  const width = Math.min(24, Math.max(...entries.map(([name]) => widthOf(name))));
  const lines = entries.flatMap(([name, help]) =>
    wrappedWords(help, Math.max(1, columns - width - 2)).map((line, at) => {
      const left = at === 0 ? paint("accent", padded(clipped(name, width), width)) : " ".repeat(width);
      return `${left}  ${line}`;
    }),
  );
  return [paint("heading", title), ...lines];
}

function beside(
  left: (columns: number) => readonly string[],
  right: (columns: number) => readonly string[],
  columns: number,
): string[] {
  const half = Math.floor((columns - 2) / 2);
  const [one, other] = [left(half), right(half)];
  const rows = Math.max(one.length, other.length);
  return Array.from({ length: rows }, (_, at) =>
    `${padded(one[at] ?? "", half)}  ${other[at] ?? ""}`.trimEnd(),
  );
}
