// Starts a transport and records everything that it delivers.

import { withTimeout } from "../../base/abortable.ts";
import type { EndReason, Fault, Transport } from "../../jsonrpc/transport.ts";

/** How long nothing may happen. Less than the time limit of a test, so that the error is seen. */
const patienceMs = 30_000;

export interface WatchedTransport {
  readonly values: unknown[];
  readonly faults: Fault[];
  readonly ends: EndReason[];
  readonly drains: () => number;
  /**
   * Resolves when the condition holds; looked at after each event. Rejects when nothing happens for 30 seconds, and says
   * what was awaited (`wanted`) and what the medium must do (`advice`).
   */
  until(isTrue: () => boolean, wanted?: string, advice?: string): Promise<void>;
}

/** `side` is the name of the transport in errors. */
export function watch(transport: Transport, side = "the transport"): WatchedTransport {
  const values: unknown[] = [];
  const faults: Fault[] = [];
  const ends: EndReason[] = [];
  let drains = 0;
  let step = Promise.withResolvers<true>();
  const moved = () => {
    step.resolve(true);
    step = Promise.withResolvers();
  };
  let hasReturned = false;
  const check = () => {
    if (!hasReturned) throw new Error("the sink was called before start() had returned");
    if (ends.length > 0) throw new Error("the sink was called after the end");
  };
  transport.start({
    message(value, text) {
      check();
      if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(value))
        throw new Error(`the text of a message is not its value: ${text.slice(0, 200)}`);
      values.push(value);
      moved();
    },
    idle: () => undefined,
    reject(fault) {
      check();
      faults.push(fault);
      moved();
    },
    drain() {
      drains++;
      moved();
    },
    end(reason) {
      check();
      ends.push(reason);
      moved();
    },
  });
  hasReturned = true;
  return {
    values,
    faults,
    ends,
    drains: () => drains,
    async until(isTrue, wanted = "an event", advice = "") {
      while (!isTrue()) {
        if ((await withTimeout(patienceMs, step.promise)) !== undefined) continue;
        const got = `${values.length} messages, ${faults.length} faults, ${drains} drains and ${ends.length} ends`;
        throw new Error(
          `${side}: waited ${patienceMs / 1000} s for ${wanted}; its sink got ${got} so far. ${advice}`.trim(),
        );
      }
    },
  };
}
