// Proxies of the Rust SDK below our conductor: each is spoken to as it speaks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { byHand, chained, empty, hello, introductions, opened, prompt, said } from "./chained.ts";
import { rust2, rust5, rustProxy } from "./scripted-rust.ts";

/** A prompt with a question of the agent, through whatever is between. */
async function turn({ client, agent }: Pick<Awaited<ReturnType<typeof opened>>, "client" | "agent">) {
  client.request("p", "session/prompt", prompt("s", "go"));
  const asked = await agent.asked("session/prompt");
  const before = client.got.length;
  for (const words of ["a", "b", "c"]) agent.notify("session/update", said("s", words));
  agent.request("q", "session/request_permission", { sessionId: "s", toolCall: {}, options: [] });
  client.answer(await client.asked("session/request_permission"), { outcome: { outcome: "cancelled" } });
  assert.deepEqual((await agent.answered("q")).result, { outcome: { outcome: "cancelled" } });
  agent.answer(asked, { stopReason: "end_turn" });
  assert.deepEqual((await client.answered("p")).result, { stopReason: "end_turn" });
  assert.deepEqual(
    client.got.slice(before).map(({ method }) => method),
    ["session/update", "session/update", "session/update", "session/request_permission", undefined],
  );
}

const proxies: readonly (readonly [string, Parameters<typeof rustProxy>, number])[] = [
  ["a proxy of Rust 5", [rust5], 1],
  ["a proxy that answers -32601 to proxy/initialize (Rust 3 and 4)", [rust2, "unknown"], 1],
  ["a proxy that forwards proxy/initialize to its successor (Rust 2)", [rust2, "forwards"], 1],
  ["a proxy whose connection is spoiled by proxy/initialize (Rust 2)", [rust2, "poisoned"], 2],
  ["a proxy that ends at proxy/initialize", [rust2, "dies"], 2],
];

for (const [name, script, starts] of proxies) {
  test(`${name} works in a chain, and what it speaks is remembered (P21, P22)`, async () => {
    const hand = byHand((message, peer) => serve.get(peer)?.(message, peer));
    const serve = new Map();
    const start = () => {
      const near = hand.start();
      const peer = hand.peers.at(-1);
      serve.set(peer, rustProxy(...script));
      return near;
    };
    await turnsIn(start);
    assert.equal(hand.peers.length, starts);
    await turnsIn(start);
    assert.equal(hand.peers.length, starts + 1, "no start is wasted on what is known");
    const [names] = script;
    assert.equal(hand.peers.at(-1)?.got[0]?.method, names.initialize);
    const wrapped = hand.peers.at(-1)?.got.filter(({ params }) => params?.["method"] === "$/cancel_request");
    assert.equal(wrapped?.length, names === rust2 ? 1 : 0);
  });
}

async function turnsIn(start: Parameters<typeof opened>[0][number]): Promise<void> {
  const made = await opened([...empty(1), start, ...empty(1)]);
  await turn(made);
  await cancels(made);
  await made.chain.close();
}

/** Cancels in both directions reach the other end once, with its own id (P15, P16). */
async function cancels({ client, agent }: Pick<Awaited<ReturnType<typeof opened>>, "client" | "agent">) {
  const before = { client: client.got.length, agent: agent.got.length };
  client.request("x", "_acme/slow", { sessionId: "s" });
  const slow = await agent.asked("_acme/slow");
  client.notify("$/cancel_request", { requestId: "unknown" });
  client.notify("$/cancel_request", { requestId: ["malformed"] });
  client.notify("$/cancel_request", { requestId: "x" });
  client.notify("$/cancel_request", { requestId: "x" });
  const cancel = await agent.asked("$/cancel_request");
  assert.equal(cancel.params?.["requestId"], slow.id);
  agent.send({
    jsonrpc: "2.0",
    id: slow.id,
    error: { code: -32800, message: "stopped", data: null, more: [1] },
  });
  assert.deepEqual((await client.answered("x")).error, {
    code: -32800,
    message: "stopped",
    data: null,
    more: [1],
  });
  client.notify("$/cancel_request", { requestId: "x" });
  agent.request(0, "_acme/ask", { sessionId: "s" });
  const ask = await client.asked("_acme/ask");
  agent.notify("$/cancel_request", { requestId: 0 });
  assert.equal((await client.asked("$/cancel_request")).params?.["requestId"], ask.id);
  client.answer(ask, { partial: true });
  assert.deepEqual((await agent.answered(0)).result, { partial: true });
  const count = (got: readonly { method?: string }[]) =>
    got.filter(({ method }) => method === "$/cancel_request").length;
  assert.deepEqual([count(client.got.slice(before.client)), count(agent.got.slice(before.agent))], [1, 1]);
}

