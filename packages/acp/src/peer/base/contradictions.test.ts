// Where the protocol's documentation and its schema disagree (docs/rules.md, E): what this library does there, on the
// wire of either version.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  initialize,
  openSession,
  place,
  quiet,
  rejects,
  text,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { agent, type OutgoingUpdate, type SessionUpdate, type StopReason } from "../../index.ts";
import { memoryPair } from "../../transport.ts";
import { applyEntry, createView, type SessionView } from "../../view.ts";

const versions = [1, 2] as const;
const prompt = () => undefined;

async function watched(answers: Parameters<typeof withScriptedAgent>[1] = {}) {
  const talk = await withScriptedAgent(2, answers);
  const session = await talk.agent.newSession(place);
  const view: SessionView = createView();
  session.onEntry((entry) => applyEntry(view, entry));
  return { ...talk, session, view };
}

test("E3 E4 batches are taken on either version; a request whose id is null only on version 1", async () => {
  for (const version of versions) {
    const { call, peer } = withScriptedClient({ prompt });
    await call("initialize", initialize(version));
    const answers = peer.connection.batch([{ method: "session/list", params: {} }, { method: "_none" }]);
    assert.deepEqual(await answers[0], { sessions: [] });
    await rejects(answers[1] ?? Promise.resolve(), -32601);

    const [near, far] = memoryPair();
    agent({ name: "a", version: "1", prompt }).connect(far);
    const got: { id?: unknown; error?: { code: number } }[] = [];
    const ignore = () => undefined;
    const message = (value: unknown) => void got.push(value as { id?: unknown });
    near.start({ message, idle: ignore, reject: ignore, drain: ignore, end: ignore });
    near.send({ jsonrpc: "2.0", id: 1, method: "initialize", params: initialize(version) });
    while (got.length === 0) await quiet();
    near.send({ jsonrpc: "2.0", id: null, method: "session/list", params: {} });
    while (got.length === 1) await quiet();
    assert.equal(got[1]?.id, null);
    assert.equal(got[1]?.error?.code, version === 1 ? undefined : -32600);
    await near.close();
  }
});

test("E5 work that ends without a reason has ended; an error has its error object", async () => {
  const { session, peer } = await watched({ "session/prompt": () => ({ messageId: "m" }) });
  const ends = [
    [{}, { stopReason: "end_turn" }],
    [{ stopReason: null }, { stopReason: "end_turn" }],
    [
      { stopReason: "error", error: { code: -32603, message: "boom" } },
      { stopReason: "error", error: { kind: "internal_error", code: -32603, message: "boom" } },
    ],
  ] as const;
  for (const [idle, outcome] of ends) {
    const sent = session.prompt("x");
    await sent.accepted;
    peer.update("s1", { sessionUpdate: "state_update", state: "running" });
    peer.update("s1", { sessionUpdate: "state_update", state: "idle", ...idle });
    assert.deepEqual(await sent.result, outcome);
  }
});

test("E6 a state has its background work, and the state unknown is busy", async () => {
  const { session, peer, view } = await watched();
  const background = [{ type: "terminal", terminalId: "x" }];
  peer.update("s1", { sessionUpdate: "state_update", state: "unknown", background });
  await quiet();
  assert.equal(session.state, "unknown");
  assert.deepEqual([view.busy, view.background], [true, background]);
});

