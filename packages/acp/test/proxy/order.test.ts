// What is held, what waits behind it, and what goes first.

import assert from "node:assert/strict";
import { test } from "node:test";
import { answer, proxy } from "../../src/proxy.ts";
import type { Wire } from "../support/raw-line-peer.ts";
import { brief, chained, hello, introductions, logged, newSession, opened, prompt, said } from "./chained.ts";

/** A proxy that holds every message of a method until the test lets it go. */
function gate(method: string, { results = false }: { results?: boolean } = {}) {
  const held: { readonly params: unknown; release(value?: unknown): void; fail(error: unknown): void }[] = [];
  let arrived = Promise.withResolvers<void>();
  const hold = (params: unknown): Promise<undefined> => {
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    held.push({ params, release: (value) => resolve(value as undefined), fail: reject });
    arrived.resolve();
    arrived = Promise.withResolvers();
    return promise;
  };
  const made = proxy({
    name: "gate",
    version: "1",
    ...(results ? { results: { [method]: hold } } : { messages: { [method]: ({ params }) => hold(params) } }),
  });
  const entry = async (at: number) => {
    while (held.length <= at) await arrived.promise;
    return held[at] as (typeof held)[number];
  };
  return { proxy: made, held, entry };
}

const methodsOf = (messages: readonly Wire[]) => messages.map(brief);

test("a held prompt holds what follows it in its session, and other sessions go on", async () => {
  const { proxy: holding, entry } = gate("session/prompt");
  const { client, agent, chain } = await opened([holding]);
  await newSession(client, agent, "t");
  const before = agent.got.length;
  client.request(1, "session/prompt", prompt("s", "one"));
  client.request(2, "session/set_mode", { sessionId: "s", modeId: "x" });
  client.notify("_acme/note", { sessionId: "s" });
  client.request(3, "session/set_mode", { sessionId: "t", modeId: "y" });
  client.notify("_acme/free", {});
  await agent.asked("_acme/free");
  assert.deepEqual(methodsOf(agent.got.slice(before)), ["session/set_mode", "_acme/free"]);
  (await entry(0)).release();
  await agent.asked("_acme/note");
  assert.deepEqual(methodsOf(agent.got.slice(before + 2)), [
    "session/prompt one",
    "session/set_mode",
    "_acme/note",
  ]);
  await chain.close();
});

test("an answer overtakes a held question, and the updates before the answer go first (P14)", async () => {
  const { proxy: holding, entry } = gate("session/request_permission");
  const { client, agent, chain } = await opened([holding]);
  client.request(1, "session/prompt", prompt("s", "go"));
  const asked = await agent.asked("session/prompt");
  const before = client.got.length;
  agent.request(7, "session/request_permission", { sessionId: "s", toolCall: {}, options: [] });
  agent.notify("session/update", said("s", "a"));
  agent.notify("session/update", said("s", "b"));
  const question = await entry(0);
  await new Promise(setImmediate);
  assert.deepEqual(client.got.slice(before), []);
  agent.answer(asked, { stopReason: "end_turn" });
  await client.answered(1);
  assert.deepEqual(methodsOf(client.got.slice(before)), [
    "session/update a",
    "session/update b",
    '1: {"stopReason":"end_turn"}',
  ]);
  question.release();
  await client.asked("session/request_permission");
  await chain.close();
});

test("a held update keeps the answer behind it (P14)", async () => {
  const { proxy: holding, entry } = gate("session/update");
  const { client, agent, chain } = await opened([holding]);
  client.request(1, "session/prompt", prompt("s", "go"));
  const asked = await agent.asked("session/prompt");
  const before = client.got.length;
  agent.notify("session/update", said("s", "a"));
  agent.notify("session/update", said("s", "b"));
  agent.answer(asked, { stopReason: "end_turn" });
  (await entry(0)).release();
  (await entry(1)).release();
  await client.answered(1);
  assert.deepEqual(methodsOf(client.got.slice(before)), [
    "session/update a",
    "session/update b",
    '1: {"stopReason":"end_turn"}',
  ]);
  await chain.close();
});

test("both cancels overtake what is held, and a held request that is cancelled is answered at once", async () => {
  const { proxy: holding, entry } = gate("_acme/slow");
  const { client, agent, chain } = await opened([holding]);
  client.request(1, "_acme/slow", { sessionId: "s" });
  client.request(2, "_acme/next", { sessionId: "s" });
  await entry(0);
  client.notify("session/cancel", { sessionId: "s" });
  await agent.asked("session/cancel");
  client.notify("$/cancel_request", { requestId: 2 });
  assert.equal((await client.answered(2)).error?.code, -32800);
  client.notify("$/cancel_request", { requestId: 1 });
  assert.equal((await client.answered(1)).error?.code, -32800);
  // what was late for them changes nothing
  (await entry(0)).release();
  client.request(3, "_acme/after", { sessionId: "s" });
  agent.answer(await agent.asked("_acme/after"), {});
  await client.answered(3);
  assert.deepEqual(
    agent.got.map(({ method }) => method).filter((method) => method?.startsWith("_acme/")),
    ["_acme/after"],
  );
  assert.equal(client.got.filter(({ id }) => id === 1).length, 1);
  await chain.close();
});

