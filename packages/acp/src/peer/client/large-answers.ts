// Limits how many large answers are prepared at once, and sends each when the agent has read the one before.

import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import { Slots } from "../base/slots.ts";

/** Read at the same time; each may be as large as a message. */
const atOnce = 8;

export class LargeAnswers {
  readonly #room: () => Promise<void> | undefined;
  readonly #slots = new Slots(atOnce);
  #lastReply: Promise<void> = Promise.resolve();

  /** `room` resolves when the peer has read what was sent; undefined when it keeps up. */
  constructor(room: () => Promise<void> | undefined) {
    this.#room = room;
  }

  async give<Result>(request: IncomingRequest, read: () => Promise<Result>): Promise<Result> {
    const waiting = this.#slots.enter();
    if (waiting !== undefined) await waiting;
    try {
      const result = await read();
      await this.#turn(request);
      return result;
    } finally {
      this.#slots.leave();
    }
  }

  /** While the peer is slow, answers are sent one by one. */
  async #turn(request: IncomingRequest): Promise<void> {
    if (this.#room() === undefined) return;
    const before = this.#lastReply;
    const reply = Promise.withResolvers<void>();
    this.#lastReply = reply.promise;
    await before;
    await this.#room();
    // a batch is answered when all of its answers are there: none of them may wait for another
    if (request.isBatched) reply.resolve();
    else request.afterReply(reply.resolve);
  }
}
