// The prompts of a session that wait for their turn: visible, movable, and held after a cancel.

import type { CommandOf, QueuedPrompt } from "../conversation/session-link.ts";
import type { ChatInput } from "../prompt-input/chat-input.ts";

/** Its id is the key of the command that brought it. */
export interface WaitingPrompt extends QueuedPrompt {
  readonly input: ChatInput;
}

export class WaitingPrompts {
  #waiting: readonly WaitingPrompt[] = [];
  #isHeld = false;

  get list(): readonly QueuedPrompt[] {
    return this.#waiting;
  }

  /** Adds it at the end. After a cancel it goes first, and those that were held follow. */
  add(prompt: WaitingPrompt): void {
    if (this.#isHeld) this.addFirst(prompt);
    else this.#waiting = [...this.#waiting, prompt];
    this.#isHeld = false;
  }

  addFirst(prompt: WaitingPrompt): void {
    this.#waiting = [prompt, ...this.#waiting];
  }

  /** Nothing is taken until the next one is added. */
  hold(): void {
    this.#isHeld = this.#waiting.length > 0;
  }

  /** The next one to send, if it may be sent. */
  next(): WaitingPrompt | undefined {
    const [first, ...rest] = this.#waiting;
    if (this.#isHeld || first === undefined) return undefined;
    this.#waiting = rest;
    return first;
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

export function promptOf({ key, input }: CommandOf<"prompt" | "steer">): WaitingPrompt {
  return { id: key, text: input.text, input };
}
