// Clients that come, are cut off and load the same session at once, in random order: never two processes on it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transport } from "@parley/acp";
import { memoryPair, wrapTransport } from "@parley/acp/transport";
import { hostAgent } from "@parley/gateway";

type Message = Readonly<Record<string, unknown>>;

/** The same numbers for the same seed. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const turns = async (count: number) => {
  for (let n = 0; n < count; n++) await new Promise(setImmediate);
};

const quiet = { idle: () => undefined, reject: () => undefined, drain: () => undefined };

/** A transport whose client may be away. */
function attachable(inner: Transport) {
  const state = { isAttached: true, onChange: () => () => undefined };
  return { transport: wrapTransport(inner, { attachment: state }), state };
}

/** Plays one storm. Returns how many loads succeeded. */
async function storm(seed: number): Promise<number> {
  const pick = random(seed);
  /** The processes that may use the session. */
  const users = new Set<object>();
  let most = 0;
  let loads = 0;
  const hosted = hostAgent({
    start: async () => {
      const [transport, inside] = memoryPair();
      const ended = Promise.withResolvers<void>();
      const process = {};
      await turns(pick(3));
      inside.start({
        ...quiet,
        async message(value) {
          const { id, method } = value as Message; // what the test sends
          if (method === "session/load") users.add(process);
          most = Math.max(most, users.size);
          await turns(pick(3));
          inside.send({ jsonrpc: "2.0", id, result: { method } });
        },
        end: () => ended.resolve(),
      });
      const gone = ended.promise.then(async () => {
        await turns(pick(5));
        users.delete(process);
      });
      return { transport, gone };
    },
  });
  const request = new Request("http://localhost/acp");
  const peers = Array.from({ length: 8 }, (_, index) => {
    const [near, far] = memoryPair();
    const { transport, state } = attachable(far);
    near.start({
      ...quiet,
      message(value) {
        const { result } = value as { result?: { method?: unknown } }; // what the agent above answers
        if (result?.method === "session/load") loads++;
      },
      end: () => undefined,
    });
    const peer = hosted.connect(transport, { connectionId: String(index), request });
    near.send({ jsonrpc: "2.0", id: 0, method: "initialize", params: { like: pick(2) } });
    return { near, peer, state };
  });
  for (let id = 1; id < 60; id++) {
    const chosen = peers[pick(peers.length)];
    const what = pick(6);
    if (chosen === undefined) continue;
    if (what === 0) chosen.state.isAttached = !chosen.state.isAttached;
    else if (what === 1 && pick(4) === 0) void chosen.peer.close();
    else {
      const _meta = { "_parley.dev/takeover": what > 3 };
      chosen.near.send({ jsonrpc: "2.0", id, method: "session/load", params: { sessionId: "s", _meta } });
    }
    if (pick(2) === 0) await turns(pick(4));
  }
  await turns(20);
  await Promise.all(peers.map(({ peer }) => peer.close()));
  await hosted.ended();
  assert.equal(users.size, 0, `seed ${seed}: processes are left`);
  assert.ok(most <= 1, `seed ${seed}: ${most} processes on one session`);
  return loads;
}

test("however clients come, go and take a session over, it is never in two processes, and nothing is left", async () => {
  let loads = 0;
  for (let seed = 1; seed <= 100; seed++) loads += await storm(seed);
  assert.ok(loads > 500, `only ${loads} loads succeeded`);
});
