// A question that an agent has raised: no key answers it that was not meant for it.

import { clipped } from "../../draw/text-lines.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { barred, innerColumns } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

/** A key counts only after so much time in which the question was there and nothing was typed. */
const quietMs = 300;
const tooEarly = "the question has just come, so that key did not count";
/** The same where another question was just before: the key may be meant for that one, or be held down. */
const quietAfterAnotherMs = 800;

/** Where the answers would take all rows, nobody sees what is asked. */
function isTooSmall({ columns, rows }: SheetSize): boolean {
  return rows < 4 || columns < 30 || (columns < 40 && rows < 6);
}

export class AskedSheet implements Sheet {
  readonly #sheet: Sheet;
  readonly #paint: Paint;
  readonly #caption: () => string;
  readonly #quietMs: number;
  /** When it was drawn first, or when the last key came that did not count. */
  #quietSince: number | undefined;
  #hasBegun = false;
  #isEarly = false;

  /** `caption` is a line above the question; empty for none. */
  constructor(sheet: Sheet, paint: Paint, caption: () => string, isAfterAnother: boolean) {
    this.#sheet = sheet;
    this.#paint = paint;
    this.#caption = caption;
    this.#quietMs = isAfterAnother ? quietAfterAnotherMs : quietMs;
  }

  /** Lets no key count until it has been there for a while again. */
  wait(): void {
    this.#quietSince = undefined;
    this.#hasBegun = false;
  }

  draw(size: SheetSize, now: number): Tail {
    if (isTooSmall(size)) {
      this.wait();
      const text = clipped("a question waits: make the window larger", innerColumns(size));
      return barred(size, [this.#paint("warning", text)], this.#paint);
    }
    this.#quietSince ??= now;
    if (now - this.#quietSince >= this.#quietMs) this.#isEarly = false;
    const caption = this.#isEarly ? tooEarly : this.#caption();
    if (caption === "" || size.rows < 4) return this.#sheet.draw(size, now);
    const { lines, cursor } = this.#sheet.draw({ ...size, rows: size.rows - 1 }, now);
    const first = barred(size, [this.#paint("dim", clipped(caption, innerColumns(size)))], this.#paint);
    return {
      lines: [...first.lines, ...lines],
      ...(cursor && { cursor: { ...cursor, row: cursor.row + 1 } }),
    };
  }

  key(key: KeyPress, now: number): void {
    if (this.#quietSince === undefined) return;
    if (!this.#hasBegun && now - this.#quietSince < this.#quietMs) {
      // somebody who goes on typing does not mean the question
      this.#quietSince = now;
      this.#isEarly = true;
      return;
    }
    this.#hasBegun = true;
    this.#sheet.key(key, now);
  }
}
