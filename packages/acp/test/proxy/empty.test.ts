// Empty proxies change nothing that a peer can see.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type ChainPart, conductor, type HopMessage, proxy, type WatchHops } from "../../src/proxy.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import type { Wire } from "../support/raw-line-peer.ts";
import { byHand, chained, empty, handshake, hello, introductions, served } from "./chained.ts";

/** The same chain with its last proxies in a chain of their own. */
function nested(n: number): ChainPart[] {
  if (n < 2) return empty(n);
  const inner = conductor(empty(n - 1));
  const asProcess = () => {
    const [near, far] = memoryPair();
    inner.connect(far);
    return near;
  };
  return [...empty(1), asProcess];
}

/** Proxies that look at everything and change nothing. */
const looking = (n: number) =>
  Array.from({ length: n }, (_, i) => {
    const nothing = (): undefined => undefined;
    const later = async (): Promise<undefined> => undefined;
    return proxy({
      name: `p${i}`,
      version: "1",
      open: later,
      prompt: later,
      update: nothing,
      permission: later,
      elicitation: later,
      turnEnd: nothing,
      messages: { "_acme/invented": nothing, "_acme/ask": later },
      results: { initialize: later, "session/new": nothing, "session/prompt": later },
    });
  });

interface TranscriptOptions {
  readonly version?: 1 | 2;
  readonly watch?: WatchHops;
}

async function transcript(
  parts: readonly ChainPart[],
  { version = 1, watch }: TranscriptOptions = {},
): Promise<unknown> {
  const { client, agent: starting, chain } = chained(parts, watch && { options: { watch } });
  client.request("one", "initialize", { ...hello[version], _unknown: { a: null } });
  const agent = await starting;
  agent.answer(await agent.asked("initialize"), { ...introductions[version], more: 1 });
  await client.answered("one");
  client.request(2, "session/new", { cwd: "/", mcpServers: [] });
  agent.answer(await agent.asked("session/new"), { sessionId: "s" });
  await client.answered(2);
  client.request(3, "session/prompt", {
    sessionId: "s",
    prompt: [{ type: "text", text: "hi", extra: true }],
  });
  const prompt = await agent.asked("session/prompt");
  for (let i = 0; i < 100; i++) {
    agent.notify("session/update", {
      sessionId: "s",
      update: {
        sessionUpdate: "agent_message_chunk",
        messageId: "m",
        content: { type: "text", text: `${i}` },
      },
    });
  }
  agent.request("q", "session/request_permission", {
    sessionId: "s",
    ...(version === 1 ? { toolCall: { toolCallId: "t" } } : { title: "T" }),
    options: [],
  });
  client.answer(await client.asked("session/request_permission"), { outcome: { outcome: "cancelled" } });
  await agent.answered("q");
  agent.notify("_acme/invented", { list: [1, { two: 2 }] });
  agent.answer(prompt, { stopReason: "end_turn", _meta: { k: 1 } });
  await client.answered(3);
  client.request(4, "_acme/ask", { why: "because" });
  agent.send({
    jsonrpc: "2.0",
    id: (await agent.asked("_acme/ask")).id,
    error: { code: 7, message: "no", data: null },
  });
  await client.answered(4);
  await chain.close();
  const withoutIds = (messages: readonly Wire[]) =>
    messages.map(({ id, ...rest }) => ({ ...rest, hasId: id !== undefined }));
  return {
    client: client.got.map((message) => (message.method === undefined ? message : { ...message, id: 0 })),
    agent: withoutIds(agent.got),
  };
}

for (const version of [1, 2] as const) {
  test(`the transcript through 0 to 3 proxies, empty and looking, flat and nested, watched and not, is the same (v${version}; P5, P11, P13, P24, P25)`, async () => {
    const expected = await transcript([], { version });
    for (const n of [1, 2, 3]) {
      assert.deepEqual(await transcript(empty(n), { version }), expected, `${n} proxies`);
      assert.deepEqual(await transcript(nested(n), { version }), expected, `${n} proxies, nested`);
      assert.deepEqual(await transcript(looking(n), { version }), expected, `${n} proxies that look`);
      const hops = new Set<string>();
      const watch = ({ hop }: HopMessage): void => void hops.add(hop);
      assert.deepEqual(await transcript(empty(n), { version, watch }), expected, `${n} proxies, watched`);
      const names = ["the client", ...empty(n).map(({ definition }) => definition.name), "the agent"];
      assert.deepEqual(
        [...hops].sort(),
        names
          .slice(1)
          .map((name, i) => `${names[i]} > ${name}`)
          .sort(),
      );
    }
  });
}

test("nothing starts before initialize, and what comes before is refused (P3)", async () => {
  const { client, agents } = chained(empty(1));
  client.request(1, "session/new", {});
  const { error } = await client.answered(1);
  assert.equal(error?.code, -32600);
  assert.equal(agents.length, 0);
});

test("a chain can be the agent of another chain (P24)", async () => {
  const agents = byHand();
  const inner = conductor([...empty(1), agents.start]);
  const { client, chain } = served([...empty(1), inner]);
  const agent = await handshake(client, agents.peer(0));
  client.request(1, "_acme/ask", { a: 1 });
  agent.answer(await agent.asked("_acme/ask"), { b: 2 });
  assert.deepEqual((await client.answered(1)).result, { b: 2 });
  await chain.close();
  await agent.ended;
});

test("a chain takes initialize in an array with what follows it", async () => {
  const { client, agent: starting, chain } = chained(empty(2));
  const calls = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: hello[1] },
    { jsonrpc: "2.0", id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } },
  ];
  client.sendText(JSON.stringify(calls));
  const agent = await starting;
  agent.answer(await agent.asked("initialize"), introductions[1]);
  agent.answer(await agent.asked("session/new"), { sessionId: "s" });
  const answers = await client.next((message) => Array.isArray(message));
  assert.deepEqual(answers, [
    { jsonrpc: "2.0", id: 1, result: introductions[1] },
    { jsonrpc: "2.0", id: 2, result: { sessionId: "s" } },
  ]);
  await chain.close();
});
