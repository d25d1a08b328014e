// A relay whose peers do not behave: handshakes out of order, sessions that are opened twice, ends in the middle.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  between,
  introduction,
  type Message,
  RawPeer,
  welcome,
} from "../../../test/support/raw-peer-probe.ts";
import type { Sink, Transport } from "../../jsonrpc/transport.ts";
import { memoryPair } from "../../transport/memory.ts";
import { relay } from "./relay.ts";

const deadline = { timeout: 20_000 };
const silence = (): void => undefined;
const quiet = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("an answer to something that was not asked does not end the handshake", deadline, async () => {
  const { client, relayed } = between((message, peer) => {
    peer.send({ jsonrpc: "2.0", id: 999, result: {} });
    peer.answer(message, welcome(1));
  });
  const { result } = await client.ask(1, "initialize", introduction(1));
  assert.deepEqual(result, welcome(1));
  await relayed.close();
});

for (const version of [1, 2] as const) {
  test(`an agent of version ${version} may answer initialize in a batch, with others`, deadline, async () => {
    const { client, relayed } = between((message, peer) => {
      if (message.method !== "initialize") return;
      const answer = { jsonrpc: "2.0", id: message.id, result: welcome(version) };
      peer.send([
        { jsonrpc: "2.0", method: "_acme/hello" },
        answer,
        { jsonrpc: "2.0", method: "_acme/more" },
      ]);
    });
    const { result } = await client.ask(1, "initialize", introduction(1));
    assert.equal((result as { protocolVersion: number }).protocolVersion, 1);
    await client.until(({ method }) => method === "_acme/hello");
    await client.until(({ method }) => method === "_acme/more");
    await relayed.close();
  });

  test(`an agent of version ${version} may repeat ids as strings (N057)`, deadline, async () => {
    const { client, relayed } = between((message, peer) => {
      const result = message.method === "initialize" ? welcome(version) : { sessionId: "s" };
      peer.answer({ id: String(message.id) }, result);
    });
    const { result } = await client.ask(1, "initialize", introduction(3 - version));
    assert.equal((result as { protocolVersion: number }).protocolVersion, 3 - version);
    const opened = await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
    assert.equal((opened.result as { sessionId: string }).sessionId, "s");
    await relayed.close();
  });

  test(
    `a form for a request without a session reaches the client under the id of its request (agent of version ${version})`,
    deadline,
    async () => {
      const mode = {
        mode: "form",
        message: "Which account?",
        requestedSchema: { type: "object", properties: {} },
      };
      const { client, relayed } = between((message, peer) => {
        if (message.method === "initialize") peer.answer(message, welcome(version));
        if (message.method === "session/new")
          peer.send({
            jsonrpc: "2.0",
            id: "q",
            method: "elicitation/create",
            params: { requestId: message.id, ...mode },
          });
        if (message.id === "q") {
          const { action, content } = message.result as Message;
          const opening = peer.got.find(({ method }) => method === "session/new") ?? {};
          peer.answer(opening, { sessionId: `${action} ${JSON.stringify(content)}` });
        }
      });
      const other = version === 1 ? 2 : 1;
      const elicitation = { form: {} };
      await client.ask(
        1,
        "initialize",
        other === 1
          ? { protocolVersion: 1, clientCapabilities: { elicitation } }
          : { protocolVersion: 2, info: { name: "raw", version: "1" }, capabilities: { elicitation } },
      );
      const opened = client.ask(17, "session/new", { cwd: "/w", mcpServers: [] });
      const form = await client.until(({ method }) => method === "elicitation/create");
      const { requestId, message } = form.params as Message;
      assert.deepEqual({ requestId, message }, { requestId: 17, message: "Which account?" });
      client.answer(form, { action: "accept", content: { account: "work" } });
      const { result } = await opened;
      assert.equal((result as Message).sessionId, 'accept {"account":"work"}');
      await relayed.close();
    },
  );
}

