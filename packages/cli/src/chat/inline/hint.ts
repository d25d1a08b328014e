// A sentence in place of the status line, for a moment.

/** It goes away after this time. */
const shownMs = 3_000;

export class Hint {
  #shown: { readonly text: string; readonly until: number } | undefined;

  /** The sentence; undefined if there is none any more. */
  get text(): string | undefined {
    if (this.#shown !== undefined && performance.now() >= this.#shown.until) this.#shown = undefined;
    return this.#shown?.text;
  }

  /** An empty one removes the one before. */
  show(text: string): void {
    this.#shown = text === "" ? undefined : { text, until: performance.now() + shownMs };
  }

  /** Removes it, if it is this one. */
  remove(text: string): void {
    if (this.#shown?.text === text) this.#shown = undefined;
  }
}
