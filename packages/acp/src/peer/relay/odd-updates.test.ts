// What peers say that no library would let them say, through a relay: as much of it as the other version can say arrives,
// and what comes after it arrives in any case.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  between,
  introduction,
  type Message,
  turnOfVersion2,
  welcome,
} from "../../../test/support/raw-peer-probe.ts";

const deadline = { timeout: 20_000 };

for (const odd of [
  { stopReason: "end_turn", usage: { totalTokens: 3, inputTokens: 1, outputTokens: 2 } },
  { stopReason: "bananas" },
  { stopReason: 7 },
  { stopReason: "end_turn", usage: "much" },
  {},
  null,
]) {
  test(
    `a turn that ends as no other (${JSON.stringify(odd)}) has an end for a client of version 2`,
    deadline,
    async () => {
      const { client, relayed } = between(
        (message, peer) => {
          if (message.method === "initialize") peer.answer(message, welcome(1));
          if (message.method === "session/new") peer.answer(message, { sessionId: "s" });
          if (message.method === "session/prompt") peer.answer(message, odd);
        },
        { unstable: [] },
      );
      await client.ask(1, "initialize", introduction(2));
      await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
      const { result } = await client.ask(3, "session/prompt", {
        sessionId: "s",
        prompt: [{ type: "text", text: "go" }],
      });
      assert.ok(result);
      await client.until(
        ({ params }) => (params as { update?: Message } | undefined)?.update?.state === "idle",
      );
      await relayed.close();
    },
  );
}

for (const odd of [
  { stopReason: "end_turn", usage: { totalTokens: 3, inputTokens: 1, outputTokens: 2 } },
  { stopReason: "bananas" },
  { stopReason: "_bananas" },
  { stopReason: 7 },
  { stopReason: "error", error: { code: -1, message: "no" } },
  { stopReason: "error" },
  {},
]) {
  test(
    `work that ends as no other (${JSON.stringify(odd)}) is an answer for a client of version 1`,
    deadline,
    async () => {
      const { client, relayed } = between(
        (message, peer) => {
          if (message.method === "initialize") peer.answer(message, welcome(2));
          if (message.method === "session/new")
            peer.answer(message, { sessionId: "s", configOptions: [], availableCommands: [] });
          if (message.method === "session/prompt") {
            const state = (update: object): void =>
              peer.send({
                jsonrpc: "2.0",
                method: "session/update",
                params: { sessionId: "s", update: { sessionUpdate: "state_update", ...update } },
              });
            peer.answer(message, { messageId: "m" });
            state({ state: "running" });
            state({ state: "idle", ...odd });
          }
        },
        { unstable: [] },
      );
      await client.ask(1, "initialize", introduction(1));
      await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
      const { result, error } = await client.ask(3, "session/prompt", {
        sessionId: "s",
        prompt: [{ type: "text", text: "go" }],
      });
      if (odd.stopReason === "error") assert.ok(error);
      else {
        assert.equal((result as Message).stopReason, "end_turn");
        if (odd.stopReason === "_bananas")
          assert.deepEqual(lostIn(result as Message), ["the stop reason _bananas: it is end_turn"]);
      }
      await relayed.close();
    },
  );
}

const lostIn = ({ _meta }: Message): unknown => (_meta as Message | undefined)?.["_parley.dev/lost"];

test("a question about a call that was announced is called what the call is called", deadline, async () => {
  const { client, relayed } = between((message, peer) => {
    if (message.method === "initialize") peer.answer(message, welcome(1));
    if (message.method === "session/new") peer.answer(message, { sessionId: "s" });
    if (message.method !== "session/prompt") return;
    const update = { sessionUpdate: "tool_call", toolCallId: "t", title: "Delete everything" };
    peer.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
    const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
    for (const toolCallId of ["t", "other"])
      peer.send({
        jsonrpc: "2.0",
        id: toolCallId,
        method: "session/request_permission",
        params: { sessionId: "s", toolCall: { toolCallId }, options },
      });
  });
  await client.ask(1, "initialize", introduction(2));
  await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  client.send({
    jsonrpc: "2.0",
    id: 3,
    method: "session/prompt",
    params: { sessionId: "s", prompt: [{ type: "text", text: "go" }] },
  });
  const titles = async (): Promise<unknown[]> => {
    await client.until(
      () => client.got.filter(({ method }) => method === "session/request_permission").length === 2,
    );
    return client.got.flatMap(({ method, params }) =>
      method === "session/request_permission" ? [(params as Message).title] : [],
    );
  };
  assert.deepEqual(await titles(), ["Delete everything", "Permission required"]);
  await relayed.close();
});