test("a form that belongs to no open request is cancelled, and the log says so", deadline, async () => {
  const logged: string[] = [];
  const { client, agent, relayed } = between(
    (message, peer) => {
      if (message.method !== "initialize") return;
      peer.answer(message, welcome(2));
      const mode = { mode: "form", message: "Who?", requestedSchema: { type: "object", properties: {} } };
      peer.send({
        jsonrpc: "2.0",
        id: "q",
        method: "elicitation/create",
        params: { requestId: 99, ...mode },
      });
    },
    { log: (level, text) => void logged.push(`${level} ${text}`) },
  );
  await client.ask(1, "initialize", {
    protocolVersion: 1,
    clientCapabilities: { elicitation: { form: {} } },
  });
  const { result } = await agent.until(({ id }) => id === "q");
  assert.deepEqual(result, { action: "cancel" });
  assert.ok(
    logged.includes("error a question that belongs to no session and no request of the client is not asked"),
  );
  await relayed.close();
});

test("an agent that cannot close a session is told to cancel instead, once", deadline, async () => {
  const { client, agent, relayed } = between((message, peer) => {
    if (message.method === "initialize") peer.answer(message, welcome(1));
    if (message.method === "session/new") peer.answer(message, { sessionId: "s" });
  });
  await client.ask(1, "initialize", introduction(2));
  await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  assert.ok((await client.ask(3, "session/close", { sessionId: "s" })).result);
  assert.deepEqual(
    agent.got.map(({ method }) => method),
    ["initialize", "session/new", "session/cancel"],
  );
  await relayed.close();
});

test("an agent that is gone before the client has said a word ends the relay", deadline, async () => {
  const { client, agent, relayed } = between(silence);
  await agent.close();
  await relayed.closed;
  await client.ended.promise;
});

test("a client that is just in time is told that the agent has gone", deadline, async () => {
  const { client, agent, relayed } = between(silence);
  await agent.close();
  const { error } = await client.ask(1, "initialize", introduction(1));
  assert.deepEqual((error as { data: unknown }).data, { reason: "agent_gone" });
  await relayed.closed;
});

test(
  "an agent whose answer is not one of its version is an error for the client, not silence",
  deadline,
  async () => {
    const { client, relayed } = between((message, peer) => peer.answer(message, { protocolVersion: 2 }));
    const { error } = await client.ask(1, "initialize", introduction(1));
    assert.equal((error as { code: number }).code, -32067);
    await relayed.closed;
  },
);

test("an agent that answers at once, while it is being asked, is heard", deadline, async () => {
  const [toRelay, clientEnd] = memoryPair();
  let tell: Sink | undefined;
  const agentEnd: Transport = {
    start: (sink) => {
      tell = sink;
    },
    send(message) {
      const answer = { jsonrpc: "2.0", id: (message as Message).id, result: welcome(1) };
      tell?.message(answer, JSON.stringify(answer));
      return true;
    },
    pause: silence,
    resume: silence,
    close: () => Promise.resolve(),
  };
  const relayed = relay(clientEnd, agentEnd);
  const { result } = await new RawPeer(toRelay).ask(1, "initialize", introduction(1));
  assert.deepEqual(result, welcome(1));
  await relayed.close();
});

test("before the handshake every message that needs an answer gets one", deadline, async () => {
  const { client, relayed } = between((message, peer) => peer.answer(message, welcome(1)));
  client.send([
    { jsonrpc: "2.0", id: 1, method: "initialize", params: introduction(1) },
    { jsonrpc: "2.0", id: "b", method: "session/list", params: {} },
    { jsonrpc: "2.0", method: "_acme/note" },
    { jsonrpc: "2.0", id: 3, method: 5 },
    5,
  ]);
  const refused = (await client.until(Array.isArray)) as unknown as Message[];
  assert.deepEqual(
    refused.map(({ id, error }) => [id, (error as { code: number }).code]),
    [
      [1, -32600],
      ["b", -32600],
      [null, -32600],
      [null, -32600],
    ],
  );
  client.send({ jsonrpc: "2.0", id: {}, method: "initialize" });
  const id = "9007199254740993";
  client.send({}, `{"jsonrpc":"2.0","id":${id},"method":"initialize","params":{"protocolVersion":1}}`);
  await client.until(({ result }) => result !== undefined);
  assert.equal(client.got.length, 3);
  assert.ok(client.texts[2]?.includes(id), client.texts[2]);
  await relayed.close();
});

