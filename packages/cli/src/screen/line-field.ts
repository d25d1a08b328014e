// A field of one line, with the keys of a shell: words, undo, kill ring, pastes.

import { Input } from "@earendil-works/pi-tui/dist/components/input.js";
import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { sliceByColumn, visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import { safeText } from "../terminal/sanitise.ts";
import type { KeyPress } from "./key-press.ts";

const toEnd = "\u0005";

export class LineField {
  readonly #input = new Input({ prompt: "" });

  /** The cursor is behind `text`. */
  constructor(text = "") {
    this.#input.focused = true;
    this.text = text;
  }

  get text(): string {
    return this.#input.getValue();
  }

  set text(text: string) {
    this.#input.setValue(text);
    this.#input.handleInput(toEnd);
  }

  /** Takes what is typed and pasted, and the keys that edit. Enter, Escape, up and down do nothing. */
  handle({ data, paste }: KeyPress): void {
    // the line end of a copied line is not part of it
    const safe =
      paste === undefined
        ? undefined
        : safeText(paste)
            .trimEnd()
            .replaceAll(/[\n\t]+/g, " ");
    this.#input.handleInput(safe === undefined ? data : `\u001b[200~${safe}\u001b[201~`);
  }

  /** The part of the text around the cursor, and the column of the cursor in it. Hidden text is shown as dots. */
  draw(columns: number, isHidden = false): { readonly line: string; readonly column: number } {
    const { text } = this;
    const [drawn = ""] = this.#input.render(visibleWidth(text) + 2);
    const before = drawn.slice(0, drawn.indexOf(CURSOR_MARKER));
    const shown = (part: string) => (isHidden ? "•".repeat([...part].length) : part);
    const at = visibleWidth(shown(before));
    const first = Math.max(0, at - columns + 1);
    return { line: sliceByColumn(shown(text), first, columns, true), column: at - first };
  }
}
