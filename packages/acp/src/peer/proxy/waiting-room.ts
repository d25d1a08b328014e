// Keeps calls for a component that is not ready yet.

import type { Call } from "../../forward/call.ts";
import type { Port, Taker, WireError } from "../../forward/port.ts";
import { errorCodes } from "../../jsonrpc/error-kinds.ts";
import type { PassedAnswer } from "../../jsonrpc/passed-call.ts";

interface Waiting {
  readonly call: Call;
  readonly taker: Taker | undefined;
  /** Cancels it once it has been sent. */
  cancel: (() => void) | undefined;
}

const maxChars = 32 * 1024 * 1024;
const charsPerCall = 256;

export interface WaitingRoomHost {
  /** Where calls go; undefined while nobody takes them. */
  port(): Port | undefined;
  /** Something waits. */
  wanted(): void;
  /** Too much waits. */
  overflowed(): void;
}

/** One direction. Calls pass to the port at once, or when it is opened. */
export class WaitingRoom implements Port {
  readonly #host: WaitingRoomHost;
  #isOpen = false;
  #refusal: WireError | undefined;
  #chars = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(host: WaitingRoomHost) {
    this.#host = host;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** What comes meanwhile goes last. */
  open(): void {
    this.#refusal = undefined;
    for (const next of this.#waiting) {
      const port = this.#host.port();
      if (port === undefined) return;
      this.#remove(next);
      if (next.taker === undefined) void port.notify(next.call);
      else next.cancel = port.request(next.call, next.taker);
    }
    this.#isOpen = true;
  }

  /** What comes from now on waits. */
  close(): void {
    this.#isOpen = false;
    this.#refusal = undefined;
  }

  /** Answers everything that waits. */
  fail(error: WireError): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#chars = 0;
    for (const { taker } of waiting) taker?.({ error });
  }

  /** Answers everything that waits, and that comes, with this error. */
  refuse(error: WireError): void {
    this.#isOpen = false;
    this.#refusal = error;
    this.fail(error);
  }

  /** Answers the waiting requests that a cancel ends, the last one first. `answerTo` returns the answer, or undefined to let one wait. */
  withdraw(answerTo: (method: string) => PassedAnswer | undefined): void {
    for (const waiting of [...this.#waiting].reverse()) {
      const answer = waiting.taker && answerTo(waiting.call.method);
      if (answer !== undefined && this.#remove(waiting)) waiting.taker?.(answer);
    }
  }

  notify(call: Call) {
    const port = this.#port;
    if (port !== undefined) return port.notify(call);
    if (this.#refusal === undefined) this.#add({ call, taker: undefined, cancel: undefined });
    return undefined;
  }

  request(call: Call, taker: Taker): () => void {
    const port = this.#port;
    if (port !== undefined) return port.request(call, taker);
    if (this.#refusal !== undefined) {
      taker({ error: this.#refusal });
      return () => undefined;
    }
    const waiting: Waiting = { call, taker, cancel: undefined };
    this.#add(waiting);
    return () => {
      if (!this.#remove(waiting)) return waiting.cancel?.();
      return taker({ error: { code: errorCodes.cancelled, message: "cancelled" } });
    };
  }

  unread() {
    return this.#port?.unread();
  }

  get #port(): Port | undefined {
    return this.#isOpen ? this.#host.port() : undefined;
  }

  #add(waiting: Waiting): void {
    this.#chars += sizeOf(waiting);
    this.#waiting.add(waiting);
    if (this.#chars > maxChars) this.#host.overflowed();
    else this.#host.wanted();
  }

  /** Returns false if it does not wait any more. */
  #remove(waiting: Waiting): boolean {
    if (!this.#waiting.delete(waiting)) return false;
    this.#chars -= sizeOf(waiting);
    return true;
  }
}

function sizeOf({ call }: Waiting): number {
  return call.size + charsPerCall;
}
