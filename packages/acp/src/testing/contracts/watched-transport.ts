// Starts a transport and records everything that it delivers.

import type { EndReason, Fault, Transport } from "../../jsonrpc/transport.ts";

export interface WatchedTransport {
  readonly values: unknown[];
  readonly faults: Fault[];
  readonly ends: EndReason[];
  readonly drains: () => number;
  /** Resolves when the condition holds; looked at after each event. */
  until(isTrue: () => boolean): Promise<void>;
}

export function watch(transport: Transport): WatchedTransport {
  const values: unknown[] = [];
  const faults: Fault[] = [];
  const ends: EndReason[] = [];
  let drains = 0;
  let step = Promise.withResolvers<void>();
  const moved = () => {
    step.resolve();
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
    async until(isTrue) {
      while (!isTrue()) await step.promise;
    },
  };
}