for (const [version, answers] of [
  [1, { result: { stopReason: "cancelled" } }],
  [2, { error: { code: -32800, message: "cancelled" } }],
] as const) {
  test(`session/cancel withdraws the prompts that still wait: none reaches the agent (v${version})`, async () => {
    const { proxy: holding, entry, held } = gate("session/prompt");
    const { client, agent, chain } = await opened([holding], { version });
    client.request(1, "session/prompt", prompt("s", "one"));
    client.request(2, "session/prompt", prompt("s", "two"));
    client.request(3, "session/prompt", prompt("s", "three"));
    await entry(0);
    client.notify("session/cancel", { sessionId: "s" });
    for (const id of [1, 2, 3]) {
      const { jsonrpc: _, id: __, ...rest } = (await client.answered(id)) as Wire & { jsonrpc?: unknown };
      assert.deepEqual(rest, answers);
    }
    await agent.asked("session/cancel");
    assert.equal(held.length, 1, "the prompts behind it are not looked at");
    client.request(4, "session/prompt", prompt("s", "four"));
    (await entry(1)).release();
    assert.equal(brief(await agent.asked("session/prompt")), "session/prompt four");
    await chain.close();
  });
}

test("session/cancel answers a question that a proxy still holds: the user has cancelled it", async () => {
  const { proxy: holding, entry, held } = gate("session/request_permission");
  const { client, agent, chain } = await opened([holding]);
  client.request(1, "session/prompt", prompt("s", "go"));
  const asked = await agent.asked("session/prompt");
  agent.request("q", "session/request_permission", { sessionId: "s", toolCall: {}, options: [] });
  await entry(0);
  client.notify("session/cancel", { sessionId: "s" });
  assert.deepEqual((await agent.answered("q")).result, { outcome: { outcome: "cancelled" } });
  held[0]?.release();
  agent.answer(asked, { stopReason: "cancelled" });
  await client.answered(1);
  assert.equal(
    client.got.some(({ method }) => method === "session/request_permission"),
    false,
  );
  await chain.close();
});

test("a request that opens a session holds what names it, and the replay before its answer passes in order (P29)", async () => {
  const { proxy: looking } = gate("_never");
  const { client, agent, chain } = await opened([looking]);
  client.request(1, "session/load", { sessionId: "old", cwd: "/", mcpServers: [] });
  client.request(2, "session/prompt", prompt("old", "early"));
  client.request(3, "session/prompt", prompt("s", "other"));
  const load = await agent.asked("session/load");
  assert.equal(brief(await agent.asked("session/prompt")), "session/prompt other");
  const before = client.got.length;
  for (const words of ["a", "b", "c"]) agent.notify("session/update", said("old", words));
  agent.answer(load, {});
  assert.equal(brief(await agent.asked("session/prompt")), "session/prompt early");
  await client.answered(1);
  assert.deepEqual(methodsOf(client.got.slice(before)), [
    "session/update a",
    "session/update b",
    "session/update c",
    "1: {}",
  ]);
  await chain.close();
});

test("a held answer to session/new holds the updates of the new session (P14)", async () => {
  const { proxy: holding, entry } = gate("session/new", { results: true });
  const { client, agent: starting, chain } = chained([holding]);
  client.request(0, "initialize", hello[1]);
  const agent = await starting;
  agent.answer(await agent.asked("initialize"), introductions[1]);
  await client.answered(0);
  client.request(1, "session/new", { cwd: "/", mcpServers: [] });
  agent.answer(await agent.asked("session/new"), { sessionId: "n" });
  agent.notify("session/update", said("n", "early"));
  agent.notify("session/update", said("m", "of another"));
  await client.asked("session/update");
  (await entry(0)).release();
  await client.asked("session/update");
  assert.deepEqual(methodsOf(client.got.slice(1)), [
    "session/update of another",
    '1: {"sessionId":"n"}',
    "session/update early",
  ]);
  await chain.close();
});

test("a session that could not be opened leaves nothing behind (P28)", async () => {
  const { proxy: looking } = gate("_never");
  const { client, agent, chain } = await opened([looking]);
  client.request(1, "session/load", { sessionId: "old", cwd: "/", mcpServers: [] });
  client.request(2, "session/set_mode", { sessionId: "old", modeId: "x" });
  const load = await agent.asked("session/load");
  agent.send({ jsonrpc: "2.0", id: load.id, error: { code: -32002, message: "no such session" } });
  assert.equal((await client.answered(1)).error?.message, "no such session");
  agent.answer(await agent.asked("session/set_mode"), {});
  await client.answered(2);
  await chain.close();
});

