// Tests which messages each component of a chain gets, and in which order.

import assert from "node:assert/strict";
import { test } from "node:test";
import { client as clientOf } from "../../src/index.ts";
import { conductor, type HopMessage, proxy } from "../../src/proxy.ts";
import type { RawLinePeer, Wire } from "../support/raw-line-peer.ts";
import { byHand, chained, hello, introductions, opened, prompt, said } from "./chained.ts";
import { rust5, rustProxy } from "./scripted-rust.ts";

/** Components on connections of their own. `heard` lists the messages that each of them got, in order. */
function connected(n: number) {
  const heard: string[] = [];
  const parts = Array.from({ length: n }, (_, i) => {
    const pass = rustProxy(rust5);
    const hand = byHand((message, peer) => {
      const inner = message.params?.["method"];
      if (message.method !== undefined)
        heard.push(`p${i} ${message.method}${inner ? ` ${String(inner)}` : ""}`);
      pass(message, peer);
    });
    return { name: `p${i}`, start: hand.start };
  });
  return { heard, parts };
}

test("without a proxy the agent gets initialize and the messages of its client, and no message of a chain (P1)", async () => {
  for (const version of [1, 2] as const) {
    const { client, agent, chain } = await opened([], { version });
    client.request(1, "session/prompt", prompt("s", "go"));
    agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
    await client.answered(1);
    assert.deepEqual(
      agent.got.map(({ method, params }) => ({ method, params })),
      [
        { method: "initialize", params: hello[version] },
        { method: "session/new", params: { cwd: "/", mcpServers: [] } },
        { method: "session/prompt", params: prompt("s", "go") },
      ],
    );
    await chain.close();
    await agent.ended;
    assert.equal(agent.got.length, 3);
  }
});

test("each of n components gets proxy/initialize once, in order, and the agent initialize last (A124, P2)", async () => {
  for (const n of [1, 2, 3]) {
    const { heard, parts } = connected(n);
    const serve = (message: Wire, peer: RawLinePeer) => {
      heard.push(`agent ${message.method}`);
      peer.answer(message, introductions[1]);
    };
    const { client, chain } = chained(parts, { serve });
    client.request(1, "initialize", hello[1]);
    assert.deepEqual((await client.answered(1)).result, introductions[1]);
    assert.deepEqual(
      heard.filter((each) => each.endsWith("initialize")),
      [...parts.map(({ name }) => `${name} proxy/initialize`), "agent initialize"],
    );
    await chain.close();
  }
});

test("a wrapped proxy/initialize is refused where the target is a proxy, and does not reach it (P10)", async () => {
  const first = byHand();
  const second = byHand(rustProxy(rust5));
  const { client, agent: starting, chain } = chained([first.start, second.start]);
  client.request(1, "initialize", hello[1]);
  const proxying = await first.peer(0);
  const asked = await proxying.asked("proxy/initialize");
  proxying.request("early", "proxy/successor", { method: "proxy/initialize", params: asked.params });
  assert.equal((await proxying.answered("early")).error?.code, -32600);
  assert.equal(second.peers.length, 0, "nothing was started for it");
  proxying.request("i", "proxy/successor", { method: "initialize", params: asked.params });
  const agent = await starting;
  agent.answer(await agent.asked("initialize"), introductions[1]);
  proxying.answer(asked, (await proxying.answered("i")).result);
  await client.answered(1);
  proxying.request("late", "proxy/successor", { method: "proxy/initialize", params: asked.params });
  assert.equal((await proxying.answered("late")).error?.code, -32600);
  const behind = second.peers[0]?.got.filter(({ method }) => method === "proxy/initialize");
  assert.equal(behind?.length, 1, "only its conductor's own");
  await chain.close();
});

test("a request of the agent passes the proxies from right to left, and its answer back from left to right (P12)", async () => {
  const order: string[] = [];
  const parts = ["left", "middle", "right"].map((name) =>
    proxy({
      name,
      version: "1",
      messages: { "_acme/ask": () => void order.push(`${name} asked`) },
      results: { "_acme/ask": () => void order.push(`${name} answered`) },
    }),
  );
  const { heard, parts: processes } = connected(2);
  const [near, far] = processes;
  assert.ok(near && far);
  const { client, agent, chain } = await opened([...parts, near, far]);
  heard.length = 0;
  agent.request("q", "_acme/ask", { sessionId: "s" });
  client.answer(await client.asked("_acme/ask"), { a: 1 });
  assert.deepEqual((await agent.answered("q")).result, { a: 1 });
  assert.deepEqual(heard, ["p1 proxy/successor _acme/ask", "p0 proxy/successor _acme/ask"]);
  assert.deepEqual(order, [
    "right asked",
    "middle asked",
    "left asked",
    "left answered",
    "middle answered",
    "right answered",
  ]);
  await chain.close();
});

