// A question with yes and no as answers. Enter is a no.

import type { KeyPress } from "../../screen/key-press.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { escapedLine } from "../../terminal/sanitise.ts";
import { framed, innerColumns, Scrolled, sheetRows } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

export interface ConfirmSheetOptions {
  readonly paint: Paint;
  /** What it is about. */
  readonly lines: readonly string[];
  readonly ask: string;
  readonly answer: (isYes: boolean) => void;
}

export class ConfirmSheet implements Sheet {
  readonly #options: ConfirmSheetOptions;
  readonly #scrolled = new Scrolled();

  constructor(options: ConfirmSheetOptions) {
    this.#options = options;
  }

  draw(size: SheetSize): Tail {
    const { paint, lines, ask } = this.#options;
    const [first = "", ...rest] = lines.flatMap((line) => line.split("\n")).map(escapedLine);
    const content = [`${paint("warning", "?")} ${first}`, ...rest.map((line) => `  ${line}`)];
    const rows = content.flatMap((line) => sheetRows(line, innerColumns(size)));
    const answers = ["y yes", "n/Enter/Esc no"];
    const foot = { lines: [`  ${escapedLine(ask)}`], answers };
    return framed(size, { paint, content: rows, scrolled: this.#scrolled, foot });
  }

  key(key: KeyPress): void {
    if (this.#scrolled.key(key)) return;
    const letter = key.text?.toLowerCase();
    if (letter === "y") this.#options.answer(true);
    else if (letter === "n" || key.id === "enter" || key.id === "escape") this.#options.answer(false);
  }
}
