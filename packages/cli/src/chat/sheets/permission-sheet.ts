// The question for a permission, with one key as the answer.

import type { PermissionChoice, PermissionReply, ShownPermission } from "@parley/client/policy";
import {
  editedRule,
  editedScope,
  isEditable,
  listed,
  listedChoice,
  noOf,
  notAnAnswer,
  type QuestionSource,
  shownAnswers,
  usualAnswers,
} from "../../questions/permission-answers.ts";
import { moreLines, questionLines } from "../../questions/permission-lines.ts";
import type { KeyPress } from "../../screen/key-press.ts";
import { LineField } from "../../screen/line-field.ts";
import type { Tail } from "../../screen/tail-writer.ts";
import type { Paint } from "../../terminal/paint.ts";
import { type Foot, framed, innerColumns, Scrolled, sheetRows } from "./frame.ts";
import type { Sheet, SheetSize } from "./sheet.ts";

const elsewhere = "that key is not an answer; Tab goes to the prompt";

/** What is typed instead of one key. */
interface Typing {
  readonly label: string;
  readonly input: LineField;
  done(text: string): void;
}

export class PermissionSheet implements Sheet {
  readonly #question: ShownPermission;
  readonly #source: QuestionSource;
  readonly #paint: Paint;
  readonly #answer: (reply: PermissionReply) => void;
  readonly #scrolled = new Scrolled();
  #isExpanded = false;
  #typing: Typing | undefined;
  #problem = "";
  /** The rows of the content, for this many columns. */
  #rows: { readonly columns: number; readonly rows: readonly string[] } | undefined;

  constructor(
    question: ShownPermission,
    source: QuestionSource,
    paint: Paint,
    answer: (reply: PermissionReply) => void,
  ) {
    this.#question = question;
    this.#source = source;
    this.#paint = paint;
    this.#answer = answer;
  }

  draw(size: SheetSize): Tail {
    return framed(size, {
      paint: this.#paint,
      content: this.#content(innerColumns(size)),
      scrolled: this.#scrolled,
      foot: this.#foot(),
    });
  }

  #content(columns: number): readonly string[] {
    if (this.#rows?.columns === columns) return this.#rows.rows;
    // everything can be scrolled to: nothing is left out
    const room = { columns, most: Number.POSITIVE_INFINITY };
    const given = [this.#question, this.#source, this.#paint, room] as const;
    const lines = [...questionLines(...given), ...(this.#isExpanded ? moreLines(...given) : [])];
    const rows = lines.flatMap((line) => sheetRows(line, columns));
    this.#rows = { columns, rows };
    return rows;
  }

  #foot(): Foot {
    const problem = this.#problem === "" ? [] : [this.#paint("warning", `  ${this.#problem}`)];
    if (this.#typing === undefined)
      return { lines: problem, answers: shownAnswers(this.#question, this.#source, "n/Enter/Esc") };
    return { lines: [...problem, this.#paint("dim", "  Enter sends, Esc goes back")], field: this.#typing };
  }

  key(key: KeyPress): void {
    if (this.#scrolled.key(key)) return;
    if (this.#typing !== undefined) return this.#typed(this.#typing, key);
    this.#problem = "";
    if (key.id === "enter" || key.id === "escape") return this.#answer(noOf(this.#question));
    if (key.text === undefined) {
      this.#problem = elsewhere;
      return;
    }
    const letter = key.text.toLowerCase();
    const usual = usualAnswers(this.#question).find((each) => each.letter === letter);
    if (usual !== undefined) return this.#answer(usual.id);
    if (this.#question.isAlwaysAsked || !this.#rare(letter)) this.#problem = notAnAnswer(key.text);
  }

  #typed(typing: Typing, key: KeyPress): void {
    if (key.id === "escape") this.#type(undefined);
    else if (key.id === "enter") typing.done(typing.input.text.trim());
    else typing.input.handle(key);
  }

  #type(typing: Typing | undefined): void {
    this.#typing = typing;
    this.#problem = "";
  }

  /** Whether the key is one of those that are rarely wanted. They count once they were shown. */
  #rare(letter: string): boolean {
    if (letter === "?") this.#expand();
    else if (letter === "e") this.#sayWhy();
    else if (letter === "r" && this.#isExpanded && isEditable(this.#question)) this.#editRule();
    else return /^\d$/.test(letter) && this.#choose(letter);
    return true;
  }

  #expand(): void {
    this.#isExpanded = true;
    this.#rows = undefined;
    this.#scrolled.toEnd();
  }

  #sayWhy(): void {
    const id = noOf(this.#question);
    const done = (said: string) => this.#answer(said === "" ? id : { id, said });
    this.#type({ label: "  Reason for the agent: ", input: new LineField(), done });
  }

  #editRule(): void {
    const [usual = ""] = this.#question.allowedBy ?? [];
    const done = (typed: string) => {
      const edited = editedRule(typed, usual);
      if ("rule" in edited) this.#answer({ id: `allow:${editedScope}`, rule: edited.rule });
      else this.#problem = edited.problem;
    };
    this.#type({ label: "  Rule to allow here for 30 days: ", input: new LineField(usual), done });
  }

  /** By its number. With ten answers or more, a number may have more digits. */
  #choose(digit: string): boolean {
    const choices = listed(this.#question.choices);
    const isShown = (choice: PermissionChoice) => this.#isExpanded || choice.isExtra !== true;
    if (!choices.some(isShown)) return false;
    const choose = (typed: string): boolean => {
      const choice = listedChoice(typed, choices);
      if (choice === undefined || !isShown(choice)) return false;
      this.#answer(choice.id);
      return true;
    };
    if (choices.length < 10) return choose(digit);
    const done = (typed: string) => {
      if (!choose(typed)) this.#problem = notAnAnswer(typed);
    };
    this.#type({ label: "  Answer: ", input: new LineField(digit), done });
    return true;
  }
}