const nested = `${"[".repeat(600)}${"]".repeat(600)}`;
const unreadable = {
  "a long method and deep params": `{"jsonrpc":"2.0","id":7,"method":"${"m".repeat(70_000)}","params":${nested}}`,
  "its id behind a long method": `{"jsonrpc":"2.0","method":"${"m".repeat(70_000)}","id":7,"params":${nested}}`,
};
for (const [what, text] of Object.entries(unreadable)) {
  test(
    `a relay answers a request that cannot be read under its id, before and after the handshake: ${what}`,
    deadline,
    async () => {
      const { client, relayed } = between((message, peer) => peer.answer(message, welcome(1)));
      client.send({}, text);
      const before = await client.until(({ id }) => id === 7);
      assert.deepEqual(before.error, {
        code: -32602,
        message: "message nested too deeply",
        data: { reason: "too_deep" },
      });
      await client.ask(1, "initialize", introduction(1));
      client.got.length = 0;
      client.send({}, text);
      await client.until(({ id }) => id === 7);
      await relayed.close();
    },
  );
}

test(
  "a client whose request the agent answers with something unreadable gets an error from the relay",
  deadline,
  async () => {
    const { client, agent, relayed } = between((message, peer) => {
      if (message.method === "initialize") peer.answer(message, welcome(1));
      else if (message.method === "session/list")
        peer.send({}, `{"jsonrpc":"2.0","id":${message.id},"result":${nested}}`);
    });
    await client.ask(1, "initialize", introduction(1));
    const { error } = await client.ask(2, "session/list", {});
    assert.deepEqual(error, {
      code: -32603,
      message: "the peer's answer cannot be read: it is nested too deeply",
      data: { reason: "unusable_answer", component: "the agent" },
    });
    agent.send({}, `{"jsonrpc":"2.0","id":9,"method":"_acme/ask","params":${nested}}`);
    const asked = await agent.until(({ id, error: answered }) => id === 9 && answered !== undefined);
    assert.equal((asked.error as { code: number }).code, -32602);
    await relayed.close();
  },
);

test("a client that leaves before the agent has answered is not waited for", deadline, async () => {
  const { client, agent, relayed, leave } = between(silence);
  client.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: introduction(1) });
  await agent.until(({ method }) => method === "initialize");
  await leave();
  assert.match((await relayed.closed).message, /the client has disconnected/);
  await agent.ended.promise;
});

test("what a client says too early is kept within bounds, and costs its length", deadline, async () => {
  const asked = Promise.withResolvers<Message>();
  const { client, agent, relayed } = between((message) => asked.resolve(message));
  client.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: introduction(1) });
  const initialize = await asked.promise;
  for (let i = 0; i < 100_000; i++) client.send({ jsonrpc: "2.0", method: "_early" });
  await quiet();
  agent.answer(initialize, welcome(1));
  await agent.until(() => agent.got.length > 100_000);
  await relayed.close();

  const other = between(silence);
  other.client.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: introduction(1) });
  for (let i = 0; i < 150_000; i++) other.client.send({ jsonrpc: "2.0", method: "_early" });
  assert.match((await other.relayed.closed).message, /the client has disconnected/);
});

