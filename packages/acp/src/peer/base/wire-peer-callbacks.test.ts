import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { barePeer, call, quiet } from "../../../test/support/connection-probe.ts";
import { memoryPair } from "../../transport/memory.ts";
import { agentPeer, clientPeer } from "../../v1.gen.ts";

test("a handler may return any thenable, also a promise of another realm", async () => {
  const foreign: unknown = runInNewContext("Promise.resolve({ protocolVersion: 1 })");
  // biome-ignore lint/suspicious/noThenProperty: this is what is tested
  const thenable = { then: (resolve: (value: unknown) => void) => resolve({ protocolVersion: 1 }) };
  for (const result of [foreign, thenable]) {
    const [near, far] = memoryPair();
    // as callers without types write it
    const initialize = () => result as Promise<{ protocolVersion: number }>;
    agentPeer(near, { requests: { initialize } });
    const peer = barePeer(far);
    peer.send(call(1, "initialize", { protocolVersion: 1 }));
    await peer.until(1);
    assert.equal((peer.received[0] as { result: { protocolVersion: number } }).result.protocolVersion, 1);
  }
});

test("noise that is undefined is the default of the role: a client skips prints", async () => {
  const [near, far] = memoryPair();
  const options = { noise: undefined } as unknown as { noise: "skip" };
  const client = clientPeer(near, options);
  const peer = barePeer(far);
  peer.sendText("starting the agent");
  await quiet();
  assert.deepEqual([client.counters.noise, peer.received], [1, []]);
});

test("a notification handler that rejects and a logger that throws lose nothing", async () => {
  const [near, far] = memoryPair();
  const failing = (async () => {
    throw new Error("boom");
  }) as unknown as () => undefined;
  const log: string[] = [];
  agentPeer(near, {
    log(_level, message) {
      log.push(message);
      throw new Error("boom");
    },
    requests: { initialize: () => ({ protocolVersion: 1 }) },
    notifications: { "session/cancel": failing, _ext: failing },
  });
  const peer = barePeer(far);
  peer.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } });
  peer.send({ jsonrpc: "2.0", method: "session/cancel", params: {} });
  peer.send({ jsonrpc: "2.0", method: "_ext" });
  peer.send(call(1, "initialize", { protocolVersion: 1 }));
  await peer.until(1);
  await quiet();
  assert.equal(log.filter((message) => message === "a notification handler threw").length, 2);
});
