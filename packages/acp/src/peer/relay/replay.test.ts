// Histories through a relay: nothing of them is lost, messages are whole and keep their ids, and an open session is answered
// by the relay.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  between,
  introduction,
  type Message,
  type RawPeer,
  welcome,
} from "../../../test/support/raw-peer-probe.ts";
import type { RelayOptions } from "./relay-options.ts";

const deadline = { timeout: 20_000 };
const place = { sessionId: "old", cwd: "/w", mcpServers: [] };
const fromStart = { ...place, replayFrom: { type: "start" } };
const text = (words: string): Message => ({ type: "text", text: words });

function say(peer: RawPeer, ...updates: readonly Message[]): void {
  for (const update of updates)
    peer.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "old", update } });
}

const updatesOf = (peer: RawPeer): Message[] =>
  peer.got
    .filter(({ method }) => method === "session/update")
    .map(({ params }) => (params as { update: Message }).update);

/** An agent of version 1 whose session has this history, and a client of version 2. */
async function withHistory(history: readonly Message[], options: RelayOptions = {}, load: object = {}) {
  const loads: Message[] = [];
  const sides = between((message, peer) => {
    if (message.method === "initialize")
      peer.answer(message, welcome(1, { loadSession: true, sessionCapabilities: { close: {}, resume: {} } }));
    if (message.method === "session/load" || message.method === "session/resume") {
      loads.push(message);
      if (message.method === "session/load") say(peer, ...history);
      peer.answer(message, load);
    }
    if (message.method === "session/new") peer.answer(message, { sessionId: "old" });
    if (message.method === "session/close") peer.answer(message, {});
    if (message.method === "session/prompt") {
      say(peer, { sessionUpdate: "agent_message_chunk", content: text("live") });
      peer.answer(message, { stopReason: "end_turn" });
    }
  }, options);
  await sides.client.ask(1, "initialize", introduction(2));
  return { ...sides, loads };
}

const history = [
  { sessionUpdate: "user_message_chunk", content: text("hello") },
  { sessionUpdate: "agent_message_chunk", content: text("one ") },
  { sessionUpdate: "agent_message_chunk", content: text("two") },
  { sessionUpdate: "tool_call", toolCallId: "t", title: "Look", status: "completed" },
  { sessionUpdate: "agent_message_chunk", content: text("three") },
];

test(
  "an update with a field that the protocol does not have arrives, with the field in _meta",
  deadline,
  async () => {
    const odd = history.map((update) => ({ ...update, timestamp: 7, _meta: { mine: 1 } }));
    const { client, relayed } = await withHistory(odd);
    await client.ask(2, "session/resume", fromStart);
    const shown = updatesOf(client).filter(({ _meta }) => _meta !== undefined);
    assert.equal(shown.length, history.length);
    for (const update of shown) {
      assert.deepEqual(update._meta, { mine: 1, "_parley.dev/extra": { timestamp: 7 } });
      assert.equal("timestamp" in update, false);
    }
    await relayed.close();
  },
);

test(
  "fields that the protocol does not have arrive in _meta of the object that they belong to, also from version 2",
  deadline,
  async () => {
    const { client, agent, relayed } = between((message, peer) => {
      if (message.method === "initialize") peer.answer(message, welcome(2));
      if (message.method === "session/new")
        peer.answer(message, { sessionId: "old", configOptions: [], availableCommands: [], colour: "red" });
      if (message.method === "session/prompt") peer.answer(message, { messageId: "m" });
    });
    await client.ask(1, "initialize", introduction(1));
    const { result } = await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
    assert.deepEqual((result as Message)._meta, { "_parley.dev/extra": { colour: "red" } });
    const prompt = [{ ...text("go"), timestamp: 1 }];
    void client.ask(3, "session/prompt", { sessionId: "old", prompt });
    const asked = await agent.until(({ method }) => method === "session/prompt");
    const [block] = (asked.params as { prompt: Message[] }).prompt;
    assert.deepEqual(block, { ...text("go"), _meta: { "_parley.dev/extra": { timestamp: 1 } } });
    say(agent, {
      sessionUpdate: "plan_update",
      plan: {
        type: "items",
        planId: "p",
        entries: [{ content: "x", priority: "low", status: "pending", owner: "me" }],
      },
    });
    await client.until(({ method }) => method === "session/update");
    const [plan] = updatesOf(client);
    assert.deepEqual((plan?.entries as Message[] | undefined)?.[0]?._meta, {
      "_parley.dev/extra": { owner: "me" },
    });
    await relayed.close();
  },
);