for (const [clientVersion, agentVersion] of [
  [1, 2],
  [2, 1],
] as const) {
  const name = `v${clientVersion} client, v${agentVersion} agent`;
  const load = clientVersion === 1 ? "session/load" : "session/resume";
  const params = { sessionId: "s", cwd: "/project", mcpServers: [] };
  const replay = clientVersion === 1 ? params : { ...params, replayFrom: { type: "start" } };
  const says = (peer: RawPeer, text: string): void => {
    const content = { type: "text", text };
    const update = { sessionUpdate: "agent_message_chunk", messageId: "m", content };
    peer.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
  };
  const agentOf = (message: Message, peer: RawPeer): void => {
    if (message.method === "initialize") return peer.answer(message, welcome(agentVersion));
    if (message.method === "session/load" || message.method === "session/resume") says(peer, "history");
    if (message.method !== "session/prompt" && message.id !== undefined)
      peer.answer(message, message.method === "session/new" ? { sessionId: "s" } : {});
  };

  test(`${name}: a session that is loaded again, or closed and loaded, is heard once`, deadline, async () => {
    const { client, agent, relayed } = between(agentOf);
    await client.ask(1, "initialize", introduction(clientVersion));
    await client.ask(2, load, replay);
    await client.ask(3, load, replay);
    client.said();
    await client.ask(4, "session/close", { sessionId: "s" });
    says(agent, "after the end");
    await quiet();
    assert.deepEqual(client.said(), []);
    await client.ask(5, load, replay);
    assert.deepEqual(
      client.said().filter((text) => text !== "state_update"),
      ["history"],
    );
    says(agent, "once");
    await quiet();
    assert.deepEqual(client.said(), ["once"]);
    await relayed.close();
  });

  test(
    `${name}: a session that is loaded twice at once, or made under a name that is taken, is heard once`,
    deadline,
    async () => {
      const { client, agent, relayed } = between(agentOf);
      await client.ask(1, "initialize", introduction(clientVersion));
      await Promise.all([client.ask(2, load, replay), client.ask(3, load, replay)]);
      await client.ask(4, "session/new", params);
      await quiet();
      client.said();
      says(agent, "once");
      await quiet();
      assert.deepEqual(client.said(), ["once"]);
      await relayed.close();
    },
  );

  test(
    `${name}: a question that the agent withdraws is withdrawn at the client, and answered once`,
    deadline,
    async () => {
      const { client, agent, relayed } = between(agentOf);
      await client.ask(1, "initialize", introduction(clientVersion));
      await client.ask(2, "session/new", params);
      const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
      const toolCall = { toolCallId: "t", title: "Edit" };
      const about =
        agentVersion === 1 ? { toolCall } : { title: "Edit", subject: { type: "tool_call", toolCall } };
      const method = "session/request_permission";
      agent.send({ jsonrpc: "2.0", id: "q", method, params: { sessionId: "s", options, ...about } });
      const asked = await client.until((message) => message.method === method);
      agent.send({ jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: "q" } });
      const withdrawn = await client.until((message) => message.method === "$/cancel_request");
      assert.deepEqual(withdrawn.params, { requestId: asked.id });
      client.send({ jsonrpc: "2.0", id: asked.id, error: { code: -32800, message: "cancelled" } });
      const answers = () => agent.got.filter((message) => message.id === "q");
      await agent.until(() => answers().length > 0);
      await quiet();
      assert.equal(answers().length, 1);
      await relayed.close();
    },
  );

  test(
    `${name}: what is said of a new session at once comes after its name, in order`,
    deadline,
    async () => {
      const { client, relayed } = between((message, peer) => {
        agentOf(message, peer);
        if (message.method === "session/new") for (const text of ["one", "two", "three"]) says(peer, text);
      });
      await client.ask(1, "initialize", introduction(clientVersion));
      await client.ask(2, "session/new", params);
      await quiet();
      const answered = client.got.findIndex(({ id }) => id === 2);
      const first = client.got.findIndex(({ method }) => method === "session/update");
      assert.ok(answered < first);
      assert.deepEqual(
        client.said().filter((text) => !String(text).endsWith("_update")),
        ["one", "two", "three"],
      );
      await relayed.close();
    },
  );

  test(`${name}: whoever closes the relay leaves no request without an answer`, deadline, async () => {
    const { client, agent, relayed } = between(agentOf);
    await client.ask(1, "initialize", introduction(clientVersion));
    await client.ask(2, "session/new", params);
    const prompt = { sessionId: "s", prompt: [{ type: "text", text: "hello" }] };
    const answered = client.ask(3, "session/prompt", prompt);
    await agent.until(({ method }) => method === "session/prompt");
    await relayed.close();
    await answered;
    await Promise.all([client.ended.promise, agent.ended.promise]);
  });
}

