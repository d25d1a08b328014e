// The contract suite of transports says what is missing, instead of waiting for its time limit.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { quiet } from "../../test/support/peer-probe.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import { transportContract } from "../testing.ts";
import { memoryPair, textTransport } from "../transport.ts";
import type { ContractOptions, TransportPair } from "./contracts/transport-pair.ts";

/** Runs the case whose name has these words, with time that passes at once. */
async function run(t: TestContext, words: string, pair: TransportPair, options: ContractOptions = {}) {
  const bodies: (() => Promise<void>)[] = [];
  const collect = (name: string, { skip }: { skip: string | false }, body: () => Promise<void>) => {
    if (name.includes(words) && skip === false) bodies.push(body);
  };
  transportContract({ test: collect, assert }, "mine", () => pair, options);
  assert.equal(bodies.length, 1, `one case has "${words}" in its name`);
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let isOver = false;
  const running = bodies[0]?.().finally(() => {
    isOver = true;
  });
  running?.catch(() => undefined);
  while (!isOver) {
    await quiet();
    t.mock.timers.tick(30_000);
  }
  return running;
}

/** Two ends of a medium that forgets what is sent before the other end is open. */
function forgetful(): TransportPair {
  const receivers: ((text: string) => void)[] = [];
  const end = (own: number): Transport =>
    textTransport({
      open(receiver) {
        receivers[own] = (text) => receiver.message(text);
      },
      write(text) {
        const deliver = receivers[1 - own];
        queueMicrotask(() => deliver?.(text));
      },
      close: () => undefined,
    });
  return { near: end(0), far: end(1) };
}

test("a pair without bytesToNear is told so, with the exception to write", async (t) => {
  const [near, far] = memoryPair();
  await assert.rejects(run(t, "split at every byte", { near, far }), {
    name: "TypeError",
    message: /needs `bytesToNear` in the pair of transports, got none.*exceptions: \{ "bytes": "why/,
  });
});

test("a medium that loses early messages is told to queue them, and what was awaited", async (t) => {
  await assert.rejects(run(t, "sent before the other side started", forgetful()), {
    message: /^near: waited 30 s for 3 messages; its sink got 0 messages.*queue it until start\(\) opens/,
  });
});

test("a transport that never ends is told when to call sink.end", async (t) => {
  await assert.rejects(run(t, "closed before it was started", forgetful()), {
    message: /^far: waited 30 s for an end; .*call sink\.end once/,
  });
});
