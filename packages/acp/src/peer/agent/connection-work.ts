// The work on sessions that the requests of one connection have begun.

import { withTimeout } from "../../base/abortable.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { SessionOrder } from "../base/session-order.ts";

export class ConnectionWork {
  readonly #order: SessionOrder;
  readonly #running = new Set<Promise<unknown>>();
  /** Gives the work up that waits for its turn, or holds others up. */
  readonly #giveUps = new Set<(reason: Error) => void>();
  isEnding = false;

  /** `order` is that of all connections. */
  constructor(order: SessionOrder) {
    this.#order = order;
  }

  /** Runs work on a session after the work before it, of other connections too. */
  async inOrder<Result>(sessionId: string, work: () => Promise<Result>): Promise<Result> {
    const given = Promise.withResolvers<never>();
    given.promise.catch(() => undefined);
    this.#giveUps.add(given.reject);
    const ordered = this.#order.run(sessionId, () => Promise.race([work(), given.promise]));
    this.#running.add(ordered);
    try {
      return await ordered;
    } finally {
      this.#running.delete(ordered);
      this.#giveUps.delete(given.reject);
    }
  }

  /** Waits for what runs. What hangs must not keep other connections from its session. */
  async end(graceMs: number): Promise<void> {
    this.isEnding = true;
    await withTimeout(graceMs, Promise.allSettled(this.#running));
    for (const giveUp of this.#giveUps) giveUp(connectionEnded());
  }
}

export function connectionEnded(): RequestError {
  return new RequestError("cancelled", "the connection has ended");
}
