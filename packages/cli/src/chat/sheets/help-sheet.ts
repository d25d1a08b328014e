// The help: all keys and commands.

import { clipped, padded, widthOf, wrappedWords } from "../../draw/text-lines.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { keyName } from "../key-names.ts";
import { chatCommands, chatKeys } from "../keys-and-commands.ts";
import { framed, innerColumns, Scrolled } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

export interface HelpSheetOptions {
  readonly paint: Paint;
  readonly closed: () => void;
}

type Entry = readonly [name: string, help: string];

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
    const keys = chatKeys.map((key): Entry => [key.keys.map(keyName).join(", "), key.help]);
    const commands = chatCommands.map(
      ({ name, hint, help }): Entry => [`/${name}${hint === undefined ? "" : ` ${hint}`}`, help],
    );
    const more: readonly Entry[] = [
      ["@FILE", "mention a file; @FILE:10-40 mentions lines"],
      ["!COMMAND", "run a command; the agent sees its output with the next prompt"],
    ];
    const left = (width: number) => section("Keys", keys, width, paint);
    const right = (width: number) => section("Commands", [...commands, ...more], width, paint);
    const content = columns < wide ? [...left(columns), "", ...right(columns)] : beside(left, right, columns);
    const foot = { lines: [paint("dim", "Esc closes, PgUp and PgDn scroll")] };
    return framed(size, { paint, content, scrolled: this.#scrolled, foot });
  }
}

function section(title: string, entries: readonly Entry[], columns: number, paint: Paint): string[] {
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
