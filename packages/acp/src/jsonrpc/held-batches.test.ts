import assert from "node:assert/strict";
import { test } from "node:test";
import { barePeer, call, connectionOver, quiet, withBarePeer } from "../../test/support/connection-probe.ts";
import { memoryPair } from "../transport/memory.ts";
import type { Transport } from "./transport.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

const codes = (answers: unknown) => (answers as Answer[]).map(({ id, error }) => [id, error?.code ?? "ok"]);
const calls = (count: number) => Array.from({ length: count }, (_, id) => call(id));

test("results beyond maxBatchAnswerBytes become -32063, sync or async, and every request is answered (G4, G8)", async () => {
  const result = "x".repeat(400);
  for (const request of [() => result, async () => result]) {
    const { peer } = withBarePeer({ limits: { maxBatchAnswerBytes: 1_000 }, request });
    peer.send(calls(4));
    await peer.until(1);
    assert.deepEqual(codes(peer.received[0]), [
      [0, "ok"],
      [1, "ok"],
      [2, -32063],
      [3, -32063],
    ]);
  }
});

test("answers that wait for the rest of their batches share one budget; then new batches are refused and leave at once (G8)", async () => {
  const parked = Promise.withResolvers<null>();
  let ran = 0;
  const { peer } = withBarePeer({
    limits: { maxHeldBatchBytes: 5_000 },
    request(method) {
      ran++;
      return method === "park" ? parked.promise : null;
    },
  });
  const junk = Array(100).fill(1);
  peer.send([call(0, "park"), ...junk]);
  await quiet();
  assert.deepEqual(peer.received, [], "held");
  peer.send([call(1, "park"), ...junk, call(2)]);
  await peer.until(1);
  const refused = codes(peer.received[0]);
  assert.equal(refused.length, 102, "each invalid entry still has its own error (B7)");
  assert.deepEqual([refused[0], refused.at(-1), ran], [[1, -32065], [2, -32065], 1]);
  parked.resolve(null);
  await peer.until(2);
  assert.equal(codes(peer.received[1]).length, 101);
  peer.send([call(3)]);
  await peer.until(3);
  assert.deepEqual(codes(peer.received[2]), [[3, "ok"]], "there is room again");
});

test("a large result that must be held is refused once the budget is spent, the last of its batch is not (G8)", async () => {
  const slow = Promise.withResolvers<string>();
  const { peer } = withBarePeer({
    limits: { maxHeldBatchBytes: 500 },
    request: (method) => (method === "slow" ? slow.promise : "x".repeat(600)),
  });
  peer.send([call(1, "slow"), call(2)]);
  await quiet();
  slow.resolve("y".repeat(600));
  await peer.until(1);
  assert.deepEqual(codes(peer.received[0]), [
    [2, -32063],
    [1, "ok"],
  ]);
});

test("an array that the transport cannot send is answered with a bare error for each id (G4)", async () => {
  const [near, far] = memoryPair();
  let failures = 0;
  const failing: Transport = {
    start: (sink) => near.start(sink),
    send(message, text) {
      if (Array.isArray(message) && failures++ === 0) throw new RangeError("Invalid string length");
      return near.send(message, text);
    },
    pause: () => near.pause(),
    resume: () => near.resume(),
    close: (reason) => near.close(reason),
  };
  const after: unknown[] = [];
  connectionOver(failing, {
    request(_method, _params, request) {
      request.afterReply(() => after.push(request.id));
      return "result";
    },
  });
  const peer = barePeer(far);
  peer.send([...calls(2), 5]);
  await peer.until(1);
  assert.deepEqual(codes(peer.received[0]), [
    [0, -32603],
    [1, -32603],
  ]);
  assert.deepEqual([after, failures], [[0, 1], 2]);
});

test("running requests are bounded by their characters too; beyond them -32065 until one is answered (G8)", async () => {
  const parked = Promise.withResolvers<null>();
  const { peer } = withBarePeer({ limits: { maxInFlightBytes: 1_000 }, request: () => parked.promise });
  const large = { text: "x".repeat(400) };
  for (const id of [1, 2, 3]) peer.send(call(id, "work", large));
  await peer.until(1);
  assert.deepEqual(codes(peer.received), [[3, -32065]]);
  parked.resolve(null);
  await peer.until(3);
  peer.send(call(4, "work", large));
  await peer.until(4);
  assert.deepEqual(codes(peer.received.slice(1)), [
    [1, "ok"],
    [2, "ok"],
    [4, "ok"],
  ]);
});

test("a request that is larger than what may run at once runs when it comes alone", async () => {
  const { peer } = withBarePeer({ limits: { maxInFlightBytes: 1_000 }, request: () => "done" });
  peer.send(call(1, "work", { text: "x".repeat(5_000) }));
  await peer.until(1);
  assert.deepEqual(codes(peer.received), [[1, "ok"]]);
});
