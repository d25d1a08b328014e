// A sheet: a question, a list or a review that is docked above the prompt and takes the keys while it has the focus.

import type { KeyPress } from "../../screen/key-press.ts";
import type { Tail } from "../../screen/tail-writer.ts";

export interface SheetSize {
  readonly columns: number;
  /** It draws no more lines. */
  readonly rows: number;
}

export interface Sheet {
  /** `now` is in milliseconds, of a clock that never goes back. */
  draw(size: SheetSize, now: number): Tail;
  key(key: KeyPress, now: number): void;
}