test("a plan that is a document is one entry", deadline, async () => {
  const { updates, result } = await turnOfVersion2([
    { sessionUpdate: "plan_update", plan: { planId: "p", type: "markdown", content: "# First\nthen" } },
    { sessionUpdate: "plan_update", plan: { planId: "q", type: "file", uri: "file:///w/plan.md" } },
    { sessionUpdate: "plan_removed", planId: "p" },
  ]);
  const entry = (content: string) => ({ content, priority: "medium", status: "in_progress" });
  assert.deepEqual(
    updates.map(({ entries }) => entries),
    [
      [entry("# First\nthen")],
      [entry("# First\nthen"), entry("file:///w/plan.md")],
      [entry("file:///w/plan.md")],
    ],
  );
  assert.deepEqual(lostIn(result), ["a plan document is shown as one entry"]);
});

test(
  "output of a terminal is text without escapes, however it was cut, and what is no base64 is lost alone",
  deadline,
  async () => {
    const pieces = [btoa("one \u001b[3"), btoa("1mtwo\u001b]0;ti"), "!!!", btoa("tle\u0007 three")];
    const { updates, result } = await turnOfVersion2([
      {
        sessionUpdate: "tool_call_update",
        toolCallId: "1",
        title: "Run",
        content: [{ type: "terminal", terminalId: "t" }],
      },
      { sessionUpdate: "terminal_update", terminalId: "t" },
      ...pieces.map((data) => ({ sessionUpdate: "terminal_output_chunk", terminalId: "t", data })),
      { sessionUpdate: "terminal_update", terminalId: "t", exitStatus: { exitCode: 0 } },
    ]);
    assert.deepEqual(updates.at(-1)?.content, [
      { type: "content", content: { type: "text", text: "one two three" } },
    ]);
    assert.deepEqual(lostIn(result), ["output of a terminal that is not base64"]);
  },
);

test("a kind of its own and values that are taken back are named among what was lost", deadline, async () => {
  const { updates } = await turnOfVersion2([
    { sessionUpdate: "tool_call_update", toolCallId: "1", title: "Dig", kind: "_dig" },
    { sessionUpdate: "tool_call_update", toolCallId: "1", title: null, rawInput: null, content: null },
  ]);
  assert.deepEqual(updates, [
    {
      sessionUpdate: "tool_call",
      toolCallId: "1",
      title: "Dig",
      kind: "other",
      _meta: { "_parley.dev/lost": ["the kind _dig of a tool call"] },
    },
    {
      sessionUpdate: "tool_call_update",
      toolCallId: "1",
      content: [],
      _meta: {
        "_parley.dev/lost": ["the cleared title of a tool call", "the cleared rawInput of a tool call"],
      },
    },
  ]);
});

test("the unknown field of a handshake moves into _meta, and the handshake succeeds", deadline, async () => {
  const extra = { "_parley.dev/extra": { colour: "red" } };
  const info = { name: "raw", version: "1", colour: "red" };
  for (const [of, at] of [
    [1, 2],
    [2, 1],
  ] as const) {
    const login = at === 1 ? { id: "m", name: "M" } : { type: "agent", methodId: "m", name: "M" };
    const asked: Message[] = [];
    const { client, relayed } = between((message, peer) => {
      asked.push(message.params as Message);
      const { protocolVersion } = message.params as { protocolVersion: number };
      if (protocolVersion < at)
        return peer.send({ jsonrpc: "2.0", id: message.id, error: { code: -32602, message: "no" } });
      peer.answer(message, {
        protocolVersion: at,
        ...(at === 1
          ? { agentInfo: info, agentCapabilities: { colour: "red" } }
          : { info, capabilities: { session: {}, colour: "red" } }),
        authMethods: [{ ...login, colour: "red" }],
        colour: "red",
      });
    });
    const { error, result } = await client.ask(1, "initialize", {
      protocolVersion: of,
      ...(of === 1
        ? { clientInfo: info, clientCapabilities: { colour: "red" } }
        : { info, capabilities: { colour: "red" } }),
      colour: "red",
    });
    assert.equal(error, undefined);
    const answered = result as Message & { authMethods: Message[]; _meta: Message };
    const { agentInfo = answered.info, agentCapabilities = answered.capabilities } = answered;
    for (const part of [agentInfo, agentCapabilities, answered.authMethods[0], answered])
      assert.deepEqual((part as { _meta: Message })._meta["_parley.dev/extra"], extra["_parley.dev/extra"]);
    const offered = asked.at(-1) ?? {};
    const [ofInfo, capabilities] =
      at === 1 ? [offered.clientInfo, offered.clientCapabilities] : [offered.info, offered.capabilities];
    for (const part of [ofInfo, capabilities, offered])
      assert.deepEqual((part as { _meta: Message })._meta["_parley.dev/extra"], extra["_parley.dev/extra"]);
    await relayed.close();
  }
});

