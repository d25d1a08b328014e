import assert from "node:assert/strict";
import { test } from "node:test";
import { bytePipe } from "../../test/support/byte-pipe.ts";
import { call, connectionOver, withBarePeer } from "../../test/support/connection-probe.ts";
import type { FrameLimits } from "../transport/byte-channel.ts";
import { byteTransport } from "../transport/byte-transport.ts";
import { memoryPair } from "../transport/memory.ts";
import { fromWebStreams } from "../transport/web-streams.ts";
import { Connection } from "./connection.ts";
import type { ConnectionLimits } from "./connection-options.ts";

/** As callers without types write it. */
const connectionLimits = (limits: Record<string, unknown>) => limits as Partial<ConnectionLimits>;
const frameLimits = (limits: Record<string, unknown>) => limits as Partial<FrameLimits>;

test("a limit that is undefined is the default, not none (G8)", async () => {
  const { peer } = withBarePeer(
    { limits: connectionLimits({ maxIdLength: undefined }) },
    { limits: frameLimits({ maxDepth: undefined }) },
  );
  peer.send(call("x".repeat(1_025)));
  peer.sendText(`{"jsonrpc":"2.0","id":1,"method":"a","params":${"[".repeat(600)}${"]".repeat(600)}}`);
  await peer.until(2);
  const codes = peer.received.map((answer) => (answer as { error: { code: number } }).error.code);
  assert.deepEqual(codes, [-32600, -32602]);
});

test("a limit that is not a number above 0 is refused at once, Infinity is allowed (G8)", () => {
  for (const value of [0, -1, Number.NaN, null, "10", {}]) {
    const wanted = {
      name: "TypeError",
      message: /^limits\.max\w+: expected a number above 0 or Infinity, got /,
    };
    assert.throws(() => withBarePeer({ limits: connectionLimits({ maxInFlight: value }) }), wanted);
    assert.throws(() => memoryPair({ limits: frameLimits({ maxDepth: value }) }), wanted);
    const [channel] = bytePipe();
    assert.throws(() => byteTransport(channel, { limits: frameLimits({ maxMessageBytes: value }) }), wanted);
  }
  withBarePeer({ limits: { maxInFlight: Number.POSITIVE_INFINITY } });
});

test("a transport serves one connection: a second one is refused, and the first works on", async () => {
  const [near, far] = memoryPair();
  const options = {
    handlers: { request: (method: string) => method, notification: () => undefined },
  } as const;
  const first = new Connection(near, options);
  assert.throws(() => new Connection(near, options), /has a connection already/);
  assert.equal(await new Connection(far, options).request("hello"), "hello");
  assert.equal(await first.request("back"), "back");
});

test("a time that is not a number throws at once, and nothing is sent", async () => {
  const { connection, peer } = withBarePeer();
  for (const value of [Number.NaN, null, "soon"]) {
    // as callers without types write it
    const time = value as number;
    const wanted = { name: "TypeError", message: /Ms: expected a number of milliseconds or Infinity, got / };
    assert.throws(() => connection.request("a", {}, { timeoutMs: time }), wanted);
    assert.throws(() => connection.request("a", {}, { cancelGraceMs: time }), wanted);
    assert.throws(() => connection.batch([{ method: "a", options: { timeoutMs: time } }]), wanted);
    if (value === null) continue;
    const [near] = memoryPair();
    assert.throws(() => connectionOver(near, { drainMs: time }), wanted);
    const streams = { readable: new ReadableStream(), writable: new WritableStream() };
    assert.throws(() => fromWebStreams(streams, { flushMs: time }), wanted);
  }
  peer.send(call(1));
  await peer.until(1);
  assert.deepEqual(peer.received, [{ jsonrpc: "2.0", id: 1, result: null }]);
});
