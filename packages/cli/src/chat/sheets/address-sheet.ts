// An address that an agent asks to visit. It is opened only when the user says so.

import type { ElicitationResponse } from "@parley/acp";
import type { ShownElicitation } from "@parley/client/conversation";
import { addressLines, elicitationHeading, hostWarning } from "../../questions/elicitation-questions.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { framed, innerColumns, Scrolled, sheetRows } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

export interface AddressSheetOptions {
  readonly agent: string;
  readonly paint: Paint;
  /** Opens the address in the browser, or copies it. Returns what it did. */
  readonly open: (url: string) => string;
  readonly answer: (response: ElicitationResponse) => void;
}

export class AddressSheet implements Sheet {
  readonly #question: Extract<ShownElicitation, { mode: "url" }>;
  readonly #options: AddressSheetOptions;
  readonly #scrolled = new Scrolled();
  #said = "";

  constructor(question: Extract<ShownElicitation, { mode: "url" }>, options: AddressSheetOptions) {
    this.#question = question;
    this.#options = options;
  }

  draw(size: SheetSize): Tail {
    const { paint, agent } = this.#options;
    const { host } = this.#question;
    const content = [
      elicitationHeading(this.#question, agent, paint),
      ...addressLines(this.#question, paint),
      ...hostWarning(host, paint),
    ].flatMap((line) => sheetRows(line, innerColumns(size)));
    const said = this.#said === "" ? [] : [paint("dim", `  ${this.#said}`)];
    const answers = ["o open or copy it", "y done", "n decline", "c/Esc cancel"];
    return framed(size, { paint, content, scrolled: this.#scrolled, foot: { lines: said, answers } });
  }

  key(key: KeyPress): void {
    if (this.#scrolled.key(key)) return;
    const { answer, open } = this.#options;
    const letter = key.text?.toLowerCase();
    if (letter === "o") this.#said = open(this.#question.url);
    else if (letter === "y") answer({ action: "accept" });
    else if (letter === "n") answer({ action: "decline" });
    else if (letter === "c" || key.id === "escape") answer({ action: "cancel" });
  }
}
