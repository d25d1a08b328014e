import assert from "node:assert/strict";
import { test } from "node:test";
import { attachedTransport } from "../../test/support/attached-client.ts";
import { call, connectedPair, outcomeOf, quiet, withBarePeer } from "../../test/support/connection-probe.ts";
import { memoryPair } from "../transport/memory.ts";
import { Connection } from "./connection.ts";
import { ConnectionError, RequestError } from "./errors.ts";
import type { IncomingRequest } from "./incoming-request.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

const cancelOf = (requestId: unknown) => ({
  jsonrpc: "2.0",
  method: "$/cancel_request",
  params: { requestId },
});
const untilAborted = ({ signal }: IncomingRequest) =>
  new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

test("a peer's cancel aborts the handler's signal, and what it throws then is answered -32800, once (G5, X12)", async () => {
  const { peer, log } = withBarePeer({
    request(method, _params, request) {
      if (method === "abort error") {
        return new Promise((_resolve, reject) => {
          request.signal.onabort = () => reject(new DOMException("stopped", "AbortError"));
        });
      }
      return untilAborted(request);
    },
  });
  peer.send(call(1, "reason"));
  peer.send(call("x", "abort error"));
  peer.send(cancelOf(1));
  peer.send(cancelOf("x"));
  peer.send(cancelOf(1));
  await peer.until(2);
  await quiet();
  assert.deepEqual(
    (peer.received as Answer[]).map(({ id, error }) => [id, error?.code]),
    [
      [1, -32800],
      ["x", -32800],
    ],
  );
  assert.deepEqual(log, []);
});

test("a cancelled request whose handler still returns a result gets that result (X12)", async () => {
  const { peer } = withBarePeer({
    request: (_method, _params, request) =>
      new Promise((resolve) => request.signal.addEventListener("abort", () => resolve("partial"))),
  });
  peer.send(call(1));
  peer.send(cancelOf(1));
  await peer.until(1);
  assert.deepEqual(peer.received, [{ jsonrpc: "2.0", id: 1, result: "partial" }]);
});

test("a signal that is first looked at after the cancel is aborted already, and `cancelled` says so (G5)", async () => {
  const gate = Promise.withResolvers<void>();
  const { peer } = withBarePeer({
    async request(_method, _params, request) {
      await gate.promise;
      return [request.isCancelled, request.signal.aborted];
    },
  });
  peer.send(call(1));
  peer.send(cancelOf(1));
  await quiet();
  gate.resolve();
  await peer.until(1);
  assert.deepEqual((peer.received[0] as Answer).result, [true, true]);
});

test("cancels of unknown, finished, malformed and missing ids are ignored without an answer (X13, J8)", async () => {
  const { connection, peer } = withBarePeer({ request: () => "done" });
  peer.send(call(1));
  for (const id of [1, 2, "1", null, {}, [1], true]) peer.send(cancelOf(id));
  peer.send({ jsonrpc: "2.0", method: "$/cancel_request" });
  peer.send({ jsonrpc: "2.0", method: "$/cancel_request", params: null });
  peer.send({ jsonrpc: "2.0", method: "$/nope" });
  peer.send(call(2));
  await peer.until(2);
  await quiet();
  assert.deepEqual(
    (peer.received as Answer[]).map(({ id }) => id),
    [1, 2],
  );
  assert.equal(connection.counters.refused, 0);
});

