// What a hostile agent, client or component may try behind or in front of a proxy.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent } from "../../src/index.ts";
import { type ProxiedSession, proxy } from "../../src/proxy.ts";
import { byHand, chained, empty, hello, opened, prompt, said, served, text } from "./chained.ts";

test("an agent that names sessions nobody has opened makes no proxy forget one, or remember much", async () => {
  const made: string[] = [];
  const seen: number[] = [];
  const counting = proxy<{ n: number }>({
    name: "counting",
    version: "1",
    session: ({ sessionId }) => {
      made.push(sessionId);
      return { n: 0 };
    },
    prompt(_, { data }) {
      data.n += 1;
      seen.push(data.n);
    },
    update: () => undefined,
  });
  const { client, agent, chain } = await opened([counting]);
  for (const id of [1, 2]) {
    client.request(id, "session/prompt", prompt("s", "go"));
    agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
    await client.answered(id);
    for (let i = 0; i < 17_000; i++) agent.notify("session/update", said(`made-up-${i}`, "x"));
    agent.notify("session/update", said("long".repeat(1_000), "x"));
    agent.notify("_acme/end", {});
    await client.asked("_acme/end");
  }
  assert.deepEqual(seen, [1, 2]);
  assert.ok(made.every((id) => id.length < 1_025));
  await chain.close();
});

test("a change of a field that the protocol does not have is made where the field is", async () => {
  const upper = proxy({
    name: "upper",
    version: "1",
    prompt: (given) => JSON.parse(JSON.stringify(given).replaceAll("secret", "[x]")) as typeof given,
  });
  const { client, agent, chain } = await opened([upper]);
  const block = { ...text("a secret"), note: "secret", _meta: { k: "secret" } };
  client.request(1, "session/prompt", { sessionId: "s", prompt: [block], extra: { of: "secret" } });
  const asked = await agent.asked("session/prompt");
  assert.deepEqual(asked.params, {
    sessionId: "s",
    prompt: [{ type: "text", text: "a [x]", note: "[x]", _meta: { k: "[x]" } }],
    extra: { of: "[x]" },
  });
  await chain.close();
});

test("under a policy nothing passes in the wrong kind of message, or of a kind that is not known", async () => {
  const asked: unknown[] = [];
  const policy = proxy({
    name: "policy",
    version: "1",
    policy: true,
    prompt: (given) => void asked.push(given),
    update: () => undefined,
    permission: (ask) => void asked.push(ask),
    elicitation: (ask) => void asked.push(ask),
  });
  const { client, agent, chain } = await opened([policy]);
  client.notify("session/prompt", prompt("s", "run it"));
  agent.notify("session/request_permission", { sessionId: "s", toolCall: { toolCallId: "t" }, options: [] });
  agent.request(1, "session/update", said("s", "hidden"));
  agent.request(2, "elicitation/create", { sessionId: "s", mode: "telepathy", message: "think" });
  for (const id of [1, 2]) assert.equal((await agent.answered(id)).error?.code, -32602);
  client.notify("_acme/end", {});
  agent.notify("_acme/end", {});
  await Promise.all([client.asked("_acme/end"), agent.asked("_acme/end")]);
  const ordinary = (messages: readonly { method?: string }[]) =>
    messages.filter(
      ({ method }) =>
        method === "session/prompt" || method === "session/request_permission" || method === "session/update",
    );
  assert.deepEqual([ordinary(client.got), ordinary(agent.got), asked], [[], [], []]);
  await chain.close();
});

test("a second method in a message is seen by the hook of that method", async () => {
  const hooked: string[] = [];
  const watching = proxy({
    name: "watching",
    version: "1",
    messages: {
      "_secret/leak"(_, session: ProxiedSession | undefined) {
        hooked.push(session?.sessionId ?? "none");
        return null;
      },
    },
  });
  const { client, agent, chain } = await opened([watching]);
  const update = '"params":{"sessionId":"s","update":{"sessionUpdate":"x"}}';
  agent.sendText(
    `{"jsonrpc":"2.0","method":"session/update",${update},"method":"_secret/leak","params":{"a":{}}}`,
  );
  agent.notify("_acme/end", {});
  await client.asked("_acme/end");
  assert.deepEqual(hooked, ["none"]);
  assert.ok(!client.texts.some((each) => each.includes("_secret")));
  await chain.close();
});

test("no envelope comes in an envelope, and none from an agent", async () => {
  const component = byHand();
  const { client, agent: starting, chain } = chained([{ name: "p", start: component.start }]);
  client.request(0, "initialize", { protocolVersion: 1 });
  const peer = await component.peer(0);
  const first = await peer.asked("proxy/initialize");
  peer.request(1, "proxy/successor", { method: "initialize", params: first.params });
  const agent = await starting;
  agent.answer(await agent.asked("initialize"), { protocolVersion: 1, agentCapabilities: {} });
  peer.answer(first, (await peer.answered(1)).result);
  await client.answered(0);
  const inner = { method: "session/request_permission", params: {} };
  peer.request(2, "proxy/successor", { method: "proxy/successor", params: inner });
  assert.equal((await peer.answered(2)).error?.code, -32600);
  agent.request(3, "proxy/successor", inner);
  assert.equal((await agent.answered(3)).error?.code, -32600);
  agent.request(4, "initialize", { protocolVersion: 1 });
  assert.equal((await agent.answered(4)).error?.code, -32600);
  await chain.close();
});

test("__proto__ and constructor are keys like any other, through proxies, in the store and in a history (N075, N076)", async () => {
  const keys = '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
  const changing = proxy({
    name: "changing",
    version: "1",
    prompt: ({ content }) => ({ content: [...content, text("changed") as never] }),
    update: (update) => ({ ...update }),
  });
  const behind = agent({ name: "a", version: "1", prompt: () => undefined });
  const { client, chain } = served([...empty(1), changing, behind]);
  client.request("hello", "initialize", hello[1]);
  await client.answered("hello");
  client.request("new", "session/new", { cwd: "/", mcpServers: [] });
  const sessionId = String((await client.answered("new")).result?.["sessionId"]);
  const block = `{"type":"text","text":"hi","_meta":${keys}}`;
  client.sendText(
    `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"${sessionId}","prompt":[${block}],"_meta":${keys}}}`,
  );
  assert.equal((await client.answered(1)).result?.["stopReason"], "end_turn");
  client.request("load", "session/load", { sessionId, cwd: "/", mcpServers: [] });
  await client.answered("load");
  const [replayed = ""] = client.texts.filter((each) => each.includes("user_message_chunk"));
  assert.ok(replayed.includes(`"_meta":${keys}`), replayed);
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  await chain.close();
});
