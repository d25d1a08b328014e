import assert from "node:assert/strict";
import { test } from "node:test";
import { call, quiet, withBarePeer } from "../../test/support/connection-probe.ts";
import type { IncomingRequest } from "./incoming-request.ts";

const boom = () => {
  throw new Error("boom");
};
/** What a caller without types may pass where a synchronous callback is wanted. */
const rejecting = (async () => boom()) as unknown as () => undefined;
const badThenable = (() => ({
  // biome-ignore lint/suspicious/noThenProperty: this is what is tested
  then: boom,
})) as unknown as () => undefined;

test("a logger that throws or rejects loses no request and ends no process (G4)", async () => {
  for (const log of [boom, rejecting, badThenable]) {
    const { peer, connection } = withBarePeer({ log, request: boom, notification: boom });
    peer.sendText("rubbish");
    peer.send({ jsonrpc: "2.0", method: "n" });
    peer.send(call(1));
    peer.send([call(2), 5]);
    await peer.until(3);
    await quiet();
    assert.equal(connection.isOpen, true);
    await connection.close();
  }
});

test("a tap, an afterReply callback and a notification handler that throw or reject are logged, no more (G3, G4)", async () => {
  for (const callback of [boom, rejecting, badThenable]) {
    const log: string[] = [];
    const { peer } = withBarePeer({
      log: (_level, message) => log.push(message),
      tap: callback,
      request(_method, _params, request) {
        request.afterReply(callback);
        return null;
      },
      notification: callback,
    });
    peer.send({ jsonrpc: "2.0", method: "n" });
    peer.send(call(1));
    await peer.until(1);
    await quiet();
    assert.deepEqual(
      new Set(log),
      new Set(["a tap threw", "a notification handler threw", "an afterReply callback threw"]),
    );
  }
});

test("an afterReply callback that comes after the reply and fails is logged too (G3)", async () => {
  let request: IncomingRequest | undefined;
  const { peer, log } = withBarePeer({
    request(_method, _params, given) {
      request = given;
      return null;
    },
  });
  peer.send(call(1));
  await peer.until(1);
  request?.afterReply(boom);
  request?.afterReply(rejecting);
  await quiet();
  assert.deepEqual(
    log.map(({ message }) => message),
    Array(2).fill("an afterReply callback threw"),
  );
});

test("awaiting notify in a loop after the end lets timers run, and never throws (G8)", async () => {
  let count = 0;
  let ended = false;
  const { connection, peer } = withBarePeer({
    drainMs: 20,
    async request() {
      // a handler that never looks at its signal
      while (!ended) {
        await connection.notify("tick");
        count++;
      }
    },
  });
  peer.send(call(1));
  await connection.close();
  const before = count;
  for (let i = 0; i < 3; i++) await connection.notify("late");
  ended = true;
  assert.ok(count - before <= 4, `${count - before} rounds in 3 turns of the event loop`);
  assert.equal(connection.notify("a"), connection.notify("b"), "one promise per turn");
});