test("cancels cross empty proxies once, in both directions (P15, P16, P19, P20)", async () => {
  for (const n of [0, 1, 3]) {
    const made = await opened(empty(n));
    await cancels(made);
    await made.chain.close();
  }
});

test("a cancelled prompt cancels the agent's question too (P17)", async () => {
  const { client, agent, chain } = await opened(empty(2));
  client.request(1, "session/prompt", prompt("s", "go"));
  const asked = await agent.asked("session/prompt");
  agent.request(5, "session/request_permission", { sessionId: "s", toolCall: {}, options: [] });
  const question = await client.asked("session/request_permission");
  client.notify("$/cancel_request", { requestId: 1 });
  assert.equal((await agent.asked("$/cancel_request")).params?.["requestId"], asked.id);
  agent.notify("$/cancel_request", { requestId: 5 });
  assert.equal((await client.asked("$/cancel_request")).params?.["requestId"], question.id);
  client.answer(question, { outcome: { outcome: "cancelled" } });
  await agent.answered(5);
  agent.send({ jsonrpc: "2.0", id: asked.id, error: { code: -32800, message: "cancelled" } });
  assert.equal((await client.answered(1)).error?.code, -32800);
  await chain.close();
});

test("initialize and session/new can be cancelled through a chain (P18)", async () => {
  const { client, agent: starting, chain } = chained([...empty(1), byHandProxy()]);
  client.request(1, "initialize", hello[1]);
  const agent = await starting;
  const asked = await agent.asked("initialize");
  client.notify("$/cancel_request", { requestId: 1 });
  assert.equal((await agent.asked("$/cancel_request")).params?.["requestId"], asked.id);
  agent.answer(asked, introductions[1]);
  await client.answered(1);
  client.request(2, "session/new", { cwd: "/", mcpServers: [] });
  const opening = await agent.asked("session/new");
  client.notify("$/cancel_request", { requestId: 2 });
  assert.equal((await agent.asked("$/cancel_request")).params?.["requestId"], opening.id);
  agent.send({ jsonrpc: "2.0", id: opening.id, error: { code: -32800, message: "cancelled" } });
  assert.equal((await client.answered(2)).error?.code, -32800);
  await chain.close();
});

const byHandProxy = () => byHand(rustProxy(rust5)).start;

test("errors cross as the same JSON value, explicit null data and unknown members too", async () => {
  const { client, agent, chain } = await opened([byHandProxy(), ...empty(1), byHandProxy()]);
  for (const [i, error] of [
    { code: 7, message: "no", data: null, extra: { a: [1] } },
    { code: -32000, message: "login first" },
    { code: 1.5, message: 3 },
  ].entries()) {
    client.request(i, "_acme/fails", {});
    agent.send({ jsonrpc: "2.0", id: (await agent.asked("_acme/fails")).id, error });
    assert.deepEqual((await client.answered(i)).error, error);
  }
  await chain.close();
});

test("custom data of an envelope stays on its hop, that of the message in it crosses (P23)", async () => {
  const part = byHand();
  const { client, agent: starting, chain } = chained([part.start]);
  client.request(1, "initialize", hello[1]);
  const proxy = await part.peer(0);
  const first = await proxy.asked("proxy/initialize");
  proxy.request("i", "proxy/successor", { method: "initialize", params: first.params, _meta: { hop: 1 } });
  const agent = await starting;
  const asked = await agent.asked("initialize");
  assert.deepEqual(asked.params, hello[1]);
  agent.answer(asked, introductions[1]);
  proxy.answer(first, (await proxy.answered("i")).result);
  await client.answered(1);
  proxy.sendText(
    '{"jsonrpc":"2.0","method":"proxy/successor","params":{"method":"session/update","params":{"sessionId":"s","_meta":{"in":1}},"_meta":{"hop":2}}}',
  );
  assert.deepEqual(await agent.asked("session/update"), {
    jsonrpc: "2.0",
    method: "session/update",
    params: { sessionId: "s", _meta: { in: 1 } },
  });
  proxy.notify("proxy/successor", { method: "_acme/none", params: null, _meta: { hop: 3 } });
  assert.deepEqual(await agent.asked("_acme/none"), { jsonrpc: "2.0", method: "_acme/none" });
  proxy.notify("proxy/successor", { method: "_acme/list", params: [1, 2] });
  assert.deepEqual((await agent.asked("_acme/list")).params, [1, 2]);
  await chain.close();
});

