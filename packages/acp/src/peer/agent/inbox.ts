// Prompts that arrive while a turn runs, for agents that can be steered. One that is taken becomes part of the
// conversation at that moment; one that is not becomes a turn of its own.

import type { ContentBlock } from "../../model/content.ts";
import type { PromptTicket } from "./prompt-queue.ts";

export interface InboxMessage {
  readonly messageId: string;
  readonly prompt: readonly ContentBlock[];
}

export class Inbox {
  readonly #taken: (ticket: PromptTicket) => void;
  #waiting: PromptTicket[] = [];
  #wake: (() => void) | undefined;
  #closed = false;

  /** @internal */
  constructor(taken: (ticket: PromptTicket) => void) {
    this.#taken = taken;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** The next message, or nothing when none is waiting. */
  take(): InboxMessage | undefined {
    const ticket = this.#waiting.shift();
    if (ticket !== undefined) this.#taken(ticket);
    return ticket;
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
  deliver(ticket: PromptTicket): boolean {
    if (this.#closed) return false;
    this.#waiting.push(ticket);
    this.#wake?.();
    return true;
  }

  /** @internal False when it is not waiting here. */
  withdraw(ticket: PromptTicket): boolean {
    const at = this.#waiting.indexOf(ticket);
    if (at >= 0) this.#waiting.splice(at, 1);
    return at >= 0;
  }

  /** @internal What nobody took. */
  close(): PromptTicket[] {
    this.#closed = true;
    const left = this.#waiting;
    this.#waiting = [];
    this.#wake?.();
    return left;
  }
}
