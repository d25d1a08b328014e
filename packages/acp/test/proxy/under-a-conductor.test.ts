// Our proxies and chains as components of somebody else's conductor: each is answered as it speaks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type AcpProxy, conductor, proxy } from "../../src/proxy.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import { type RawLinePeer, rawLinePeer, type Wire } from "../support/raw-line-peer.ts";
import { empty, hello, introductions, prompt, said } from "./chained.ts";
import { type Names, rust2, rust5 } from "./scripted-rust.ts";

function under(part: Pick<AcpProxy, "connect">): RawLinePeer {
  const [near, far] = memoryPair();
  part.connect(far);
  return rawLinePeer(near);
}

/** What the component sends to its successor. */
const wrapped = (peer: RawLinePeer, { successor }: Names, inner: string) =>
  peer.next(({ method, params }) => method === successor && params?.["method"] === inner);

const insideOf = ({ params }: Wire) => params?.["params"] as Wire["params"];

async function introduced(part: Pick<AcpProxy, "connect">, names: Names): Promise<RawLinePeer> {
  const peer = under(part);
  peer.request(0, names.initialize, { ...hello[1], _more: 1 });
  const asked = await wrapped(peer, names, "initialize");
  assert.deepEqual(insideOf(asked), { ...hello[1], _more: 1 });
  peer.answer(asked, introductions[1]);
  assert.deepEqual((await peer.answered(0)).result, introductions[1]);
  return peer;
}

const parts: readonly (readonly [string, () => Pick<AcpProxy, "connect">])[] = [
  ["an empty proxy", () => proxy({ name: "one", version: "1" })],
  ["a proxy that looks", () => proxy({ name: "one", version: "1", update: () => undefined, results: {} })],
  ["a chain of three proxies", () => conductor(empty(3))],
];

for (const [generation, names] of [
  ["Rust 5", rust5],
  ["Rust 2", rust2],
] as const) {
  for (const [what, make] of parts) {
    test(`${what} is a component of a conductor of ${generation} (A123, P21, P22, P24)`, async () => {
      const peer = await introduced(make(), names);
      peer.request(1, "session/prompt", prompt("s", "go"));
      const asked = await wrapped(peer, names, "session/prompt");
      assert.deepEqual(insideOf(asked), prompt("s", "go"));
      peer.notify(names.successor, { method: "session/update", params: said("s", "a") });
      peer.request(2, names.successor, {
        method: "session/request_permission",
        params: { sessionId: "s", toolCall: {}, options: [] },
      });
      peer.answer(await peer.asked("session/request_permission"), { outcome: { outcome: "cancelled" } });
      assert.deepEqual((await peer.answered(2)).result, { outcome: { outcome: "cancelled" } });
      const at = peer.got.findIndex(({ method }) => method === "session/update");
      assert.ok(at > 0 && at < peer.got.findIndex(({ id, method }) => id === 2 && method === undefined));
      // the conductor cancels what it has asked, and what it has wrapped
      peer.notify("$/cancel_request", { requestId: 1 });
      const cancel = await peer.next(({ method, params }) =>
        names === rust5 ? method === "$/cancel_request" : params?.["method"] === "$/cancel_request",
      );
      const named = (names === rust5 ? cancel.params : insideOf(cancel))?.["requestId"];
      assert.equal(named, asked.id, "the cancel names the envelope of this hop");
      peer.send({ jsonrpc: "2.0", id: asked.id, error: { code: -32800, message: "cancelled", data: null } });
      assert.deepEqual((await peer.answered(1)).error, { code: -32800, message: "cancelled", data: null });
      peer.request(3, names.successor, { method: "_acme/ask", params: { sessionId: "s" } });
      const ask = await peer.asked("_acme/ask");
      if (names === rust5) peer.notify("$/cancel_request", { requestId: 3 });
      else peer.notify(names.successor, { method: "$/cancel_request", params: { requestId: 3 } });
      const back = await peer.asked("$/cancel_request");
      assert.equal(back.params?.["requestId"], ask.id);
      peer.answer(ask, { done: 1 });
      assert.deepEqual((await peer.answered(3)).result, { done: 1 });
      await peer.close();
    });
  }

  test(`what a component of a conductor of ${generation} is not: a client's agent, a home of wrapped first messages`, async () => {
    const peer = await introduced(proxy({ name: "one", version: "1" }), names);
    peer.request(1, "initialize", hello[1]);
    assert.equal((await peer.answered(1)).error?.code, -32600);
    peer.request(2, names.successor, { method: names.initialize, params: hello[1] });
    assert.equal((await peer.answered(2)).error?.code, -32600);
    peer.sendText('[{"jsonrpc":"2.0","id":3,"method":"_acme/ask"}]');
    if (names === rust5) {
      assert.equal((await peer.next(({ id }) => id === null)).error?.code, -32600);
    } else {
      peer.answer(await wrapped(peer, names, "_acme/ask"), {});
      await peer.next((message) => Array.isArray(message));
    }
    await peer.close();
  });
}

test("a conductor of 2025 is refused with a sentence", async () => {
  const peer = under(proxy({ name: "one", version: "1" }));
  peer.request(0, "initialize", { ...hello[1], _meta: { proxy: true } });
  assert.match((await peer.answered(0)).error?.message ?? "", /name of sacp \(2025\)/);
  await peer.close();
});

test("a chain that ends in an agent, and a proxy with nothing behind it, say what they cannot be", async () => {
  const agent = { definition: { name: "a" }, connect: assert.fail, close: async () => undefined };
  const chain = under(conductor([...empty(1), agent]));
  chain.request(0, "proxy/initialize", hello[1]);
  assert.match(
    (await chain.answered(0)).error?.message ?? "",
    /ends in the agent, so it cannot be a part of another chain/,
  );
  const lonely = under(proxy({ name: "lonely", version: "1" }));
  lonely.request(0, "initialize", hello[1]);
  assert.match((await lonely.answered(0)).error?.message ?? "", /^lonely is a proxy with no agent behind it/);
});

test("a proxy alone stands in front of one agent", async () => {
  const [near, far] = memoryPair();
  const agent = rawLinePeer(far);
  const client = under(proxy({ name: "alone", version: "1", agent: () => near }));
  client.request(0, "initialize", hello[1]);
  agent.answer(await agent.asked("initialize"), introductions[1]);
  await client.answered(0);
  client.notify("_acme/note", { a: 1 });
  assert.deepEqual((await agent.asked("_acme/note")).params, { a: 1 });
  await client.close();
  await agent.ended;
});

test("a proxy that decides what is allowed says so to its conductor, and to nobody else", async () => {
  const policy = () => proxy({ name: "rules", version: "1", policy: true });
  const mark = { "_parley.dev/policy": true };
  for (const part of [policy(), conductor([...empty(1), policy(), ...empty(1)])]) {
    const peer = under(part);
    peer.request(0, "proxy/initialize", hello[1]);
    peer.answer(await wrapped(peer, rust5, "initialize"), { ...introductions[1], _meta: { own: 1 } });
    assert.deepEqual((await peer.answered(0)).result, { ...introductions[1], _meta: { own: 1, ...mark } });
    await peer.close();
  }
});