test("a cancel names an id beyond 2^53 exactly, alone and in a batch (N045, G5)", async () => {
  for (const wrap of [(text: string) => text, (text: string) => `[${text}]`]) {
    const { peer } = withBarePeer({ request: (_method, _params, request) => untilAborted(request) });
    peer.sendText('{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}');
    peer.sendText('{"jsonrpc":"2.0","id":9007199254740992,"method":"b"}');
    peer.sendText(
      wrap('{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":9007199254740993}}'),
    );
    await peer.until(1);
    assert.match(peer.texts.join(), /^\{"jsonrpc":"2.0","id":9007199254740993,"error":\{"code":-32800/);
  }
});

test("$/cancel_request sent as a request is answered -32601 under its own id, in its batch if it came in one (N045)", async () => {
  const { peer } = withBarePeer();
  const text = '{"jsonrpc":"2.0","id":9007199254740993,"method":"$/cancel_request","params":{"requestId":1}}';
  peer.sendText(text);
  peer.sendText(`[${text}]`);
  await peer.until(2);
  const error = '{"code":-32601,"message":"$/cancel_request is a notification"}';
  const answer = `{"jsonrpc":"2.0","id":9007199254740993,"error":${error}}`;
  assert.deepEqual(peer.texts, [answer, `[${answer}]`]);
});

test("aborting the caller's signal cancels at the peer, cascades to nested requests, and comes back as -32800 (G5)", async () => {
  const aborted: string[] = [];
  const innermost = (request: IncomingRequest) => {
    request.signal.addEventListener("abort", () => aborted.push("inner handler"));
    return untilAborted(request);
  };
  const [left] = connectedPair(
    { request: (_method, _params, request) => innermost(request) },
    {
      async request(_method, _params, request) {
        request.signal.addEventListener("abort", () => aborted.push("outer handler"));
        return request.request("inner");
      },
    },
  );
  const controller = new AbortController();
  const answer = outcomeOf(left.request("outer", undefined, { signal: controller.signal }));
  await quiet();
  controller.abort();
  const outcome = await answer;
  assert.ok("error" in outcome && outcome.error instanceof RequestError);
  assert.equal(outcome.error.code, -32800);
  assert.deepEqual(aborted, ["outer handler", "inner handler"]);
});

test("a nested request has two ways to be cancelled: its own signal and the outer request (G5)", async () => {
  const own = new AbortController();
  const { connection, peer } = withBarePeer({
    request: (_method, _params, request) => request.request("inner", undefined, { signal: own.signal }),
  });
  peer.send(call(1));
  await peer.until(1);
  own.abort();
  await peer.until(2);
  assert.deepEqual(peer.received[1], cancelOf(1));
  await connection.close();
});

test("many nested requests of one handler cause no warning about listeners", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on("warning", onWarning);
  const { peer } = withBarePeer({
    request: (_method, _params, request) =>
      Promise.all(Array.from({ length: 50 }, () => request.request("inner"))),
  });
  peer.send(call(1));
  await peer.until(50);
  await quiet();
  process.off("warning", onWarning);
  assert.deepEqual(warnings, []);
});

test("with a signal that is aborted already nothing is sent and the request rejects as aborted (G5)", async () => {
  const { connection, peer } = withBarePeer();
  const outcome = await outcomeOf(
    connection.request("work", undefined, { signal: AbortSignal.abort("why") }),
  );
  assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
  assert.deepEqual([outcome.error.kind, outcome.error.cause], ["aborted", "why"]);
  await quiet();
  assert.deepEqual(peer.received, []);
});

test("an abort after the answer sends nothing (X13)", async () => {
  const controller = new AbortController();
  const { connection, peer } = withBarePeer();
  const answer = connection.request("work", undefined, { signal: controller.signal });
  await peer.until(1);
  peer.send({ jsonrpc: "2.0", id: 1, result: 1 });
  await answer;
  controller.abort();
  await quiet();
  assert.equal(peer.received.length, 1);
});

test("cancelGraceMs 0 rejects at once; the late answer is counted (N059)", async () => {
  const controller = new AbortController();
  const { connection, peer } = withBarePeer();
  const answer = outcomeOf(
    connection.request("work", undefined, { signal: controller.signal, cancelGraceMs: 0 }),
  );
  await peer.until(1);
  controller.abort();
  const outcome = await answer;
  assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
  assert.equal(outcome.error.kind, "aborted");
  await peer.until(2);
  assert.deepEqual(peer.received[1], cancelOf(1));
  peer.send({ jsonrpc: "2.0", id: 1, result: 1 });
  await quiet();
  assert.equal(connection.counters.strayAnswers, 1);
});

test("after a cancel the answer is awaited for cancelGraceMs, 10 s by default, and not longer", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [graceMs, options] of [
    [10_000, {}],
    [50, { cancelGraceMs: 50 }],
  ] as const) {
    const controller = new AbortController();
    const { connection, peer } = withBarePeer();
    let settled = false;
    const answer = outcomeOf(
      connection.request("work", undefined, { ...options, signal: controller.signal }),
    );
    answer
      .finally(() => {
        settled = true;
      })
      .catch(assert.fail);
    await peer.until(1);
    controller.abort();
    t.mock.timers.tick(graceMs - 1);
    await quiet();
    assert.equal(settled, false);
    t.mock.timers.tick(1);
    const outcome = await answer;
    assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
    assert.equal(outcome.error.kind, "aborted");
  }
});

