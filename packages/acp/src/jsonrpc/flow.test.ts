import assert from "node:assert/strict";
import { test } from "node:test";
import {
  call,
  connectedPair,
  connectionOver,
  outcomeOf,
  quiet,
  withBarePeer,
} from "../../test/support/connection-probe.ts";
import { type MemoryPairOptions, memoryPair } from "../transport/memory.ts";
import { ConnectionError } from "./errors.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { Transport } from "./transport.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly data?: unknown };
}

const tight: MemoryPairOptions = { limits: { highWaterBytes: 1_000, maxQueuedBytes: 100_000 } };
const block = "x".repeat(600);

/** Counts what a transport is told to do. */
function watched(transport: Transport): { transport: Transport; calls: string[] } {
  const calls: string[] = [];
  return {
    calls,
    transport: {
      start: (sink) => transport.start(sink),
      send: (message, text) => transport.send(message, text),
      pause() {
        calls.push("pause");
        transport.pause();
      },
      resume() {
        calls.push("resume");
        transport.resume();
      },
      close: (reason) => transport.close(reason),
    },
  };
}

test("notify returns a promise only past the high-water mark, and it resolves when there is room again (G8)", async () => {
  const { connection, peer } = withBarePeer({}, tight);
  assert.equal(connection.notify("a", block), undefined);
  const blocked = connection.notify("b", block);
  assert.ok(blocked instanceof Promise);
  assert.equal(connection.notify("c", block), blocked, "everybody waits for the same room");
  await blocked;
  assert.equal(peer.received.length, 3, "what was queued past the mark was sent all the same");
  assert.equal(connection.notify("d", block), undefined);
});

test("a peer that never reads ends the connection with overflow, and what is queued stays within the bound (G8)", async () => {
  const [a] = memoryPair(tight);
  let queued = 0;
  const connection = connectionOver(a, {
    tap: (_direction, text) => {
      queued += text.length;
    },
  });
  const pending = outcomeOf(connection.request("ours"));
  let waiting: Promise<void> | undefined;
  for (let i = 0; i < 1_000 && connection.isOpen; i++) waiting = connection.notify("flood", block) ?? waiting;
  const reason = await connection.closed;
  assert.equal(reason.kind, "overflow");
  assert.match(reason.message, /the peer does not read: \d+ bytes of output are queued/);
  assert.ok(queued < 100_000 + 2 * block.length, `${queued} characters were queued`);
  await waiting;
  const outcome = await pending;
  assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
  assert.equal(outcome.error.kind, "overflow");
});

test("the request that is one too many rejects with overflow instead of waiting for ever (G4, G8)", async () => {
  const [a] = memoryPair({ limits: { highWaterBytes: 10, maxQueuedBytes: 100 } });
  const connection = connectionOver(a);
  await assert.rejects(connection.request("large", block), { kind: "overflow" });
  const [b] = memoryPair({ limits: { highWaterBytes: 10, maxQueuedBytes: 100 } });
  const [answer] = connectionOver(b).batch([{ method: "large", params: block }]);
  await assert.rejects(answer ?? Promise.resolve(), { kind: "overflow" });
});

test("input of a peer that requests faster than it reads is paused until it catches up, and nothing is lost (G8)", async () => {
  const [a, b] = memoryPair(tight);
  const { transport, calls } = watched(a);
  connectionOver(transport, { request: () => block });
  const asked = 50;
  for (let id = 0; id < asked; id++) b.send(call(id));
  await quiet();
  assert.deepEqual(calls, ["pause"], "after two answers nobody reads");
  const answers: unknown[] = [];
  const all = Promise.withResolvers<void>();
  b.start({
    message: (value) => {
      if (answers.push((value as Answer).id) === asked) all.resolve();
    },
    idle: () => undefined,
    reject: () => assert.fail(),
    drain: () => undefined,
    end: () => assert.fail(),
  });
  await all.promise;
  assert.deepEqual(answers, [...Array(asked).keys()]);
  assert.equal(calls.at(-1), "resume");
});

test("while a request of ours is pending the peer is read, however slow it is (G8)", async () => {
  const [a, b] = memoryPair(tight);
  const { transport, calls } = watched(a);
  const connection = connectionOver(transport, { request: () => block });
  const ours = connection.request("ours");
  for (let id = 0; id < 20; id++) b.send(call(id));
  b.send({ jsonrpc: "2.0", id: 1, result: "answer" });
  assert.equal(await ours, "answer");
  assert.deepEqual(calls, []);
});