test(
  "each load gives a message without an id the same id, and sends it as a whole first",
  deadline,
  async () => {
    const ids: unknown[] = [];
    for (const _ of [1, 2]) {
      const { client, relayed } = await withHistory(history);
      await client.ask(2, "session/resume", fromStart);
      const said = updatesOf(client).filter(({ messageId }) => messageId !== undefined);
      const firsts = new Map<unknown, unknown>();
      for (const { messageId, sessionUpdate } of said)
        if (!firsts.has(messageId)) firsts.set(messageId, sessionUpdate);
      assert.deepEqual([...firsts.values()], ["user_message", "agent_message", "agent_message"]);
      ids.push([...firsts.keys()]);
      await relayed.close();
    }
    assert.deepEqual(ids[0], ids[1]);
  },
);

test(
  "a message keeps its id when its session is closed and loaded on the same connection",
  deadline,
  async () => {
    const { client, relayed } = await withHistory([
      { sessionUpdate: "user_message_chunk", content: text("go") },
      { sessionUpdate: "agent_message_chunk", content: text("live") },
    ]);
    await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
    await client.ask(3, "session/prompt", { sessionId: "old", prompt: [text("go")] });
    await client.until(({ params }) => ((params as Message)?.update as Message)?.state === "idle");
    const idsOf = () => new Set(updatesOf(client).flatMap(({ messageId }) => messageId ?? []));
    const live = idsOf();
    assert.equal(live.size, 2);
    await client.ask(4, "session/close", { sessionId: "old" });
    client.got.length = 0;
    await client.ask(5, "session/resume", fromStart);
    assert.deepEqual(idsOf(), live);
    await relayed.close();
  },
);

test(
  "a session that is open is resumed and loaded by the relay, and the agent is not asked",
  deadline,
  async () => {
    const { client, loads, relayed } = await withHistory(history);
    await client.ask(2, "session/resume", fromStart);
    const first = updatesOf(client).filter(({ sessionUpdate }) => sessionUpdate !== "state_update");
    client.got.length = 0;
    assert.ok((await client.ask(3, "session/resume", place)).result);
    assert.deepEqual(
      updatesOf(client).map(({ state }) => state),
      ["idle"],
    );
    client.got.length = 0;
    assert.ok((await client.ask(4, "session/resume", fromStart)).result);
    const again = updatesOf(client).filter(({ sessionUpdate }) => sessionUpdate !== "state_update");
    // whole messages now: what it is made of is the same
    const texts = (updates: readonly Message[]) =>
      updates.map((update) => [
        update.messageId,
        JSON.stringify(update.content ?? "").match(/"text":"([^"]*)/)?.[1],
      ]);
    assert.deepEqual(
      again.map(({ sessionUpdate }) => sessionUpdate),
      ["user_message", "agent_message", "tool_call_update", "agent_message"],
    );
    assert.deepEqual(texts(again)[1], [first[1]?.messageId, "one two"]);
    assert.equal(loads.length, 1);
    await relayed.close();
  },
);

test(
  "a session with other servers is asked of the agent; if it refuses one that is open, the relay answers and says so",
  deadline,
  async () => {
    const lost: unknown[] = [];
    const { client, agent, relayed } = between(
      (message, peer) => {
        if (message.method === "initialize") peer.answer(message, welcome(1));
        if (message.method === "session/new") peer.answer(message, { sessionId: "old" });
        if (message.method !== "session/load") return;
        peer.send({
          jsonrpc: "2.0",
          id: message.id,
          error: { code: -32066, message: "it is loaded already", data: { reason: "session_held" } },
        });
      },
      {
        log: (_level, _message, details) =>
          void lost.push(...((((details ?? {}) as Message).lost as [] | undefined) ?? [])),
      },
    );
    await client.ask(1, "initialize", introduction(2));
    await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
    const server = { type: "stdio", name: "s", command: "/bin/s" };
    const { result } = await client.ask(3, "session/resume", { ...place, mcpServers: [server] });
    assert.ok(result);
    assert.ok(agent.got.some(({ method }) => method === "session/load"));
    assert.deepEqual(lost, ["other directories and servers for a session that is open"]);
    await relayed.close();
  },
);

