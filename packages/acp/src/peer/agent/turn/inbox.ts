// The prompts that arrive while a turn runs. Those that are taken join the turn; the others become turns of their own.

import type { ContentBlock } from "../../../model/content.ts";
import type { ReceivedPrompt } from "./received-prompt.ts";

export interface InboxMessage {
  readonly messageId: string;
  readonly prompt: readonly ContentBlock[];
}

export class Inbox {
  readonly #taken: (prompt: ReceivedPrompt) => void;
  #waiting: ReceivedPrompt[] = [];
  #wake: (() => void) | undefined;
  #closed = false;

  /** @internal */
  constructor(taken: (prompt: ReceivedPrompt) => void) {
    this.#taken = taken;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** Takes the next message; undefined when none is waiting. */
  take(): InboxMessage | undefined {
    const prompt = this.#waiting.shift();
    if (prompt !== undefined) this.#taken(prompt);
    return prompt;
  }

  /** Messages as they come, until the turn ends or is cancelled. */
  async *[Symbol.asyncIterator](): AsyncGenerator<InboxMessage> {
    for (;;) {
      for (let message = this.take(); message !== undefined; message = this.take()) yield message;
      if (this.#closed) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** @internal False when the turn takes no more. */
  deliver(prompt: ReceivedPrompt): boolean {
    if (this.#closed) return false;
    this.#waiting.push(prompt);
    this.#wake?.();
    return true;
  }

  /** @internal False when it is not waiting here. */
  withdraw(prompt: ReceivedPrompt): boolean {
    const at = this.#waiting.indexOf(prompt);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** @internal Takes no more, and returns the prompts that were not taken. */
  close(): ReceivedPrompt[] {
    this.#closed = true;
    const left = this.#waiting;
    this.#waiting = [];
    this.#wake?.();
    return left;
  }
}
