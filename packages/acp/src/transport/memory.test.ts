import assert from "node:assert/strict";
import { test } from "node:test";
import { Connection } from "../jsonrpc/connection.ts";
import { transportContract } from "../testing/contracts/transport-contract.ts";
import { watch } from "../testing/contracts/watched-transport.ts";
import { memoryPair } from "./memory.ts";

transportContract(
  { test, assert },
  "memory",
  (limits) => {
    const [near, far] = memoryPair({ limits });
    return { near, far, frameToNear: (text) => far.send({}, text) };
  },
  {
    exceptions: {
      bytes: "memory carries text, there are no bytes to split",
      "half-close": "memory has no half-close; what was sent before a close arrives before the end",
      cut: "memory cannot break; its only end is a close",
    },
  },
);

test("memory passes text, never references", async () => {
  const [near, far] = memoryPair();
  const watched = watch(near);
  watch(far);
  const message = { nested: { list: [1] } };
  far.send(message);
  message.nested.list.push(2);
  await watched.until(() => watched.values.length === 1);
  assert.deepEqual(watched.values, [{ nested: { list: [1] } }]);
});

test("pausing after each of 20,000 queued messages costs the same per message", async (t) => {
  // what the queue moves when it removes what was read
  let moved = 0;
  for (const name of ["splice", "shift", "slice"] as const) {
    const original = Array.prototype[name] as (...args: unknown[]) => unknown; // whatever it takes
    Object.defineProperty(Array.prototype, name, {
      configurable: true,
      writable: true,
      value(this: unknown[], ...args: unknown[]) {
        moved += this.length;
        return original.apply(this, args);
      },
    });
    t.after(() => Object.defineProperty(Array.prototype, name, { value: original }));
  }
  const [near, far] = memoryPair();
  const count = 20_000;
  for (let n = 0; n < count; n++) far.send({ n });
  const seen: number[] = [];
  const all = Promise.withResolvers<void>();
  near.start({
    message(value) {
      if (seen.push((value as { n: number }).n) === count) all.resolve();
      near.pause();
      queueMicrotask(() => near.resume());
    },
    idle: () => undefined,
    reject: () => assert.fail(),
    drain: () => undefined,
    end: () => assert.fail(),
  });
  await all.promise;
  const movedByQueue = moved;
  assert.deepEqual(seen, [...Array(count).keys()]);
  assert.ok(movedByQueue < 10 * count, `${movedByQueue} elements were moved for ${count} messages`);
});

test("two peers that answer one another for ever let timers run", async () => {
  const [near, far] = memoryPair();
  let rounds = 0;
  let stopped = false;
  const sinkOf = (transport: typeof near) => ({
    message() {
      // without the turns this would go on until the bound, and the timer would come after it
      if (!stopped && ++rounds < 1_000_000) transport.send({});
    },
    idle: () => undefined,
    reject: () => assert.fail(),
    drain: () => undefined,
    end: () => undefined,
  });
  near.start(sinkOf(near));
  far.start(sinkOf(far));
  const timer = new Promise((resolve) => setTimeout(resolve, 0));
  near.send({});
  await timer;
  stopped = true;
  assert.ok(rounds < 1_000_000, `${rounds} rounds before the timer`);
  await near.close();
});

test("closing a transport ends the connection that uses it, and not only the one of its peer (G4)", async () => {
  const [near, far] = memoryPair();
  const handlers = { request: () => new Promise(() => undefined), notification: () => undefined };
  const [ours, theirs] = [new Connection(near, { handlers }), new Connection(far, { handlers })];
  const asked = ours.request("never");
  await near.close();
  await assert.rejects(asked, { name: "ConnectionError", kind: "closed" });
  assert.equal((await ours.closed).message, "the transport was closed");
  assert.equal((await theirs.closed).kind, "closed");
});
