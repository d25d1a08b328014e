// The question above the prompt, and whether it or the prompt gets the keys.

import type { Conversation, OpenQuestion } from "@parley/client/conversation";
import type { Screen } from "../../screen/screen.ts";
import type { Paint } from "../../terminal/paint.ts";
import type { AskedSheet } from "../sheets/asked-sheet.ts";
import { questionSheet } from "../sheets/question-sheet.ts";
import type { Sheet } from "../sheets/sheet.ts";
import type { Composer } from "./composer.ts";

/** Somebody who has typed within this time goes on typing: a question does not take the keys away. */
const typingMs = 1_000;
/** A key within this time may be meant for the question before. */
const afterAnotherMs = 2_000;

export class QuestionDock {
  readonly #screen: Screen;
  readonly #composer: Composer;
  #asked: { readonly question: OpenQuestion; readonly sheet: AskedSheet } | undefined;
  #isFocused = false;
  /** The user has chosen who gets the keys. */
  #isChosen = false;
  /** When the last question went away. */
  #goneAt = Number.NEGATIVE_INFINITY;

  /** Whether that one had the keys. */
  #wasFocused = false;

  constructor(screen: Screen, composer: Composer) {
    this.#screen = screen;
    this.#composer = composer;
  }

  get sheet(): Sheet | undefined {
    return this.#asked?.sheet;
  }

  /** Whether the question gets the keys. */
  get isFocused(): boolean {
    return this.#asked !== undefined && this.#isFocused;
  }

  /** Shows the oldest question. It gets the keys unless the user is writing. Returns whether it is a new one. */
  ask({ agent, cwd, questions }: Conversation, paint: Paint, count: () => number): boolean {
    const [first] = questions;
    if (first === this.#asked?.question) return false;
    const now = performance.now();
    if (this.#asked !== undefined) {
      this.#goneAt = now;
      this.#wasFocused = this.#isFocused;
    }
    this.#isChosen = false;
    this.#isFocused = first !== undefined && (this.#isAnswering() || !this.#isWriting());
    if (first === undefined) {
      this.#asked = undefined;
      return false;
    }
    const isAfterAnother = now - this.#goneAt < afterAnotherMs;
    const options = { agent: agent.asker, cwd, paint, screen: this.#screen, count, isAfterAnother };
    this.#asked = { question: first, sheet: questionSheet(first, options) };
    return true;
  }

  /** Somebody who has stopped writing without a word looks at the question. */
  settle(): void {
    if (this.#isFocused || this.#isChosen || this.#isWriting()) return;
    this.#isFocused = true;
    this.#asked?.sheet.wait();
  }

  /** Something was before it: a key that was meant for that is no answer. */
  uncovered(): void {
    this.#asked?.sheet.wait();
  }

  /** The keys go to the other one. Returns whether there is a question. */
  turn(): boolean {
    if (this.#asked === undefined) return false;
    this.#isFocused = !this.#isFocused;
    this.#isChosen = true;
    return true;
  }

  /** Somebody who has answered a question and has not written since answers the next one too, also beside a draft. */
  #isAnswering(): boolean {
    return this.#wasFocused && this.#composer.touchedAt < this.#goneAt;
  }

  #isWriting(): boolean {
    return !this.#composer.isEmpty || performance.now() - this.#composer.touchedAt < typingMs;
  }
}