test(
  "an unknown field of annotations stays beside a reader that version 1 does not know",
  deadline,
  async () => {
    const annotations = { audience: ["user", "_robot"], colour: "red" };
    const { updates } = await turnOfVersion2([
      {
        sessionUpdate: "agent_message_chunk",
        messageId: "1",
        content: { type: "text", text: "x", annotations },
      },
    ]);
    assert.deepEqual((updates[0] as { content: Message } | undefined)?.content.annotations, {
      audience: ["user"],
      _meta: { "_parley.dev/extra": { colour: "red", audience: ["user", "_robot"] } },
    });
  },
);

test(
  "custom data under a key of ours that is no object stays where it is, and costs nothing",
  deadline,
  async () => {
    const chunk = {
      sessionUpdate: "agent_message_chunk",
      messageId: "m",
      content: { type: "text", text: "A" },
    };
    const odd = [5, [1], null, "x"].map((value) => ({
      ...chunk,
      _meta: { "_parley.dev/notification": value },
    }));
    const { updates } = await turnOfVersion2(odd);
    assert.deepEqual(
      updates.map(({ _meta }) => _meta),
      odd.map(({ _meta }) => _meta),
    );
  },
);

test("custom data of a notification is added to what its update has under our key", deadline, async () => {
  const { client, relayed } = between((message, peer) => {
    if (message.method === "initialize") peer.answer(message, welcome(1));
    if (message.method !== "session/new") return;
    peer.answer(message, { sessionId: "s" });
    const content = { type: "text", text: "A" };
    const _meta = { "_parley.dev/notification": { a: 1 } };
    const update = { sessionUpdate: "agent_message_chunk", content, _meta };
    const params = { sessionId: "s", update, _meta: { b: 2 } };
    peer.send({ jsonrpc: "2.0", method: "session/update", params });
  });
  await client.ask(1, "initialize", introduction(2));
  await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  const { params } = await client.until(({ method }) => method === "session/update");
  assert.deepEqual((params as Message)._meta, { a: 1, b: 2 });
  await relayed.close();
});

test("a field of a terminal that is wrong is left out, and the rest of it arrives", deadline, async () => {
  const { client, relayed } = between((message, peer) => {
    if (message.method === "initialize") peer.answer(message, welcome(1));
    if (message.method !== "session/new") return;
    peer.answer(message, { sessionId: "s" });
    const _meta = {
      terminal_info: { terminal_id: "t", cwd: "rel/path", command: "ls" },
      terminal_exit: { terminal_id: "t", exit_code: 1.5, signal: "SIGTERM" },
    };
    const update = { sessionUpdate: "tool_call", toolCallId: "1", title: "Run", _meta };
    peer.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
  });
  await client.ask(1, "initialize", introduction(2));
  await client.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  const of = ({ params }: Message) => (params as { update?: Message } | undefined)?.update ?? {};
  const exited = await client.until((message) => of(message).exitStatus !== undefined);
  assert.deepEqual(of(exited).exitStatus, { signal: "SIGTERM" });
  const begun = of(client.got.find((message) => of(message).command !== undefined) ?? exited);
  assert.deepEqual([begun.command, begun.cwd], ["ls", undefined]);
  await relayed.close();
});