test("resuming at an agent that can only load does not show the history again", deadline, async () => {
  const { client, agent, relayed } = between((message, peer) => {
    if (message.method === "initialize") return peer.answer(message, welcome(1));
    if (message.method !== "session/load") return;
    const content = { type: "text", text: "old" };
    const update = { sessionUpdate: "agent_message_chunk", content };
    peer.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
    peer.answer(message, {});
  });
  await client.ask(1, "initialize", introduction(2));
  await client.ask(2, "session/resume", { sessionId: "s", cwd: "/project", mcpServers: [] });
  await quiet();
  assert.deepEqual(client.said(), ["state_update"]);
  const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "new" } };
  agent.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
  await quiet();
  assert.deepEqual(client.said(), ["new"]);
  await relayed.close();
});

test(
  "prompts of a version 1 client that does not wait are held in order, and a cancel answers them all (G5)",
  deadline,
  async () => {
    const state = (peer: RawPeer, update: object): void =>
      peer.send({
        jsonrpc: "2.0",
        method: "session/update",
        params: { sessionId: "s", update: { sessionUpdate: "state_update", ...update } },
      });
    const { client, agent, relayed } = between((message, peer) => {
      if (message.method === "initialize") return peer.answer(message, welcome(2));
      if (message.method === "session/new") return peer.answer(message, { sessionId: "s" });
      if (message.method === "session/prompt") {
        peer.answer(message, { messageId: `m${String(message.id)}` });
        state(peer, { state: "running" });
        const { prompt } = message.params as { prompt: [{ text: string }] };
        if (prompt[0].text === "1") state(peer, { state: "idle", stopReason: "end_turn" });
      }
      if (message.method === "session/cancel") state(peer, { state: "idle", stopReason: "cancelled" });
    });
    await client.ask(1, "initialize", introduction(1));
    await client.ask(2, "session/new", { cwd: "/project", mcpServers: [] });
    const answers = ["1", "2", "3", "4"].map((text, at) =>
      client.ask(10 + at, "session/prompt", { sessionId: "s", prompt: [{ type: "text", text }] }),
    );
    const asked = () => agent.got.filter(({ method }) => method === "session/prompt");
    await agent.until(() => asked().length === 2);
    client.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } });
    const reasons = (await Promise.all(answers)).map(({ result }) => (result as Message).stopReason);
    assert.deepEqual(reasons, ["end_turn", "cancelled", "cancelled", "cancelled"]);
    assert.equal(asked().length, 2, "what was withdrawn while it waited never reaches the agent");
    await relayed.close();
  },
);

for (const version of [1, 2] as const) {
  test(
    `a client of version ${version} learns that the agent speaks a dialect that was not named`,
    deadline,
    async () => {
      const logged: string[] = [];
      const answer = { protocolVersion: 1, agentCapabilities: {}, authenticationMethods: [] };
      const { client, relayed } = between((message, peer) => peer.answer(message, answer), {
        log: (level, message) => void (level === "error" && logged.push(message)),
      });
      const { error } = await client.ask(1, "initialize", introduction(version));
      const { data, message } = error as { data: unknown; message: string };
      assert.deepEqual(data, { reason: "dialect_not_enabled", dialect: "pharo" });
      assert.match(message, /add "pharo" to the editions/);
      await relayed.closed;
      assert.deepEqual(logged, [message]);
    },
  );
}

test(
  "a client that begins in a dialect that was not named is told so, and may begin again",
  deadline,
  async () => {
    const { client, agent, relayed } = between((message, peer) => peer.answer(message, welcome(1)));
    const params = { protocolVersion: 1, capabilities: { fs: { read: true, write: true } } };
    const { error } = await client.ask(1, "initialize", params);
    assert.match((error as { message: string }).message, /in the dialect "scoped", .* --as scoped/);
    assert.deepEqual(agent.got, []);
    const { result } = await client.ask(2, "initialize", introduction(1));
    assert.deepEqual(result, welcome(1));
    await relayed.close();
  },
);
