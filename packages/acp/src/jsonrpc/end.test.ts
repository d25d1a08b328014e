import assert from "node:assert/strict";
import { mock, test } from "node:test";
import {
  call,
  connectedPair,
  connectionOver,
  outcomeOf,
  quiet,
  withBarePeer,
} from "../../test/support/connection-probe.ts";
import { ConnectionError } from "./errors.ts";
import type { EndReason, Sink, Transport } from "./transport.ts";

interface Answer {
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number };
}

/** A transport that does nothing by itself: the test is the wire. */
function scriptedTransport(): {
  transport: Transport;
  sink: () => Sink;
  sent: Answer[];
  closes: (Error | undefined)[];
} {
  let sink: Sink | undefined;
  const sent: Answer[] = [];
  const closes: (Error | undefined)[] = [];
  const transport: Transport = {
    start(given) {
      sink = given;
    },
    send(message) {
      sent.push(JSON.parse(JSON.stringify(message)));
      return true;
    },
    pause: () => undefined,
    resume: () => undefined,
    async close(reason) {
      closes.push(reason);
    },
  };
  return {
    transport,
    sink: () => {
      assert.ok(sink);
      return sink;
    },
    sent,
    closes,
  };
}

const exited: EndReason = {
  kind: "exited",
  message: "agent exited with code 3",
  exitCode: 3,
  stderr: "boom\n",
};

test("the death of the peer rejects every pending request with its reason, exit code and stderr (G4, T7)", async () => {
  const { transport, sink, closes } = scriptedTransport();
  const connection = connectionOver(transport);
  const outcomes = Promise.all([outcomeOf(connection.request("a")), outcomeOf(connection.request("b"))]);
  sink().end(exited);
  for (const outcome of await outcomes) {
    assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
    const { kind, exitCode, stderr, message } = outcome.error;
    assert.deepEqual([kind, exitCode, stderr], ["exited", 3, "boom\n"]);
    assert.match(message, /^[ab]: no answer, agent exited with code 3$/);
  }
  const reason = await connection.closed;
  assert.equal(reason.kind, "exited");
  assert.equal(closes.length, 1);
  await assert.rejects(connection.request("late"), { kind: "exited", exitCode: 3 });
  assert.equal(await connection.notify("late"), undefined);
  assert.equal(connection.counters.dropped, 1);
});

test("closing rejects what is pending and aborts each running handler's signal exactly once (G4)", async () => {
  const onAbort = mock.fn();
  const { connection, peer } = withBarePeer({
    request: (_method, _params, request) =>
      new Promise((resolve) =>
        request.signal.addEventListener("abort", () => {
          onAbort();
          resolve("stopped");
        }),
      ),
  });
  const pending = outcomeOf(connection.request("ours"));
  peer.send(call(1));
  peer.send(call(2));
  await quiet();
  const closings = [connection.close("enough"), connection.close("again")];
  const outcome = await pending;
  assert.ok("error" in outcome && outcome.error instanceof ConnectionError);
  assert.deepEqual([outcome.error.kind, outcome.error.message], ["closed", "ours: no answer, enough"]);
  await Promise.all(closings);
  assert.equal(onAbort.mock.callCount(), 2);
  assert.equal((await connection.closed).message, "enough");
});

test("running handlers may answer while the connection closes, and their answers are flushed before the end (G4)", async () => {
  const { connection, peer } = withBarePeer({
    request: (_method, _params, request) =>
      new Promise((resolve) => request.signal.addEventListener("abort", () => resolve("last words"))),
  });
  peer.send(call(1));
  await quiet();
  await connection.close();
  await peer.ended;
  assert.deepEqual(peer.received, [{ jsonrpc: "2.0", id: 1, result: "last words" }]);
});

test("a handler that ignores its signal is given up after drainMs, answered -32800 once, and closing completes (G4)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  for (const [drainMs, options] of [
    [1_500, {}],
    [20, { drainMs: 20 }],
  ] as const) {
    const late = Promise.withResolvers<string>();
    const { connection, peer } = withBarePeer({ ...options, request: () => late.promise });
    peer.send(call(1));
    await quiet();
    let closed = false;
    const closing = connection.close().then(() => {
      closed = true;
    });
    t.mock.timers.tick(drainMs - 1);
    await quiet();
    assert.equal(closed, false);
    t.mock.timers.tick(1);
    await closing;
    late.resolve("too late");
    await quiet();
    assert.deepEqual(
      (peer.received as Answer[]).map(({ id, error }) => [id, error?.code]),
      [[1, -32800]],
    );
  }
});

test("a request that comes while the last answers are written is answered -32800, not left without (G4)", async () => {
  const work = Promise.withResolvers<string>();
  const { connection, peer } = withBarePeer({ request: () => work.promise });
  peer.send(call(1));
  await quiet();
  const closing = connection.close();
  peer.send(call(2));
  peer.send({ jsonrpc: "2.0", method: "note" });
  await quiet();
  work.resolve("done");
  await closing;
  assert.deepEqual(
    (peer.received as Answer[]).map(({ id, result, error }) => [id, result ?? error?.code]),
    [
      [2, -32800],
      [1, "done"],
    ],
  );
});

