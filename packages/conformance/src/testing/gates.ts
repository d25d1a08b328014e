// Named gates that synchronise a test with a script, without sleeping.

import { sleep, withTimeout } from "@parley/acp/jsonrpc";

export class Gates {
  readonly #opened = new Map<string, PromiseWithResolvers<void>>();
  readonly #reached = new Map<string, PromiseWithResolvers<void>>();

  /** Opens the gate for everybody who waits, and for later steps. */
  open(name: string): void {
    gate(this.#opened, name).resolve();
  }

  /** Resolves when a step waits, or has waited, at this gate. */
  reached(name: string): Promise<void> {
    return gate(this.#reached, name).promise;
  }

  pass(name: string): Promise<void> {
    gate(this.#reached, name).resolve();
    return gate(this.#opened, name).promise;
  }
}

function gate(gates: Map<string, PromiseWithResolvers<void>>, name: string): PromiseWithResolvers<void> {
  let found = gates.get(name);
  if (found === undefined) {
    found = Promise.withResolvers<void>();
    gates.set(name, found);
  }
  return found;
}

/** Resolves when the work is done or the signal aborts. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  await withTimeout(Number.POSITIVE_INFINITY, work, signal);
}

/** The time for `delay` steps. */
export interface Clock {
  /** Resolves after the time, or when the signal aborts; never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const realClock: Clock = { sleep };
