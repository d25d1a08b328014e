// A form that an agent asks to fill in, field by field.

import type { ElicitationResponse } from "@parley/acp";
import type { ShownElicitation } from "@parley/client/conversation";
import { elicitationHeading } from "../../questions/elicitation-questions.ts";
import {
  declinedForm,
  type Field,
  fieldTitle,
  formFields,
  shownValue,
  usualOf,
} from "../../questions/form-fields.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";
import { FieldEditor } from "./field-editor.ts";
import { type Foot, framed, innerColumns, Scrolled, sheetRows } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

export type FormQuestion = Extract<ShownElicitation, { mode: "form" }>;

export interface FormSheetOptions {
  readonly agent: string;
  readonly paint: Paint;
  readonly answer: (response: ElicitationResponse) => void;
}

export class FormSheet implements Sheet {
  readonly #question: FormQuestion;
  readonly #options: FormSheetOptions;
  readonly #fields: readonly (readonly [string, Field])[];
  readonly #isRefused: boolean;
  readonly #content = new Map<string, unknown>();
  readonly #scrolled = new Scrolled();
  /** The field that is asked for; behind the last one is the summary. */
  #at = 0;
  #editor: FieldEditor | undefined;
  #isLeaving = false;
  /** Whether all fields were seen: a field that is changed then leads back to the summary. */
  #isComplete = false;
  #problem = "";

  constructor(question: FormQuestion, options: FormSheetOptions) {
    this.#question = question;
    this.#options = options;
    const fields = formFields(question.requestedSchema);
    this.#isRefused = fields === undefined;
    this.#fields = fields ?? [];
    this.#go(0);
  }

  #go(at: number): void {
    this.#at = Math.max(0, Math.min(at, this.#fields.length));
    this.#problem = "";
    this.#scrolled.toTop();
    const asked = this.#fields[this.#at];
    if (asked === undefined) {
      this.#editor = undefined;
      this.#isComplete = true;
      return;
    }
    const [name, field] = asked;
    const isRequired = this.#question.requestedSchema.required?.includes(name) === true;
    // what was emptied is not filled with the default again
    const value = this.#content.has(name) ? this.#content.get(name) : usualOf(field);
    this.#editor = new FieldEditor(name, field, isRequired, value);
  }

  // ---- keys

  key(key: KeyPress): void {
    if (this.#isRefused) return this.#leave(key);
    if (this.#isLeaving) return this.#leave(key);
    if (key.id === "escape") this.#isLeaving = true;
    else if (key.id === "shift+tab") this.#go(this.#at - 1);
    else if (this.#editor !== undefined) this.#edit(this.#editor, key);
    else this.#summaryKey(key);
  }

  #edit(editor: FieldEditor, key: KeyPress): void {
    const used = editor.key(key);
    if (used === "none") this.#scrolled.key(key);
    if (used === "used") this.#problem = "";
    if (used !== "done") return;
    const checked = editor.value();
    if ("problem" in checked) {
      this.#problem = checked.problem;
      return;
    }
    const [name = ""] = this.#fields[this.#at] ?? [];
    this.#content.set(name, checked.given);
    this.#go(this.#isComplete ? this.#fields.length : this.#at + 1);
  }

  #summaryKey(key: KeyPress): void {
    if (this.#scrolled.key(key)) return;
    const letter = key.text?.toLowerCase() ?? "";
    const { answer } = this.#options;
    if (letter === "y") answer({ action: "accept", content: this.#given() });
    else if (letter === "n") answer({ action: "decline" });
    else if (/^[1-9]$/.test(letter) && Number(letter) <= this.#fields.length) this.#go(Number(letter) - 1);
  }

  #leave(key: KeyPress): void {
    const letter = key.text?.toLowerCase();
    const { answer } = this.#options;
    if (letter === "d" || this.#isRefused) answer({ action: "decline" });
    else if (letter === "c") answer({ action: "cancel" });
    else this.#isLeaving = false;
  }

  #given(): Record<string, unknown> {
    return Object.fromEntries([...this.#content].filter(([, value]) => value !== undefined));
  }

  // ---- drawing

  draw(size: SheetSize): Tail {
    const { paint, agent } = this.#options;
    const columns = innerColumns(size);
    const rowsOf = (line: string) => sheetRows(line, columns);
    const heading = rowsOf(elicitationHeading(this.#question, agent, paint));
    const scrolled = this.#scrolled;
    if (this.#isRefused) {
      const content = [...heading, ...rowsOf(`  ${declinedForm}`)];
      return framed(size, {
        paint,
        content,
        scrolled,
        foot: { lines: [], answers: ["press a key to go on"] },
      });
    }
    const asked = this.#editor?.draw(paint);
    const lines = asked?.lines ?? this.#summary();
    const selected = heading.length + lines.slice(0, asked?.selected ?? 0).flatMap(rowsOf).length;
    if (asked !== undefined && this.#editor?.input === undefined) scrolled.reveal(selected, selected);
    return framed(size, {
      paint,
      content: [...heading, ...lines.flatMap(rowsOf)],
      scrolled,
      foot: this.#foot(),
    });
  }

  #summary(): string[] {
    return this.#fields.map(([name, field], at) => {
      const shown = shownValue(field, this.#content.get(name));
      return `  ${at + 1}  ${fieldTitle(name, field)}: ${shown}`;
    });
  }

  #foot(): Foot {
    const { paint, agent } = this.#options;
    const problem = this.#problem === "" ? [] : [paint("warning", `  ${this.#problem}`)];
    if (this.#isLeaving) return { lines: [], answers: ["d decline", "c cancel", "any other key goes back"] };
    if (this.#editor === undefined) {
      const change = this.#fields.length === 0 ? [] : ["1-9 change a field"];
      return {
        lines: [`  Send this to ${safeLine(agent)}?`],
        answers: ["y send", "n decline", ...change, "Esc leave"],
      };
    }
    const { input, hint } = this.#editor;
    const back = this.#at === 0 ? "" : ", Shift-Tab goes back";
    const which = `  field ${this.#at + 1} of ${this.#fields.length}: ${hint}${back}, Esc leaves`;
    const lines = [...problem, paint("dim", which)];
    return input === undefined ? { lines } : { lines, field: { label: "  > ", input } };
  }
}
