import assert from "node:assert/strict";
import { test } from "node:test";
import { PromptQueue } from "./prompt-queue.ts";

/** A queue whose items end when the test says so. */
function manualQueue() {
  const started: string[] = [];
  const ends = new Map<string, (before?: readonly string[]) => void>();
  const fails = new Map<string, (error: Error) => void>();
  const queue = new PromptQueue<string>((item) => {
    started.push(item);
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[] | undefined>();
    ends.set(item, (before) => resolve(before));
    fails.set(item, reject);
    return promise;
  });
  return {
    queue,
    started,
    end: (item: string, before?: readonly string[]) => ends.get(item)?.(before),
    fails,
  };
}

test("the first item starts at once, the next when it has ended", async () => {
  const { queue, started, end } = manualQueue();
  queue.add("a");
  queue.add("b");
  assert.deepEqual(started, ["a"]);
  assert.equal(queue.current, "a");
  end("a");
  await Promise.resolve(); // the queue goes on in microtasks
  await Promise.resolve();
  await Promise.resolve();
  assert.deepEqual(started, ["a", "b"]);
  end("b");
  await queue.running;
  assert.equal(queue.running, undefined);
  assert.equal(queue.current, undefined);
});

test("an item that fails does not stop those behind it", async () => {
  const { queue, started, end, fails } = manualQueue();
  queue.add("a");
  queue.add("b");
  fails.get("a")?.(new Error("no"));
  end("b");
  const idle = queue.running;
  // "b" starts after "a" has failed, and is ended then
  while (started.length < 2) await Promise.resolve();
  end("b");
  await idle;
  assert.deepEqual(started, ["a", "b"]);
});

test("what an item leaves behind comes before what waits", async () => {
  const { queue, started, end } = manualQueue();
  queue.add("a");
  queue.add("c");
  end("a", ["b"]);
  while (started.length < 2) await Promise.resolve();
  assert.deepEqual(started, ["a", "b"]);
});

test("an item that waits can be withdrawn, one that runs cannot", () => {
  const { queue } = manualQueue();
  for (const item of ["a", "b", "c", "d"]) queue.add(item);
  assert.equal(queue.withdraw("a"), false);
  assert.equal(queue.withdraw("b"), true);
  assert.equal(queue.withdraw("b"), false);
  assert.deepEqual(
    queue.withdrawAll((item) => item === "d"),
    ["d"],
  );
  assert.deepEqual(queue.withdrawAll(), ["c"]);
  assert.deepEqual(queue.waiting, []);
});

test("items without a promise start in the order in which they are added, at once", () => {
  const started: string[] = [];
  const queue = new PromptQueue<string>((item) => void started.push(item));
  queue.add("a");
  queue.add("b");
  assert.deepEqual(started, ["a", "b"]);
  assert.equal(queue.running, undefined);
});

test("an item that is added while the first one starts waits for it", () => {
  const started: string[] = [];
  const queue = new PromptQueue<string>((item) => {
    started.push(item);
    if (item === "a") queue.add("b");
    return new Promise(() => undefined);
  });
  queue.add("a");
  assert.deepEqual([started, queue.waiting], [["a"], ["b"]]);
});

test("an item that throws when it starts does not stop those behind it", async () => {
  const started: string[] = [];
  const queue = new PromptQueue<string>((item) => {
    started.push(item);
    if (item === "a") throw new Error("no");
    return undefined;
  });
  queue.add("a");
  queue.add("b");
  assert.deepEqual(started, ["a", "b"]);
  assert.equal(queue.current, undefined);
});
