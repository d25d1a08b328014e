// The prompts of a session that wait for their turn: visible, movable, and held after a cancel.

import type { ChatInput, QueuedPrompt } from "../conversation/session-link.ts";

interface Waiting extends QueuedPrompt {
  readonly input: ChatInput;
}

let count = 0;

export class WaitingPrompts {
  #waiting: readonly Waiting[] = [];
  #isHeld = false;

  get list(): readonly QueuedPrompt[] {
    return this.#waiting;
  }

  /** Adds it at the end. After a cancel it goes first, and those that were held follow. */
  add(input: ChatInput): void {
    if (this.#isHeld) this.addFirst(input);
    else this.#waiting = [...this.#waiting, waiting(input)];
    this.#isHeld = false;
  }

  addFirst(input: ChatInput): void {
    this.#waiting = [waiting(input), ...this.#waiting];
  }

  /** Nothing is taken until the next one is added. */
  hold(): void {
    this.#isHeld = this.#waiting.length > 0;
  }

  /** The next one to send, if it may be sent. */
  next(): ChatInput | undefined {
    const [first, ...rest] = this.#waiting;
    if (this.#isHeld || first === undefined) return undefined;
    this.#waiting = rest;
    return first.input;
  }

  take(id: string): ChatInput | undefined {
    const found = this.#waiting.find((each) => each.id === id);
    this.#waiting = this.#waiting.filter((each) => each !== found);
    if (this.#waiting.length === 0) this.#isHeld = false;
    return found?.input;
  }

  move(id: string, by: number): void {
    const at = this.#waiting.findIndex((each) => each.id === id);
    const moved = this.#waiting[at];
    if (moved === undefined) return;
    const others = this.#waiting.filter((each) => each !== moved);
    const to = Math.min(Math.max(at + by, 0), others.length);
    this.#waiting = others.toSpliced(to, 0, moved);
  }
}

function waiting(input: ChatInput): Waiting {
  return { id: `queued-${++count}`, text: input.text, input };
}