test("initialize holds everything that comes in the same write", async () => {
  const { proxy: holding, entry } = gate("initialize");
  const { client, agent: starting, chain } = chained([holding]);
  client.request(1, "initialize", hello[1]);
  client.request(2, "session/new", { cwd: "/", mcpServers: [] });
  client.notify("_acme/note", {});
  (await entry(0)).release();
  const agent = await starting;
  const asked = await agent.asked("initialize");
  await new Promise(setImmediate);
  assert.equal(agent.got.length, 1);
  agent.answer(asked, introductions[1]);
  agent.answer(await agent.asked("session/new"), { sessionId: "s" });
  await client.answered(2);
  assert.deepEqual(methodsOf(agent.got), ["initialize", "session/new", "_acme/note"]);
  await chain.close();
});

test("a cancel of a request whose result a hook holds is answered (P18)", async () => {
  const { proxy: holding, entry } = gate("_acme/ask", { results: true });
  const { client, agent, chain } = await opened([holding]);
  client.request(1, "_acme/ask", { sessionId: "s" });
  agent.answer(await agent.asked("_acme/ask"), { secret: true });
  await entry(0);
  client.notify("$/cancel_request", { requestId: 1 });
  const { error, result } = await client.answered(1);
  assert.equal(error?.code, -32800);
  assert.equal(result, undefined);
  await chain.close();
});

test("a hook that never settles: the end of the chain answers what waits for it", async () => {
  const { proxy: holding, entry } = gate("session/prompt");
  const { client, chain } = await opened([holding]);
  client.request(1, "session/prompt", prompt("s", "one"));
  client.request(2, "session/prompt", prompt("s", "two"));
  await entry(0);
  await chain.close();
  for (const id of [1, 2]) assert.equal((await client.answered(id)).error?.code, -32800);
  await client.ended;
});

test("a hook that throws late lets the message pass, and one with closed errors refuses it", async () => {
  for (const errors of ["open", "closed"] as const) {
    const { proxy: holding, entry } = gate("session/prompt");
    const { lines, log } = logged();
    const { client, agent, chain } = await opened([{ name: "gate", start: holding, errors }], {
      options: { log },
    });
    client.request(1, "session/prompt", prompt("s", "one"));
    (await entry(0)).fail(new Error("boom"));
    if (errors === "open") agent.answer(await agent.asked("session/prompt"), { stopReason: "end_turn" });
    const { error, result } = await client.answered(1);
    if (errors === "open") assert.deepEqual(result, { stopReason: "end_turn" });
    else {
      assert.equal(error?.code, -32603);
      assert.match(error?.message ?? "", /^gate failed/);
    }
    assert.match(lines.join("\n"), /a hook of gate failed/);
    await chain.close();
  }
});

test("too much behind a held message ends the chain with the name of the proxy (P27)", async () => {
  const { proxy: holding, entry } = gate("session/prompt");
  const { lines, log } = logged();
  const { client, chain, connection } = await opened([holding], { options: { log } });
  client.request(1, "session/prompt", prompt("s", "held"));
  await entry(0);
  const large = "x".repeat(1024 * 1024);
  for (let i = 0; i < 40; i++) client.notify("_acme/note", { sessionId: "s", large });
  const { error } = await client.answered(1);
  assert.match(error?.message ?? "", /^gate: more than 33554432 characters wait in it/);
  assert.match((await connection.closed).message, /^gate: more than 33554432 characters wait in it$/);
  assert.equal(lines.filter((line) => line.includes("the chain ends")).length, 1);
  await chain.close();
});

test("an answer with a promise holds no other message, and is cancelled with its request", async () => {
  const coming = Promise.withResolvers<unknown>();
  const aborted: string[] = [];
  const elsewhere = proxy({
    name: "elsewhere",
    version: "1",
    errors: "closed",
    messages: {
      "session/prompt"(_, __, call) {
        call?.signal.addEventListener("abort", () => aborted.push(call.method));
        return answer(coming.promise);
      },
      "_acme/fails": () => answer(Promise.reject(new Error("oh"))),
    },
  });
  const { client, agent, chain } = await opened([elsewhere]);
  client.request(1, "session/prompt", prompt("s", "one"));
  client.request(2, "session/prompt", prompt("s", "two"));
  client.request(3, "session/set_mode", { sessionId: "s", modeId: "x" });
  client.notify("session/cancel", { sessionId: "s" });
  assert.equal((await agent.asked("session/set_mode")).params?.["modeId"], "x");
  await agent.asked("session/cancel");
  client.notify("$/cancel_request", { requestId: 2 });
  assert.equal((await client.answered(2)).error?.code, -32800);
  assert.deepEqual(aborted, ["session/prompt"]);
  coming.resolve({ stopReason: "cancelled" });
  assert.deepEqual((await client.answered(1)).result, { stopReason: "cancelled" });
  client.request(4, "_acme/fails", { sessionId: "s" });
  assert.match((await client.answered(4)).error?.message ?? "", /elsewhere failed/);
  await chain.close();
});
