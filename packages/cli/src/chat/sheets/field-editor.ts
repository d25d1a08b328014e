// One field of a form: a line to type in, or a list to choose from.

import {
  checkedAnswer,
  type Field,
  type FormChoice,
  fieldTitle,
  formChoices,
} from "../../questions/form-fields.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import { LineField } from "../../screen/line-field.ts";
import type { Paint } from "../../terminal/paint.ts";
import { safeLine } from "../../terminal/sanitise.ts";

type Checked = ReturnType<typeof checkedAnswer>;

/** What can be chosen; the first may be nothing. */
interface Entry {
  readonly name: string;
  /** What somebody would type for it; empty for nothing. */
  readonly typed: string;
}

export class FieldEditor {
  /** The line to type in; undefined for a list. */
  readonly input: LineField | undefined;
  readonly #name: string;
  readonly #field: Field;
  readonly #isRequired: boolean;
  readonly #entries: readonly Entry[];
  readonly #chosen = new Set<string>();
  #at = 0;

  /** `value` is what to begin with; undefined for nothing. */
  constructor(name: string, field: Field, isRequired: boolean, value: unknown) {
    this.#name = name;
    this.#field = field;
    this.#isRequired = isRequired;
    const choices = formChoices(field);
    this.#entries = entriesOf(field, choices, isRequired);
    if (this.#entries.length === 0) {
      this.input = new LineField(value === undefined ? "" : safeLine(String(value)));
      return;
    }
    const given = (Array.isArray(value) ? value : [value]).map((each) => typedFor(field, choices, each));
    if (field.type === "array") for (const typed of given) if (typed !== "") this.#chosen.add(typed);
    this.#at = Math.max(
      0,
      this.#entries.findIndex(({ typed }) => typed === given[0]),
    );
  }

  get hint(): string {
    if (this.input !== undefined) return "Enter goes on";
    return this.#field.type === "array" ? "Space marks, Enter goes on" : "Up and Down move, Enter chooses";
  }

  /** The label and the list. `selected` is the row to be seen. */
  draw(paint: Paint): { readonly lines: readonly string[]; readonly selected: number } {
    const description = this.#field["description"];
    const about = typeof description === "string" && description !== "" ? [`  ${safeLine(description)}`] : [];
    const label = `  ${paint("strong", fieldTitle(this.#name, this.#field))}${this.#isRequired ? "" : " (optional)"}`;
    const isMany = this.#field.type === "array";
    const list = this.#entries.map(({ name, typed }, at) => {
      const mark = isMany ? (this.#chosen.has(typed) ? "[x] " : "[ ] ") : "";
      const line = `${/^\d+$/.test(typed) ? `${typed}  ` : ""}${mark}${name}`;
      return at === this.#at ? `  > ${paint("accent", line)}` : `    ${line}`;
    });
    const before = [label, ...about.map((line) => paint("dim", line))];
    return { lines: [...before, ...list], selected: before.length + (list.length > 0 ? this.#at : 0) };
  }

  /** "done" if the value can be read, "none" if the key means nothing here. */
  key(key: KeyPress): "done" | "none" | "used" {
    if (key.id === "enter") return "done";
    if (this.input !== undefined) {
      if (["up", "down", "pageUp", "pageDown"].includes(key.id)) return "none";
      this.input.handle(key);
      return "used";
    }
    if (key.id === "up" || key.id === "down") {
      const last = this.#entries.length - 1;
      this.#at = Math.max(0, Math.min(last, this.#at + (key.id === "up" ? -1 : 1)));
      return "used";
    }
    const isMany = this.#field.type === "array";
    if (isMany && (key.id === "space" || key.text === " ")) {
      this.#toggle(this.#entries[this.#at]);
      return "used";
    }
    const at = this.#entries.findIndex(({ typed }) => typed !== "" && typed === key.text?.toLowerCase());
    if (at < 0) return "none";
    this.#at = at;
    if (!isMany) return "done";
    this.#toggle(this.#entries[at]);
    return "used";
  }

  #toggle(entry: Entry | undefined): void {
    if (entry === undefined) return;
    if (!this.#chosen.delete(entry.typed)) this.#chosen.add(entry.typed);
  }

  value(): Checked {
    const typed = this.#typed();
    // what was emptied is empty: it does not become the default again
    if (typed.trim() === "" && !this.#isRequired) return { given: undefined };
    if (typed === "" && this.input === undefined) return { problem: "Choose at least one." };
    return checkedAnswer(this.#field, this.#isRequired, typed);
  }

  #typed(): string {
    if (this.input !== undefined) return this.input.text;
    if (this.#field.type !== "array") return this.#entries[this.#at]?.typed ?? "";
    return this.#entries.flatMap(({ typed }) => (this.#chosen.has(typed) ? [typed] : [])).join(",");
  }
}

function entriesOf(field: Field, choices: readonly FormChoice[], isRequired: boolean): readonly Entry[] {
  const nothing = isRequired || field.type === "array" ? [] : [{ name: "(leave empty)", typed: "" }];
  if (field.type === "boolean")
    return [{ name: "y  yes", typed: "y" }, { name: "n  no", typed: "n" }, ...nothing];
  if (choices.length === 0) return [];
  return [...choices.map(({ name }, at) => ({ name: safeLine(name), typed: String(at + 1) })), ...nothing];
}

/** What somebody would type for a value. */
function typedFor(field: Field, choices: readonly FormChoice[], value: unknown): string {
  if (value === undefined) return "";
  if (field.type === "boolean") return value === true ? "y" : "n";
  const at = choices.findIndex((choice) => choice.value === value);
  return at < 0 ? "" : String(at + 1);
}
