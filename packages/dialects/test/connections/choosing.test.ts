import assert from "node:assert/strict";
import { test } from "node:test";
import { type AgentConnection, type AgentDefinition, agent, client, type Editions } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed } from "@parley/dialects";
import { type Message, RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";

const plain = { protocolVersion: 1, clientInfo: { name: "Pharo IDE", version: "1" } };
const pharoTerminal = { create: true, output: true, waitForExit: true, kill: true, release: true };
const pharo = { ...plain, clientCapabilities: { fs: {}, terminal: pharoTerminal } };

function served(
  editions: Editions,
  more: Partial<AgentDefinition> = {},
): { peer: RawPeer; connection: AgentConnection; tapped: string[] } {
  const [near, far] = memoryPair();
  const tapped: string[] = [];
  const connection = agent({
    name: "a",
    version: "1",
    editions,
    prompt: (turn) => turn.say("hello").then(() => undefined),
    connection: { tap: (direction, text) => void tapped.push(`${direction} ${text}`) },
    ...more,
  }).connect(far);
  return { peer: new RawPeer(near), connection, tapped };
}

const resultOf = (message: Message): Message => message["result"] as Message;

test("an agent that speaks pharo answers it by the shape of initialize", async () => {
  const { peer, connection, tapped } = served(["v2", "v1", editionNamed("pharo")]);
  const welcome = resultOf(await peer.ask(1, "initialize", pharo));
  assert.ok(Array.isArray(welcome["authenticationMethods"]));
  assert.equal(connection.edition, "pharo");
  // a tap sees what travels
  assert.ok(tapped.some((line) => line.startsWith("out") && line.includes("authenticationMethods")));
  await connection.close();
});

test("where initialize cannot tell, the edition that is named first counts", async () => {
  for (const [editions, spoken, update] of [
    [[editionNamed("pharo"), "v1"], "pharo", { type: "message" }],
    [["v1", editionNamed("pharo")], "v1", { sessionUpdate: "agent_message_chunk" }],
    [["v2", editionNamed("pharo")], "pharo", { type: "message" }],
  ] as const) {
    const { peer, connection } = served(editions);
    await peer.ask(1, "initialize", plain);
    assert.equal(connection.edition, spoken);
    const { sessionId } = resultOf(await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] }));
    await peer.ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] });
    const told = await peer.until(({ method }) => method === "session/update");
    const { type, sessionUpdate } = (told["params"] as { update: Message }).update;
    assert.deepEqual(JSON.parse(JSON.stringify({ type, sessionUpdate })), update);
    await connection.close();
  }
});

test("a client that says it is of version 1 is never taken for pharo", async () => {
  const { peer, connection } = served([editionNamed("pharo"), "v1"]);
  const v1 = { ...plain, clientCapabilities: { terminal: true } };
  assert.deepEqual(resultOf(await peer.ask(1, "initialize", v1))["authMethods"], []);
  assert.equal(connection.edition, "v1");
  await connection.close();
});

test("messages that come in one write with initialize wait for the dialect, in order", async () => {
  const { peer, connection } = served([editionNamed("pharo")]);
  const sent = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: pharo },
    { jsonrpc: "2.0", id: 2, method: "session/new", params: { cwd: "/w", mcpServers: [] } },
    { jsonrpc: "2.0", id: 3, method: "nothing/such", params: {} },
  ];
  for (const message of sent) peer.send(message);
  await peer.until(({ id }) => id === 3);
  const opened = await peer.until(({ id }) => id === 2);
  assert.ok(resultOf(opened)["sessionId"]);
  const order = peer.got.map(({ id }) => id);
  assert.ok(order.indexOf(1) < order.indexOf(2));
  await connection.close();
});

test("an id that a number cannot hold is answered as it came", async () => {
  const { peer, connection } = served([editionNamed("pharo")]);
  await peer.ask(1, "initialize", pharo);
  const text = `{"jsonrpc":"2.0","id":9007199254740993,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`;
  peer.send(JSON.parse(text), text);
  await peer.until(({ result, id }) => result !== undefined && id !== 1);
  assert.match(peer.texts.at(-1) ?? "", /"id":9007199254740993[,}]/);
  await connection.close();
});

test("every entry of a batch is answered", async () => {
  const { peer, connection } = served([editionNamed("pharo")]);
  await peer.ask(1, "initialize", pharo);
  const { sessionId } = resultOf(await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] }));
  const entry = (id: number) => ({ jsonrpc: "2.0", id, method: "nothing/such", params: { sessionId } });
  peer.send([entry(7), entry(8)]);
  await peer.until(({ id }) => id === 8);
  assert.ok(peer.got.some(({ id }) => id === 7));
  await connection.close();
});

test("a client follows an agent that answers in a dialect it knows", async () => {
  const [near, far] = memoryPair();
  new RawPeer(far, (message, self) => {
    if (message["method"] === "initialize")
      self.answer(message, {
        protocolVersion: 1,
        agentCapabilities: { sessionModes: [{ modeId: "ask", title: "Ask", description: "" }] },
        authenticationMethods: [],
      });
    if (message["method"] === "session/new") self.answer(message, { sessionId: "s" });
  });
  const connection = await client({
    name: "c",
    version: "1",
    editions: ["v2", "v1", editionNamed("pharo")],
  }).connect(near);
  assert.equal(connection.edition, "pharo");
  const session = await connection.newSession({ cwd: "/w" });
  assert.deepEqual(
    session.configOptions.map(({ category }) => category),
    ["mode"],
  );
  await connection.close();
});

test("a client that speaks version 1 too takes an agent that answers in it", async () => {
  const [near, far] = memoryPair();
  agent({ name: "a", version: "1", editions: ["v1"], prompt: () => undefined }).connect(far);
  const connection = await client({
    name: "c",
    version: "1",
    editions: ["v1", editionNamed("pharo"), editionNamed("scoped")],
  }).connect(near);
  assert.equal(connection.edition, "v1");
  await connection.close();
});

test("an agent of dialects alone refuses version 2 in a sentence", async () => {
  const { peer, connection } = served([editionNamed("pharo")]);
  const v2 = { protocolVersion: 2, info: { name: "x", version: "1" }, capabilities: {} };
  const { error } = (await peer.ask(1, "initialize", v2)) as { error?: Message };
  assert.match(String(error?.["message"]), /^initialize: this agent speaks only "pharo"; /);
  // the client may try again in a language that it understands
  assert.ok(resultOf(await peer.ask(2, "initialize", pharo)));
  await connection.close();
});

test("a client of one dialect says so when the agent answers in the other", async () => {
  const scopedWelcome = { protocolVersion: 1, capabilities: {} };
  const pharoWelcome = { protocolVersion: 1, agentCapabilities: {}, authenticationMethods: [] };
  for (const [edition, welcome, told] of [
    ["pharo", scopedWelcome, "scoped"],
    ["scoped", pharoWelcome, "pharo"],
  ] as const) {
    const [near, far] = memoryPair();
    new RawPeer(far, (message, self) => self.answer(message, welcome));
    await assert.rejects(
      client({ name: "c", version: "1", editions: [editionNamed(edition)] }).connect(near),
      new RegExp(`the answer to initialize: this is written in the dialect "${told}"`),
    );
  }
});
