// Maps our requests to the agent to the client's requests that they are sent for. Where there is no session yet, the
// agent may ask something in the name of such a request.

import type { RequestId } from "../../jsonrpc/message-id.ts";
import type { Transport } from "../../jsonrpc/transport.ts";

export class RequestOrigins {
  /** The client's ids by ours. */
  readonly #made = new Map<unknown, RequestId>();
  #current: RequestId | undefined;

  /** Does what the client's request wants; what `work` sends before it returns is sent for that request. */
  async run<Result>(id: RequestId, work: () => Promise<Result>): Promise<Result> {
    const made: unknown[] = [];
    this.#current = id;
    this.#note = (ours) => void made.push(ours);
    let result: Promise<Result>;
    try {
      result = work();
    } finally {
      this.#current = undefined;
    }
    try {
      return await result;
    } finally {
      for (const ours of made) this.#made.delete(ours);
    }
  }

  /** The transport to the agent, watched. */
  watching(transport: Transport): Transport {
    const send: Transport["send"] = (message, text) => {
      if (this.#current !== undefined && "method" in message && "id" in message) {
        this.#made.set(message.id, this.#current);
        this.#note(message.id);
      }
      return transport.send(message, text);
    };
    return { ...transport, send };
  }

  /** The client's request behind one of ours that is still open. */
  find(ours: unknown): RequestId | undefined {
    return this.#made.get(ours);
  }

  #note: (ours: unknown) => void = () => undefined;
}