test(
  "an update that is not valid is dropped, and the end of the turn and the log name it once, with a count",
  deadline,
  async () => {
    const logged: { message: string; details: Message }[] = [];
    const { client, agent, relayed } = between(
      (message, peer) => {
        if (message.method === "initialize") peer.answer(message, welcome(1));
        if (message.method === "session/new") peer.answer(message, { sessionId: "old" });
        if (message.method !== "session/prompt") return;
        for (let i = 0; i < 3; i++) say(peer, { sessionUpdate: "tool_call", title: "no id" });
        peer.answer(message, { stopReason: "end_turn" });
      },
      { log: (_level, message, details) => void logged.push({ message, details: details as Message }) },
    );
    await client.ask(1, "initialize", introduction(2));
    await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
    await client.ask(3, "session/prompt", { sessionId: "old", prompt: [text("go")] });
    const { params } = await client.until(
      ({ params }) => ((params as Message)?.update as Message)?.state === "idle",
    );
    const { _meta } = (params as { update: { _meta?: Message } }).update;
    const what =
      "an update tool_call that is not valid: params/update/toolCallId must be string, got nothing";
    assert.deepEqual(_meta, { "_parley.dev/lost": [what] });
    await relayed.close();
    await agent.ended.promise;
    assert.equal(logged.filter(({ details }) => JSON.stringify(details ?? {}).includes(what)).length, 2);
    assert.ok(
      logged.some(
        ({ message }) => message === "dropped an update that is not valid: 3 times on this connection",
      ),
    );
    const { details } = logged.find(({ message }) => message === "lost in translation, in all") ?? {};
    assert.deepEqual(details?.counts, { [what]: 3 });
  },
);

test(
  "a long message that the relay says again is whole, in as many messages as it takes",
  deadline,
  async () => {
    const pieces = ["begin ", "and ", ...Array.from({ length: 15 }, () => "\x01".repeat(500_000)), " end"];
    const long = pieces.map((words) => ({
      sessionUpdate: "agent_message_chunk",
      messageId: "m",
      content: text(words),
    }));
    const { client, relayed, loads } = await withHistory(long);
    await client.ask(2, "session/resume", fromStart);
    client.got.length = 0;
    await client.ask(3, "session/resume", fromStart);
    assert.equal(loads.length, 1);
    const [whole, ...rest] = updatesOf(client).filter(({ messageId }) => messageId === "m");
    assert.equal(whole?.sessionUpdate, "agent_message");
    const words = [whole?.content as Message[], ...rest.map(({ content }) => content as Message)].flat();
    assert.ok(words.map(({ text: said }) => said).join("") === pieces.join(""));
    assert.ok(rest.length > 30);
    await relayed.close();
  },
);

test(
  "what an agent refuses for another reason than that the session is open stays refused",
  deadline,
  async () => {
    let error = {};
    const { client, relayed } = between((message, peer) => {
      if (message.method === "initialize") peer.answer(message, welcome(1));
      if (message.method === "session/new") peer.answer(message, { sessionId: "old" });
      if (message.method === "session/load") peer.send({ jsonrpc: "2.0", id: message.id, error });
    });
    await client.ask(1, "initialize", introduction(2));
    await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
    const server = { type: "stdio", name: "s", command: "/bin/s" };
    const others = { ...place, mcpServers: [server] };
    const elsewhere = { ...place, cwd: "/elsewhere" };
    const cases = [
      [others, -32602],
      [others, -32000],
      [others, -32002],
      [others, -32603],
      [elsewhere, -32602],
      [elsewhere, -32066],
    ] as const;
    let id = 3;
    for (const [params, code] of cases) {
      error = { code, message: "no" };
      const answer = await client.ask(id++, "session/resume", params);
      assert.equal((answer.error as { code?: number } | undefined)?.code, code);
    }
    await relayed.close();
  },
);

test("a close that comes during a load closes the session, also at the agent", deadline, async () => {
  const loading = Promise.withResolvers<Message>();
  const { client, agent, relayed } = between((message, peer) => {
    if (message.method === "initialize")
      peer.answer(message, welcome(1, { loadSession: true, sessionCapabilities: { close: {} } }));
    if (message.method === "session/load") loading.resolve(message);
    if (message.method === "session/close") peer.answer(message, {});
  });
  await client.ask(1, "initialize", introduction(2));
  const loaded = client.ask(2, "session/resume", fromStart);
  const load = await loading.promise;
  const closed = client.ask(3, "session/close", { sessionId: "old" });
  await client.ask(4, "session/list", {});
  agent.answer(load, {});
  assert.ok((await loaded).result);
  assert.ok((await closed).result);
  assert.equal(agent.got.filter(({ method }) => method === "session/close").length, 1);
  const { error } = await client.ask(5, "session/prompt", { sessionId: "old", prompt: [text("go")] });
  assert.ok(error);
  await relayed.close();
});