test("a request of ours resumes input that was paused (G8)", async () => {
  const [a, b] = memoryPair(tight);
  const { transport, calls } = watched(a);
  const connection = connectionOver(transport, { request: () => block });
  for (let id = 0; id < 20; id++) b.send(call(id));
  await quiet();
  assert.deepEqual(calls, ["pause"]);
  const ours = connection.request("ours");
  b.send({ jsonrpc: "2.0", id: 1, result: "answer" });
  assert.equal(await ours, "answer");
  assert.deepEqual(calls, ["pause", "resume"]);
});

test("a paused connection notices that its peer has closed (G4)", async () => {
  const [a, b] = memoryPair(tight);
  const aborted: boolean[] = [];
  const connection = connectionOver(a, {
    request(method, _params, request) {
      if (method === "wait") request.signal.addEventListener("abort", () => aborted.push(true));
      return method === "wait" ? new Promise(() => undefined) : block;
    },
  });
  b.send(call("w", "wait"));
  for (let id = 0; id < 20; id++) b.send(call(id));
  await quiet();
  await b.close();
  assert.equal((await connection.closed).kind, "closed");
  assert.deepEqual(aborted, [true]);
});

test("two peers that flood one another with requests and notifications never wait for one another (G8)", async () => {
  const [left, right] = connectedPair(
    { request: () => block },
    { request: () => block },
    { limits: { highWaterBytes: 1_000, maxQueuedBytes: 10_000_000 } },
  );
  const rounds = Array.from({ length: 100 }, (_, i) => {
    left.notify("n", block)?.catch(assert.fail);
    right.notify("n", block)?.catch(assert.fail);
    return [left.request(`a${i}`), right.request(`b${i}`)];
  });
  const answers = await Promise.all(rounds.flat());
  assert.equal(answers.length, 200);
});

test("two peers that gave up on their requests do not stop reading both at once (G8)", async () => {
  const limits = { limits: { highWaterBytes: 2_000, maxQueuedBytes: 10_000_000 } };
  const [a, b] = memoryPair(limits);
  const left = connectionOver(a, { request: () => block });
  const right = connectionOver(b, { request: () => block });
  // Neither waits for anything, yet both are owed answers that fill the pipes.
  for (const side of [left, right]) {
    for (let i = 0; i < 50; i++) {
      const controller = new AbortController();
      const answer = side.request("work", block, { signal: controller.signal, cancelGraceMs: 0 });
      answer.catch((error: ConnectionError) => assert.equal(error.kind, "aborted"));
      controller.abort();
    }
  }
  await quiet();
  assert.deepEqual([left.counters.strayAnswers, right.counters.strayAnswers], [50, 50]);
});

test("over the limit of the connection a request is answered -32065 at once; answers and cancels are still read (G8)", async () => {
  const { connection, peer } = withBarePeer({
    limits: { maxInFlight: 2 },
    request: (_method, _params, { signal }: IncomingRequest) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const ours = connection.request("ours");
  await peer.until(1);
  for (const id of ["a", "b", "c", "d"]) peer.send(call(id));
  peer.send({ jsonrpc: "2.0", id: 1, result: "read" });
  assert.equal(await ours, "read");
  peer.send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "a" } });
  await peer.until(4);
  peer.send(call("e"));
  await quiet();
  const answers = (peer.received as Answer[]).slice(1);
  assert.deepEqual(
    answers.map(({ id, error }) => [id, error?.code]),
    [
      ["c", -32065],
      ["d", -32065],
      ["a", -32800],
    ],
  );
  assert.deepEqual(answers[0]?.error?.data, { reason: "rate_limited", scope: "connection" });
  assert.equal(connection.inFlight, 2, "the freed place was taken by the next request");
});

test("the limit of a scope counts that scope alone and frees its places (G8)", async () => {
  const finish: (() => void)[] = [];
  const { peer } = withBarePeer({
    limits: { maxInFlightPerScope: 1 },
    scopeOf: (params) => (params as { session?: string } | undefined)?.session,
    request: () => new Promise((resolve) => finish.push(() => resolve("done"))),
  });
  peer.send(call(1, "work", { session: "s" }));
  peer.send(call(2, "work", { session: "s" }));
  peer.send(call(3, "work", { session: "t" }));
  peer.send(call(4, "work"));
  peer.send(call(5, "work"));
  await peer.until(1);
  const [refusal] = peer.received as Answer[];
  assert.deepEqual([refusal?.id, refusal?.error?.code], [2, -32065]);
  assert.deepEqual(refusal?.error?.data, { reason: "rate_limited", scope: "session" });
  finish[0]?.();
  await peer.until(2);
  peer.send(call(6, "work", { session: "s" }));
  await quiet();
  assert.equal(finish.length, 5, "1, 3, 4, 5 and 6 have started");
});