test("in the client's API, all updates of a prompt come before its result (P14)", async () => {
  const count = 200;
  const serve = (message: Wire, peer: RawLinePeer): void => {
    const { method } = message;
    if (method === "session/prompt")
      for (let i = 0; i < count; i++) peer.notify("session/update", said("s", `${i} `));
    const answers = { ...introductions[1], sessionId: "s", stopReason: "end_turn" };
    if (message.id !== undefined) peer.answer(message, answers);
  };
  const expected = Array.from({ length: count }, (_, i) => `${i} `).join("");
  const looking = proxy({ name: "l", version: "1", update: () => undefined, turnEnd: () => undefined });
  const late = proxy({ name: "h", version: "1", results: { "session/prompt": async () => undefined } });
  for (const parts of [[], [looking], [late, looking], [...connected(2).parts, looking]]) {
    const connection = await clientOf({ name: "c", version: "1" }).connect(
      conductor([...parts, byHand(serve).start]),
    );
    const session = await connection.newSession({ cwd: "/" });
    let heard = "";
    session.onUpdate((update) => {
      if (update.sessionUpdate === "agent_message_chunk" && update.content.type === "text")
        heard += update.content.text;
    });
    assert.equal(await session.prompt("go").text(), expected);
    heard = "";
    await session.prompt("go");
    assert.equal(heard, expected);
    await connection.close();
  }
});

test("a session that could not be opened leaves no data at a proxy; one that is open keeps its own (P28)", async () => {
  const made: string[] = [];
  const counting = proxy<number>({
    name: "counting",
    version: "1",
    session: ({ sessionId }) => made.push(sessionId),
    prompt: () => undefined,
    messages: { "*": () => undefined },
  });
  const { client, agent, chain } = await opened([counting]);
  let id = 0;
  const opening = async (method: string, sessionId: string | undefined, isRefused: boolean) => {
    client.request(++id, method, { ...(sessionId && { sessionId }), cwd: "/", mcpServers: [] });
    const asked = await agent.asked(method);
    if (isRefused) agent.send({ jsonrpc: "2.0", id: asked.id, error: { code: -32002, message: "no" } });
    else agent.answer(asked, { sessionId });
    await client.answered(id);
  };
  await opening("session/new", undefined, true);
  assert.deepEqual(made, ["s"]);
  await opening("session/load", "old", true);
  await opening("session/load", "old", false);
  assert.deepEqual(made, ["s", "old", "old"]);
  // it is still open, with its data
  await opening("session/load", "old", true);
  await opening("session/resume", "s", true);
  client.request("p", "session/prompt", prompt("s", "go"));
  agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
  await client.answered("p");
  assert.deepEqual(made, ["s", "old", "old"]);
  await chain.close();
});

test("ids that count from zero on both sides are told apart in the trace of every hop (P31)", async () => {
  const seen: HopMessage[] = [];
  const { parts } = connected(2);
  const { client, agent, chain } = await opened(parts, { options: { watch: (each) => seen.push(each) } });
  seen.length = 0;
  const rounds = 10;
  for (let n = 0; n < rounds; n++) {
    client.request(n, "_acme/down", { sessionId: "s", n: `down ${n}` });
    agent.request(n, "_acme/up", { sessionId: "s", n: `up ${n}` });
  }
  for (let i = 0; i < rounds; i++) {
    for (const [peer, method] of [
      [agent, "_acme/down"],
      [client, "_acme/up"],
    ] as const) {
      const asked = await peer.asked(method);
      peer.answer(asked, { n: asked.params?.["n"] });
    }
  }
  for (let n = 0; n < rounds; n++) await Promise.all([client.answered(n), agent.answered(n)]);
  const hops = new Set(seen.map(({ hop }) => hop));
  assert.equal(hops.size, 3);
  for (const hop of hops) {
    const asked = new Map<unknown, unknown>();
    const matched: unknown[] = [];
    for (const { message } of seen.filter((each) => each.hop === hop)) {
      const { id, method, params, result } = message as Wire;
      if (method !== undefined) {
        assert.ok(!asked.has(id), `${hop}: the id ${String(id)} is there twice`);
        asked.set(id, params?.["n"]);
      } else {
        assert.equal(result?.["n"], asked.get(id), hop);
        matched.push(id);
      }
    }
    assert.equal(matched.length, 2 * rounds, hop);
  }
  await chain.close();
});
