// The field in which the user writes: several lines, undo, kill ring, history, a menu of completions, folded pastes.

import type { AutocompleteProvider, SelectListTheme, TUI } from "@earendil-works/pi-tui";
import { Editor } from "@earendil-works/pi-tui/dist/components/editor.js";
import { CURSOR_MARKER } from "@earendil-works/pi-tui/dist/tui.js";
import { visibleWidth } from "@earendil-works/pi-tui/dist/utils.js";
import type { KeyPress } from "./key-press.ts";
import type { Tail } from "./tail-writer.ts";

export interface PromptEditorOptions {
  /** The rows of the terminal, of which the field takes a part. */
  readonly rows: () => number;
  /** Called when it must be drawn again, such as when completions have arrived. */
  readonly redraw: () => void;
  /** The colours of the menu. */
  readonly menu: SelectListTheme;
  /** How many completions are shown. Default 8. */
  readonly menuRows?: number;
}

/** What is drawn: the text with its cursor, and the menu below it. */
export interface DrawnPrompt extends Tail {
  readonly menu: readonly string[];
  /** How many lines are hidden above and below. */
  readonly hidden: { readonly above: number; readonly below: number };
}

const inverse = "\u001b[7m";
const reset = "\u001b[0m";
/** Ctrl-K, which lists the commands. */
const deleteToLineEnd = "\u000b";
const backspace = "\u007f";
const border = "\u001b_border\u0007";

/** Borders are ours to draw, and so is the cursor. */
class BareEditor extends Editor {
  hidden = { above: 0, below: 0 };

  protected override renderTopBorder(_width: number, above: number): string {
    this.hidden.above = above;
    return border;
  }

  protected override renderBottomBorder(_width: number, below: number): string {
    this.hidden.below = below;
    return border;
  }
}

export class PromptEditor {
  /** Called with the text, whose pastes are unfolded. The field is empty then. */
  onSubmit: ((text: string) => void) | undefined;
  /** Called after each change of the text. */
  onChange: (() => void) | undefined;
  readonly #editor: BareEditor;
  /** The line up to the cursor that the last key has completed. */
  #completed = "";

  constructor({ rows, redraw, menu, menuRows = 8 }: PromptEditorOptions) {
    const host = {
      requestRender: redraw,
      terminal: {
        get rows() {
          return rows();
        },
      },
    };
    // the editor uses these two members only
    this.#editor = new BareEditor(
      host as unknown as TUI,
      { borderColor: (text) => text, selectList: menu },
      { autocompleteMaxVisible: menuRows },
    );
    this.#editor.focused = true;
    this.#editor.onSubmit = (text) => this.onSubmit?.(text);
    this.#editor.onChange = () => this.onChange?.();
  }

  /** The text, whose pastes are unfolded. */
  get text(): string {
    return this.#editor.getExpandedText();
  }

  set text(text: string) {
    this.#editor.setText(text);
  }

  /** Whether the menu of completions is open: it then takes the keys up, down, enter, tab and escape. */
  get hasMenu(): boolean {
    return this.#editor.isShowingAutocomplete();
  }

  /** Inserts text where the cursor is. */
  insert(text: string): void {
    this.#editor.insertTextAtCursor(text);
  }

  /** Adds a prompt to those that the up key brings back. */
  remember(prompt: string): void {
    this.#editor.addToHistory(prompt);
  }

  complete(provider: AutocompleteProvider): void {
    this.#editor.setAutocompleteProvider({
      ...provider,
      applyCompletion: (...given) => {
        const made = provider.applyCompletion(...given);
        this.#completed = (made.lines[made.cursorLine] ?? "").slice(0, made.cursorCol);
        return made;
      },
    });
  }

  handle({ data, id, text }: KeyPress): void {
    const completed = this.#completed;
    this.#completed = "";
    // lines of a file follow its name without the blank
    if (text === ":" && /@(?:"[^"]+"|\S+) $/.test(completed)) this.#editor.handleInput(backspace);
    this.#editor.handleInput(id === "alt+k" ? deleteToLineEnd : data);
  }

  draw(width: number): DrawnPrompt {
    const all = this.#editor.render(width);
    const end = all.lastIndexOf(border);
    const lines: string[] = [];
    let cursor: Tail["cursor"];
    for (const line of all.slice(1, end)) {
      const at = line.indexOf(CURSOR_MARKER);
      if (at < 0) {
        lines.push(line.trimEnd());
        continue;
      }
      const before = line.slice(0, at);
      const after = line
        .slice(at + CURSOR_MARKER.length)
        .replace(inverse, "")
        .replace(reset, "");
      cursor = { row: lines.length, column: visibleWidth(before) };
      lines.push(`${before}${after}`.trimEnd());
    }
    return { lines, ...(cursor && { cursor }), menu: all.slice(end + 1), hidden: this.#editor.hidden };
  }
}