test("what a component must not send is refused with the reason, and the chain goes on", async () => {
  const part = byHand();
  const { client, agent: starting, chain } = chained([part.start]);
  client.request(1, "initialize", hello[1]);
  const proxy = await part.peer(0);
  const first = await proxy.asked("proxy/initialize");
  // a wrapped first message (P10)
  proxy.request("w", "proxy/successor", { method: "proxy/initialize", params: first.params });
  const wrapped = (await proxy.answered("w")).error;
  assert.equal(wrapped?.code, -32600);
  assert.match(
    wrapped?.message ?? "",
    /^proxy\/initialize must not be in an envelope: a proxy sends initialize/,
  );
  // the names of 2025
  proxy.request("s", "_proxy/successor/request", { method: "initialize" });
  assert.match((await proxy.answered("s")).error?.message ?? "", /name of sacp \(2025\).*update the proxy/);
  proxy.notify("_proxy/successor/notification", { method: "session/cancel" });
  // an array
  proxy.sendText('[{"jsonrpc":"2.0","method":"_acme/in_array"}]');
  const array = await proxy.next(({ id }) => id === null);
  assert.equal(array.error?.code, -32600);
  // an envelope without a method, and a cancel that wants an answer
  proxy.request("e", "proxy/successor", { params: {} });
  assert.equal((await proxy.answered("e")).error?.code, -32602);
  proxy.request("c", "proxy/successor", { method: "$/cancel_request", params: { requestId: 1 } });
  assert.equal((await proxy.answered("c")).error?.code, -32601);
  proxy.request("i", "proxy/successor", { method: "initialize", params: first.params });
  const agent = await starting;
  agent.answer(await agent.asked("initialize"), introductions[1]);
  proxy.answer(first, (await proxy.answered("i")).result);
  assert.deepEqual((await client.answered(1)).result, introductions[1]);
  assert.deepEqual(client.got.length, 1, "nothing of it reached the client");
  await chain.close();
});

test("a changed protocol version is refused with the name of the component (P9)", async () => {
  const part = byHand();
  const { client, agent: starting, chain } = chained([{ name: "liar", start: part.start }]);
  client.request(1, "initialize", hello[1]);
  const proxy = await part.peer(0);
  const first = await proxy.asked("proxy/initialize");
  proxy.request("i", "proxy/successor", { method: "initialize", params: first.params });
  const agent = await starting;
  agent.answer(await agent.asked("initialize"), introductions[1]);
  await proxy.answered("i");
  proxy.answer(first, introductions[2]);
  const { error } = await client.answered(1);
  assert.equal(error?.code, -32600);
  assert.match(error?.message ?? "", /^liar changed the protocol version from 1 to 2/);
  client.request(2, "session/new", { cwd: "/", mcpServers: [] });
  assert.match((await client.answered(2)).error?.message ?? "", /^liar has not been initialized/);
  await chain.close();
});

test("a success before the successor was initialised is refused, and what came with it is answered (P8)", async () => {
  const part = byHand();
  const { client, agents, chain } = chained([{ name: "hasty", start: part.start }]);
  client.request(1, "initialize", hello[1]);
  client.request(2, "session/new", { cwd: "/", mcpServers: [] });
  const proxy = await part.peer(0);
  proxy.answer(await proxy.asked("proxy/initialize"), introductions[1]);
  const { error } = await client.answered(1);
  assert.equal(error?.code, -32600);
  assert.match(error?.message ?? "", /^hasty answered initialize before its successor had/);
  assert.equal((await client.answered(2)).error?.code, -32600);
  assert.equal(agents.length, 0);
  await chain.close();
});