test("a handler that itself awaits close() does not block it for ever (G2)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { connection, peer } = withBarePeer({ request: () => connection.close() });
  peer.send(call(1));
  await quiet();
  t.mock.timers.tick(1_500);
  assert.equal((await connection.closed).kind, "closed");
});

test("after an end of input running handlers answer before the transport is closed (N029, T7)", async () => {
  const { transport, sink, sent, closes } = scriptedTransport();
  const gate = Promise.withResolvers<string>();
  const connection = connectionOver(transport, { request: () => gate.promise });
  sink().message(call(1), JSON.stringify(call(1)));
  sink().end({ kind: "eof" });
  assert.equal(closes.length, 0);
  await connection.notify("still heard");
  gate.resolve("flushed");
  const reason = await connection.closed;
  assert.deepEqual(sent, [
    { jsonrpc: "2.0", method: "still heard" },
    { jsonrpc: "2.0", id: 1, result: "flushed" },
  ]);
  assert.deepEqual([reason.kind, closes], ["closed", [undefined]]);
});

test("when the peer dies nothing more is written, and stuck handlers do not hold up the end (G4)", async (t) => {
  // the clock stands still: an end that waits for the drain to pass does not come
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { transport, sink, sent, closes } = scriptedTransport();
  const late = Promise.withResolvers<string>();
  const connection = connectionOver(transport, { request: () => late.promise });
  sink().message(call(1), JSON.stringify(call(1)));
  sink().end(exited);
  await quiet();
  assert.equal(closes.length, 1, "the end waits for the handler");
  late.resolve("nobody");
  await quiet();
  assert.deepEqual(sent, []);
  assert.equal(closes[0], await connection.closed);
  assert.equal(connection.inFlight, 0);
});

test("a peer that dies while we drain ends the waiting at once (G4)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { transport, sink, closes } = scriptedTransport();
  const connection = connectionOver(transport, { request: () => new Promise(() => undefined) });
  sink().message(call(1), JSON.stringify(call(1)));
  const closing = connection.close("ours first");
  await quiet();
  assert.equal(closes.length, 0, "a running handler may still answer");
  sink().end(exited);
  await quiet();
  assert.equal(closes.length, 1, "the end waits for the handler");
  await closing;
  assert.equal((await connection.closed).message, "ours first");
});

test("a handler that settles in the very moment of the close answers exactly once (G4)", async () => {
  for (const order of ["settle first", "close first"]) {
    for (const fate of ["resolve", "reject"] as const) {
      const work = Promise.withResolvers<string>();
      const { connection, peer } = withBarePeer({ request: () => work.promise });
      peer.send(call(1));
      await quiet();
      const settle = () => work[fate](fate === "resolve" ? "ok" : (new Error("x") as never));
      if (order === "settle first") settle();
      const closing = connection.close();
      if (order === "close first") settle();
      await closing;
      await peer.ended;
      assert.equal(peer.received.length, 1, `${order}, ${fate}`);
    }
  }
});

test("both sides closing at once both finish, and requests in flight reject once on each side (G4)", async () => {
  const [left, right] = connectedPair(
    { drainMs: 0, request: () => new Promise(() => undefined) },
    { drainMs: 0, request: () => new Promise(() => undefined) },
  );
  const outcomes = [outcomeOf(left.request("a")), outcomeOf(right.request("b"))];
  await quiet();
  await Promise.all([left.close(), right.close()]);
  for (const outcome of await Promise.all(outcomes)) {
    // its own close rejects it, or the -32800 of the other side's
    assert.ok("error" in outcome);
  }
});

test("a close inside a handler stops the messages of the same chunk from being handled", async () => {
  const seen: string[] = [];
  const { connection, peer } = withBarePeer({
    notification(method) {
      seen.push(method);
      if (method === "b") connection.close().catch(assert.fail);
    },
  });
  for (const method of ["a", "b", "c"]) peer.send({ jsonrpc: "2.0", method });
  await connection.closed;
  assert.deepEqual(seen, ["a", "b"]);
});

test("a transport whose close fails still lets the connection end", async () => {
  const { transport, sink } = scriptedTransport();
  const connection = connectionOver({ ...transport, close: () => Promise.reject(new Error("EIO")) });
  sink().end({ kind: "closed" });
  assert.equal((await connection.closed).kind, "closed");
});

test("a nested request that rejects because the connection ends is a cancellation, not a failure in the log (G5)", async () => {
  const { connection, peer, log } = withBarePeer({
    noise: "skip",
    limits: { maxNoiseLines: 1 },
    request: (_method, _params, request) => request.request("nested"),
  });
  peer.send(call(1));
  await peer.until(1);
  await connection.close();
  await peer.ended;
  assert.equal((peer.received[1] as Answer).error?.code, -32800);
  assert.deepEqual(
    log.filter(({ level }) => level === "error"),
    [],
  );
});

test("await using closes a connection at the end of its block", async () => {
  const { transport, closes } = scriptedTransport();
  const connection = connectionOver(transport);
  {
    await using used = connection;
    assert.ok(used.isOpen);
  }
  assert.equal((await connection.closed).kind, "closed");
  assert.equal(closes.length, 1);
});
