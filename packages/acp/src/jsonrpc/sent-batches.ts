// Fails the requests of a batch that the peer refused as a whole, with one error without an id.

import { ConnectionError } from "./errors.ts";
import type { PendingRequests } from "./pending-requests.ts";

export class SentBatches {
  readonly #pending: PendingRequests;
  /** The ids of each batch, oldest first. */
  #batches: (readonly number[])[] = [];

  constructor(pending: PendingRequests) {
    this.#pending = pending;
  }

  add(ids: readonly (number | undefined)[]): void {
    this.#batches = this.#batches.filter((batch) => batch.some((id) => this.#pending.has(id)));
    const requests = ids.filter((id) => id !== undefined);
    if (requests.length > 0) this.#batches.push(requests);
  }

  /** Fails the oldest batch that waits for answers. False when there is none. */
  failOldest(): boolean {
    for (let batch = this.#batches.shift(); batch !== undefined; batch = this.#batches.shift()) {
      const reason = new ConnectionError(
        "protocol",
        "the peer does not accept batches: send the calls one by one",
      );
      if (batch.map((id) => this.#pending.fail(id, reason)).includes(true)) return true;
    }
    return false;
  }
}
