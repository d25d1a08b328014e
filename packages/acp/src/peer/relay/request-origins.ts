// Maps the requests that a relay sends to an agent to those of the client.

import type { RequestId } from "../../jsonrpc/message-id.ts";

/** Maps the ids of our requests to those of the client that they are sent for: the agent may ask about one without a session. */
export class RequestOrigins {
  readonly #origins = new Map<unknown, RequestId>();

  /** Runs work for a request of the client. `work` reports the ids of the requests that it sends. */
  async run<Result>(
    origin: RequestId,
    work: (sent: (id: number) => void) => Promise<Result>,
  ): Promise<Result> {
    const ids: number[] = [];
    try {
      return await work((id) => {
        ids.push(id);
        this.#origins.set(id, origin);
      });
    } finally {
      for (const id of ids) this.#origins.delete(id);
    }
  }

  /** The request of the client behind one of ours that is still open. */
  find(id: unknown): RequestId | undefined {
    return this.#origins.get(id);
  }
}
