// Keeps calls for a component that is not ready yet.

import type { Call } from "../../forward/call.ts";
import type { Port, Taker } from "../../forward/port.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";

interface Waiting {
  readonly call: Call;
  readonly taker: Taker | undefined;
  cancelled: boolean;
  /** Cancels it once it has been sent. */
  cancel: (() => void) | undefined;
}

const maxChars = 32 * 1024 * 1024;
const charsPerCall = 256;

/** One direction. Calls pass to the port at once, or when it is opened. */
export class WaitingRoom implements Port {
  readonly #port: () => Port;
  readonly #overflowed: () => void;
  readonly #wanted: () => void;
  #isOpen = false;
  #chars = 0;
  #waiting: Waiting[] = [];

  /** `wanted` is called when something waits. */
  constructor(port: () => Port, { overflowed, wanted }: { overflowed: () => void; wanted: () => void }) {
    this.#port = port;
    this.#overflowed = overflowed;
    this.#wanted = wanted;
  }

  open(): void {
    this.#isOpen = true;
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#chars = 0;
    for (const each of waiting) {
      if (each.cancelled) continue;
      if (each.taker === undefined) void this.#port().notify(each.call);
      else each.cancel = this.#port().request(each.call, each.taker);
    }
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Answers everything that waits. */
  fail(error: object): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    this.#chars = 0;
    for (const { taker, cancelled } of waiting) if (!cancelled) taker?.({ error });
  }

  notify(call: Call) {
    if (this.#isOpen) return this.#port().notify(call);
    this.#add({ call, taker: undefined, cancelled: false, cancel: undefined });
    return undefined;
  }

  request(call: Call, taker: Taker): () => void {
    if (this.#isOpen) return this.#port().request(call, taker);
    const waiting: Waiting = { call, taker, cancelled: false, cancel: undefined };
    this.#add(waiting);
    return () => {
      if (waiting.cancel !== undefined) return waiting.cancel();
      if (waiting.cancelled) return undefined;
      waiting.cancelled = true;
      return taker({ error: { code: errorCodes.cancelled, message: "cancelled" } });
    };
  }

  unread(text: string) {
    return this.#isOpen ? this.#port().unread(text) : false;
  }

  #add(waiting: Waiting): void {
    this.#chars += waiting.call.size + charsPerCall;
    this.#waiting.push(waiting);
    if (this.#chars > maxChars) this.#overflowed();
    else this.#wanted();
  }
}
