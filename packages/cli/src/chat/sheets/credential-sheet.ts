// A credential for a login. A secret is not shown while it is typed.

import type { LoginVariable } from "@parley/client";
import type { KeyPress } from "../../screen/key-press.ts";
import { LineField } from "../../screen/line-field.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { escapedLine } from "../../terminal/sanitise.ts";
import { framed, innerColumns, Scrolled, sheetRows } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

export class CredentialSheet implements Sheet {
  readonly #variable: LoginVariable;
  readonly #agent: string;
  readonly #paint: Paint;
  readonly #answer: (value: string | undefined) => void;
  readonly #input = new LineField();
  readonly #scrolled = new Scrolled();
  #problem = "";

  constructor(
    variable: LoginVariable,
    agent: string,
    paint: Paint,
    answer: (value: string | undefined) => void,
  ) {
    this.#variable = variable;
    this.#agent = agent;
    this.#paint = paint;
    this.#answer = answer;
  }

  draw(size: SheetSize): Tail {
    const { name, label, isSecret, isOptional } = this.#variable;
    const what = label === name ? escapedLine(name) : `${escapedLine(label)} (${escapedLine(name)})`;
    const more = `${isOptional ? " (optional)" : ""}${isSecret ? " (not shown)" : ""}`;
    const heading = `${this.#paint("warning", "?")} ${escapedLine(this.#agent)} needs ${this.#paint("strong", what)}${more}`;
    const problem = this.#problem === "" ? [] : [this.#paint("warning", `  ${this.#problem}`)];
    const foot = {
      lines: [...problem, this.#paint("dim", "  Enter sends, Esc gives up the login")],
      field: { label: "  > ", input: this.#input, isHidden: isSecret },
    };
    const content = sheetRows(heading, innerColumns(size));
    return framed(size, { paint: this.#paint, content, scrolled: this.#scrolled, foot });
  }

  key(key: KeyPress): void {
    if (key.id === "escape") return this.#answer(undefined);
    if (key.id !== "enter") {
      this.#problem = "";
      return this.#input.handle(key);
    }
    const { text } = this.#input;
    if (text !== "" || this.#variable.isOptional) this.#answer(text);
    else this.#problem = "It is needed: type or paste it.";
  }
}