test("a program that is no proxy is named, whatever it says to the two first messages", async () => {
  const part = byHand(({ id }, peer) =>
    peer.send({ jsonrpc: "2.0", id, error: { code: -32601, message: "unknown" } }),
  );
  const { client, chain } = chained([{ name: "cat", start: part.start }]);
  client.request(1, "initialize", hello[1]);
  const { error } = await client.answered(1);
  assert.match(
    error?.message ?? "",
    /^cat is not a proxy: it knows neither proxy\/initialize nor _proxy\/initialize/,
  );
  assert.deepEqual(
    part.peers[0]?.got.map(({ method }) => method),
    ["proxy/initialize", "_proxy/initialize"],
  );
  await chain.close();
});

test("an agent that refuses initialize is heard in its own words, then and afterwards", async () => {
  for (const n of [0, 2]) {
    const { client, agent: starting, chain } = chained([...empty(n), ...(n === 2 ? [byHandProxy()] : [])]);
    client.request(1, "initialize", hello[1]);
    const agent = await starting;
    const error = { code: -32602, message: "no such version", data: { supported: [9] } };
    agent.send({ jsonrpc: "2.0", id: (await agent.asked("initialize")).id, error });
    assert.deepEqual((await client.answered(1)).error, error);
    client.request(2, "initialize", hello[1]);
    agent.answer(await agent.asked("initialize"), introductions[1]);
    assert.deepEqual((await client.answered(2)).result, introductions[1]);
    await chain.close();
  }
});

test("a client's array is taken and answered as an array; the components and the agent get single messages", async () => {
  for (const parts of [[], empty(2), [byHandProxy()]]) {
    const { client, agent, chain } = await opened(parts);
    client.sendText(
      '[{"jsonrpc":"2.0","id":1,"method":"_acme/a"},{"jsonrpc":"2.0","method":"_acme/n"},{"jsonrpc":"2.0","id":2,"method":"_acme/b"}]',
    );
    const [a, b] = [await agent.asked("_acme/a"), await agent.asked("_acme/b")];
    await agent.asked("_acme/n");
    agent.answer(b, { b: 1 });
    agent.answer(a, { a: 1 });
    const answers = (await client.next((message) => Array.isArray(message))) as unknown as { id: number }[];
    assert.deepEqual(new Set(answers.map(({ id }) => id)), new Set([1, 2]));
    assert.equal(
      agent.texts.some((each) => each.startsWith("[")),
      false,
    );
    await chain.close();
  }
});

test("a component of Rust 2 may send arrays", async () => {
  const part = byHand(rustProxy(rust2));
  const { client, agent, chain } = await opened([part.start]);
  const proxy = await part.peer(0);
  proxy.sendText(
    '[{"jsonrpc":"2.0","method":"_acme/up"},{"jsonrpc":"2.0","method":"_proxy/successor","params":{"method":"_acme/down"}}]',
  );
  await client.asked("_acme/up");
  await agent.asked("_acme/down");
  await chain.close();
});

test("a client cannot be a proxy in the middle of its connection, nor speak to a successor (P10)", async () => {
  const { client, agent, chain } = await opened(empty(1));
  client.request(1, "proxy/initialize", hello[1]);
  assert.equal((await client.answered(1)).error?.code, -32600);
  client.request(2, "proxy/successor", { method: "session/list" });
  assert.equal((await client.answered(2)).error?.code, -32601);
  client.request(3, "_acme/still", {});
  agent.answer(await agent.asked("_acme/still"), {});
  await client.answered(3);
  await chain.close();
});

test("peers whose ids count from zero never meet on another hop (P31)", async () => {
  const { client, agent, chain } = await opened([byHandProxy(), ...empty(1), byHandProxy()]);
  const rounds = 20;
  for (let id = 0; id < rounds; id++) {
    client.request(id, "_acme/down", { id });
    agent.request(id, "_acme/up", { id });
  }
  for (let i = 0; i < rounds; i++) {
    const down = await agent.asked("_acme/down");
    agent.answer(down, { echo: down.params?.["id"] });
    const up = await client.asked("_acme/up");
    client.answer(up, { echo: up.params?.["id"] });
  }
  for (let id = 0; id < rounds; id++) {
    assert.deepEqual((await client.answered(id)).result, { echo: id });
    assert.deepEqual((await agent.answered(id)).result, { echo: id });
  }
  await chain.close();
});