test("a result that arrives within the grace of a cancel is the outcome (X12)", async () => {
  const controller = new AbortController();
  const { connection, peer } = withBarePeer();
  const answer = connection.request("work", undefined, { signal: controller.signal });
  await peer.until(1);
  controller.abort();
  await peer.until(2);
  peer.send({ jsonrpc: "2.0", id: 1, result: "all the same" });
  assert.equal(await answer, "all the same");
});

test("timeoutMs rejects with timeout and cancels at the peer; the late answer is counted (N059)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { connection, peer } = withBarePeer();
  const answer = outcomeOf(connection.request("work", undefined, { timeoutMs: 100 }));
  await peer.until(1);
  t.mock.timers.tick(100);
  const outcome = await answer;
  assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
  assert.equal(outcome.error.kind, "timeout");
  await peer.until(2);
  assert.deepEqual(peer.received[1], cancelOf(1));
  peer.send({ jsonrpc: "2.0", id: 1, result: "late" });
  await quiet();
  assert.equal(connection.counters.strayAnswers, 1);
});

test("the deadline of a request stays in force after it was cancelled", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const controller = new AbortController();
  const { connection, peer } = withBarePeer();
  const answer = outcomeOf(
    connection.request("work", undefined, { timeoutMs: 100, signal: controller.signal }),
  );
  await peer.until(1);
  controller.abort();
  t.mock.timers.tick(100);
  const outcome = await answer;
  assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
  assert.equal(outcome.error.kind, "timeout");
});

test("deadlines of Infinity and of more than 24 days do not fire at once", async (t) => {
  // setTimeout makes 1 ms of whatever is over 2^31 - 1
  const delays: unknown[] = [];
  t.mock.method(globalThis, "setTimeout", (_callback: () => void, ms: number) => delays.push(ms));
  const { connection, peer } = withBarePeer();
  const controller = new AbortController();
  const forever = Number.POSITIVE_INFINITY;
  const slow = [
    connection.request("a", undefined, { timeoutMs: forever }),
    connection.request("b", undefined, { timeoutMs: 2 ** 40 }),
    connection.request("c", undefined, { signal: controller.signal, cancelGraceMs: forever }),
  ];
  await peer.until(3);
  controller.abort();
  for (const id of [1, 2, 3]) peer.send({ jsonrpc: "2.0", id, result: id });
  assert.deepEqual(await Promise.all(slow), [1, 2, 3]);
  assert.deepEqual(delays, [2 ** 31 - 1]);
});

test("the time limit of a request stands still while the peer is away, and begins anew when it is back", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const [near, far] = memoryPair();
  const { transport, detach, attach } = attachedTransport(near);
  const handlers = { request: () => new Promise(() => undefined), notification: () => undefined };
  const ours = new Connection(transport, { handlers });
  const theirs = new Connection(far, { handlers });
  const settled: string[] = [];
  const ask = (method: string) => {
    const note = (error: ConnectionError) => settled.push(`${method} ${error.kind}`);
    void ours.request(method, {}, { timeoutMs: 100 }).catch(note);
  };
  ask("before");
  t.mock.timers.tick(99);
  detach();
  ask("meanwhile");
  t.mock.timers.tick(100_000);
  attach();
  t.mock.timers.tick(99);
  await quiet();
  assert.deepEqual(settled, []);
  t.mock.timers.tick(1);
  await quiet();
  assert.deepEqual(settled, ["before timeout", "meanwhile timeout"]);
  await Promise.all([ours.close(), theirs.close()]);
});