test("E7 resume says the state before it answers, with and without a replay", async () => {
  for (const replayFrom of [undefined, { type: "start" }]) {
    const { call, peer } = withScriptedClient({ prompt });
    await call("initialize", initialize(2));
    const { sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
    await call("session/close", { sessionId });
    peer.got.length = 0;
    const params = { sessionId, cwd: "/", mcpServers: [], ...(replayFrom && { replayFrom }) };
    await call("session/resume", params);
    const last = peer.got.at(-1)?.params as { update: SessionUpdate };
    assert.deepEqual(
      [last.update.sessionUpdate, (last.update as { state?: string }).state],
      ["state_update", "idle"],
    );
  }
});

test("E7 A30 a client that comes back to a session at work knows that it is", async () => {
  const { agent: connected, peer } = await withScriptedAgent(2, {
    "session/resume": () => {
      peer.update("s1", { sessionUpdate: "state_update", state: "running" });
      return {};
    },
    "session/prompt": () => ({ messageId: "m" }),
  });
  const session = await connected.resumeSession("s1", place);
  assert.equal(session.state, "running");
  const sent = session.prompt("and this");
  await sent.accepted;
  peer.update("s1", { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" });
  assert.deepEqual(await sent.result, { stopReason: "end_turn", joined: true });
});

test("E7 C56 work that ends while a history is replayed has ended; a snapshot alone ends nothing", async () => {
  const state = (state: string, more: object = {}) =>
    peer.update("s1", { sessionUpdate: "state_update", state, ...more });
  let during: (() => void)[] = [];
  const { agent: connected, peer } = await withScriptedAgent(2, {
    "session/prompt": () => ({ messageId: "m" }),
    "session/resume": () => {
      for (const say of during) say();
      return {};
    },
  });
  const session = await connected.newSession(place);
  const ends: [string, (() => void)[]][] = [
    ["while it runs", [() => state("idle", { stopReason: "refusal" })]],
    [
      "before the snapshot",
      [() => state("idle", { stopReason: "refusal" }), () => state("idle", { stopReason: "refusal" })],
    ],
  ];
  for (const [when, says] of ends) {
    const sent = session.prompt("x");
    await sent.accepted;
    state("running");
    during = says;
    await connected.loadSession("s1", place);
    assert.deepEqual(await sent.result, { stopReason: "refusal" }, when);
  }
  const sent = session.prompt("y");
  await sent.accepted;
  during = [() => state("idle")];
  await connected.loadSession("s1", place);
  let isOver = false;
  void sent.result.then(() => {
    isOver = true;
  });
  await quiet();
  assert.equal(isOver, false, "nothing says that the work on it has begun");
  during = [() => state("running"), () => state("idle", { stopReason: "end_turn" })];
  await connected.loadSession("s1", place);
  assert.deepEqual(await sent.result, { stopReason: "end_turn" });
});

test("E9 E10 closing an unknown session succeeds; commands have their tag, and come with the answer", async () => {
  const { call } = withScriptedClient({
    prompt,
    session: {
      open: (session) =>
        void session.setAvailableCommands([{ type: "command", name: "go", description: "goes" }]),
    },
  });
  await call("initialize", initialize(2));
  assert.deepEqual(await call("session/close", { sessionId: "nobody" }), {});
  const { availableCommands } = (await call("session/new", { cwd: "/", mcpServers: [] })) as {
    availableCommands: unknown;
  };
  assert.deepEqual(availableCommands, [{ type: "command", name: "go", description: "goes" }]);
});

test("E11 E12 E13 metadata is patched by key; paused calls, sizes of terminals and names of tools are shown", async () => {
  const { peer, view } = await watched();
  const call = { sessionUpdate: "tool_call_update", toolCallId: "t" };
  peer.update("s1", { ...call, title: "T", name: "edit_file", status: "paused", _meta: { a: 1, b: 2 } });
  peer.update("s1", { ...call, _meta: { a: null, c: 3 } });
  peer.update("s1", { sessionUpdate: "terminal_update", terminalId: "x", size: { cols: 80, rows: 24 } });
  await quiet();
  const { status, open, name, _meta: meta } = view.toolCalls.get("t") ?? {};
  assert.deepEqual([status, open, name, meta], ["paused", true, "edit_file", { b: 2, c: 3 }]);
  assert.deepEqual(view.terminals.get("x")?.size, { cols: 80, rows: 24 });
});

test("E13 A103 notices reach a version 1 client that declared them, and no other", async () => {
  const notices = (updates: readonly { sessionUpdate: string }[]) =>
    updates.filter(({ sessionUpdate }) => sessionUpdate === "notice").length;
  const notify = {
    prompt: (turn: { notice(severity: "info", title: string): unknown }) => void turn.notice("info", "n"),
  };
  const { session, updates } = await openSession({ editions: ["v1"], version: 1 }, notify);
  await session.prompt("x").result;
  assert.equal(notices(updates), 1);
  const { call, peer } = withScriptedClient(notify);
  await call("initialize", initialize(1));
  const { sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
  await call("session/prompt", { sessionId, prompt: [text("x")] });
  assert.equal(notices(peer.got.map(({ params }) => (params as { update: SessionUpdate }).update)), 0);
});

test("E14 E15 E16 what is gone from the schema, or unstable and not listed, does not exist", async () => {
  const gone = ["nes/start", "document/did_open", "mcp/connect", "mcp/disconnect"];
  const unstable = [
    "auth/status",
    "session/archive",
    "session/unarchive",
    "session/status",
    "session/set_title",
  ];
  const more = ["mcp/message", "proxy/initialize", "providers/list", "session/fork"];
  for (const version of versions) {
    const { call } = withScriptedClient({ prompt });
    await call("initialize", initialize(version));
    for (const method of [...gone, ...unstable, ...more])
      await rejects(call(method, { sessionId: "s" }), -32601, { method });
    const { peer } = await withScriptedAgent(version, {});
    for (const method of ["mcp/connect", "mcp/message"])
      await rejects(peer.connection.request(method, { serverId: "s", requestId: 1 }), -32601);
  }
});

test("E17 a bad value in a request is refused, and only null stands for an empty list", async () => {
  for (const version of versions) {
    const { call } = withScriptedClient({ prompt });
    await call("initialize", initialize(version));
    const open = (params: object) => call("session/new", { cwd: "/", mcpServers: [], ...params });
    for (const [bad, path] of [
      [{ mcpServers: [7] }, "/mcpServers/0"],
      [{ mcpServers: "x" }, "/mcpServers"],
      [{ additionalDirectories: "x" }, "/additionalDirectories"],
      [{ additionalDirectories: [7] }, "/additionalDirectories/0"],
    ] as const)
      await rejects(open(bad), -32602, { path });
    assert.ok(await open({ mcpServers: null, additionalDirectories: null }));
  }
  const asked: unknown[] = [];
  const { agent: connected, peer } = await withScriptedAgent(
    1,
    {},
    {
      files: {
        canRead: true,
        canWrite: true,
        readText: async (_path, { line, limit } = {}) => String(asked.push([line, limit])),
        writeText: async () => undefined,
      },
      terminals: { create: async () => assert.fail("was created") },
    },
  );
  await connected.newSession(place);
  for (const [method, params, path] of [
    ["fs/read_text_file", { path: "/a", line: "x" }, "/line"],
    ["fs/read_text_file", { path: "/a", limit: -1 }, "/limit"],
    ["terminal/create", { command: "x", args: "y" }, "/args"],
    ["terminal/create", { command: "x", env: "y" }, "/env"],
    ["terminal/create", { command: "x", cwd: 7 }, "/cwd"],
    ["terminal/create", { command: "x", outputByteLimit: "y" }, "/outputByteLimit"],
  ] as const)
    await rejects(peer.connection.request(method, { sessionId: "s1", ...params }), -32602, { path });
  await peer.connection.request("fs/read_text_file", {
    sessionId: "s1",
    path: "/a",
    line: null,
    limit: null,
  });
  assert.deepEqual(asked, [[undefined, undefined]]);
});

test("E18 an elicitation of version 2 has one scope and a whole schema", async () => {
  const { agent: connected, peer } = await withScriptedAgent(2, {}, { elicit: () => ({ action: "accept" }) });
  await connected.newSession(place);
  const create = (params: object) =>
    peer.connection.request("elicitation/create", {
      mode: "form",
      message: "m",
      requestedSchema: { type: "object", properties: {} },
      ...params,
    });
  assert.deepEqual(await create({ sessionId: "s1" }), { action: "accept" });
  assert.deepEqual(await create({ requestId: 1 }), { action: "accept" });
  await rejects(create({}), -32602);
  await rejects(create({ sessionId: "s1", requestId: 1 }), -32602);
  await rejects(create({ sessionId: "s1", requestedSchema: {} }), -32602);
  await rejects(create({ sessionId: "s1", requestedSchema: { type: "object" } }), -32602);
  for (const type of ["", "array"]) {
    const requestedSchema = { type, properties: {} };
    await rejects(create({ sessionId: "s1", requestedSchema }), -32602, { path: "/requestedSchema/type" });
  }
});

test("E19 currencies, exit codes, sizes and times are taken in any form", async () => {
  const { peer, view } = await watched();
  peer.update("s1", {
    sessionUpdate: "usage_update",
    used: 1,
    size: 2,
    cost: { amount: 1, currency: "credits" },
  });
  peer.update("s1", {
    sessionUpdate: "terminal_update",
    terminalId: "x",
    exitStatus: { exitCode: -1_073_741_510 },
  });
  const link = { type: "resource_link", uri: "file:///a", name: "a", size: 9_007_199_254_740_991 };
  const annotations = { lastModified: "yesterday" };
  const content = [{ ...link, annotations }];
  peer.update("s1", { sessionUpdate: "agent_message", messageId: "m", content });
  await quiet();
  assert.equal(view.cost?.currency, "credits");
  assert.equal(view.terminals.get("x")?.exitStatus?.exitCode, -1_073_741_510);
  const [message] = view.timeline;
  assert.deepEqual(message?.kind === "agent_message" && message.content, content);
});

test("X15 lists of options and commands are arrays in what we send, and null from others is an empty one", async () => {
  const { call } = withScriptedClient({ prompt });
  await call("initialize", initialize(2));
  const answer = (await call("session/new", { cwd: "/", mcpServers: [] })) as Record<string, unknown>;
  assert.deepEqual([answer.configOptions, answer.availableCommands], [[], []]);
  const { agent: connected } = await withScriptedAgent(2, {
    "session/new": () => ({ sessionId: "s1", configOptions: null, availableCommands: null }),
  });
  const session = await connected.newSession(place);
  assert.deepEqual([session.configOptions, session.availableCommands], [[], []]);
});

test("X6 X7 keys of tracing, and keys that nobody knows, go through `_meta` untouched and change nothing", async () => {
  const meta = {
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    tracestate: "a=1",
    baggage: "b=2",
    cancel: true,
    sessionId: "another",
  };
  for (const version of versions) {
    const seen: unknown[] = [];
    const { agent: connected } = await conversation(
      { editions: [`v${version}`], version },
      {
        session: { open: (_session, { _meta }) => void seen.push(_meta) },
        prompt(turn) {
          seen.push(turn._meta);
          return { stopReason: "end_turn", _meta: meta };
        },
      },
    );
    const session = await connected.newSession({ ...place, _meta: meta });
    assert.deepEqual(await session.prompt("x", { _meta: meta }).result, {
      stopReason: "end_turn",
      _meta: meta,
    });
    assert.deepEqual(seen, [meta, meta]);
  }
});

test("X8 values of one's own begin with an underscore, or are refused where they are said, on either version", async () => {
  for (const version of versions) {
    const refused: string[] = [];
    const { session, updates } = await openSession(
      { editions: [`v${version}`], version },
      {
        prompt(turn) {
          const call = { sessionUpdate: "tool_call_update", toolCallId: "t" };
          const entry = { content: "c", priority: "low" as const };
          for (const own of ["weird", "_acme/weird", 7, ""]) {
            for (const say of [
              () => turn.update({ ...call, status: own } as OutgoingUpdate),
              () => turn.update({ ...call, kind: own } as OutgoingUpdate),
              () => turn.update({ ...call, content: [{ type: own }] } as OutgoingUpdate),
              () => turn.say({ type: own } as never),
              () => turn.think(own === 7 ? (own as never) : ({ type: own } as never)),
              () => turn.plan([{ ...entry, status: own as "pending" }]),
            ]) {
              try {
                void say();
              } catch (error) {
                assert.ok(error instanceof TypeError, String(error));
                refused.push(String(own));
              }
            }
          }
          return turn.text as StopReason;
        },
      },
    );
    assert.equal((await session.prompt("odd").result).error?.code, -32603);
    assert.deepEqual(refused, [...Array(6).fill("weird"), ...Array(6).fill("7"), ...Array(6).fill("")]);
    assert.ok(!JSON.stringify(updates).includes('"weird"'));
    // version 1 has no stop reasons of one's own
    const { stopReason } = await session.prompt("_acme/enough").result;
    assert.equal(stopReason, version === 1 ? "end_turn" : "_acme/enough");
  }
});

test("X8 values of one's own begin with an underscore, or are refused by the schema; others' are kept", async () => {
  const refused: string[] = [];
  const { session, updates } = await openSession(
    { editions: ["v2"], version: 2 },
    {
      async prompt(turn) {
        const call = { sessionUpdate: "tool_call_update", toolCallId: "t" };
        for (const own of ["weird", "_acme/weird"]) {
          for (const update of [
            { ...call, status: own },
            { ...call, kind: own },
            { ...call, content: [{ type: own }] },
            { sessionUpdate: own },
          ]) {
            try {
              await turn.update(update as OutgoingUpdate);
            } catch (error) {
              assert.ok(error instanceof TypeError && /"_"/.test(error.message), String(error));
              refused.push(own);
            }
          }
        }
        return turn.text as StopReason;
      },
    },
  );
  assert.deepEqual(await session.prompt("_acme/enough").result, { stopReason: "_acme/enough" });
  assert.deepEqual(refused, Array(4).fill("weird"));
  assert.ok(!JSON.stringify(updates).includes('"weird"'));
  assert.equal(
    JSON.stringify(updates).split('"_acme/weird"').length - 1,
    5,
    "an unknown update names its tag twice",
  );
  assert.equal((await session.prompt("weird").result).stopReason, "error");
  const theirs = await watched();
  theirs.peer.update("s1", {
    sessionUpdate: "tool_call_update",
    toolCallId: "t",
    status: "weird",
    kind: "odd",
  });
  await quiet();
  const { status, toolKind } = theirs.view.toolCalls.get("t") ?? {};
  assert.deepEqual([status, toolKind], ["weird", "odd"]);
});
