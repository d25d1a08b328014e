// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Starts a transport and records its events.

import assert from "node:assert/strict";
import type { EndReason, Fault, Transport } from "../../src/jsonrpc/transport.ts";

export interface WatchedTransport {
  readonly values: unknown[];
  readonly faults: Fault[];
  readonly ends: EndReason[];
  readonly drains: () => number;
  /** Resolves when the condition holds; looked at after each event. */
  until(isTrue: () => boolean): Promise<void>;
}

/** Starts a transport and remembers all that it says. */
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
    assert.ok(hasReturned, "the sink was called before start() had returned");
    assert.deepEqual(ends, [], "the sink was called after the end");
  };
  transport.start({
    message(value, text) {
      check();
      assert.deepEqual(JSON.parse(text), value);
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
