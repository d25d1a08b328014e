// Messages that agents in the wild send, and what a view shows of them.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  chunk,
  initialized,
  place,
  quiet,
  rejects,
  type ScriptedPeer,
  withScriptedAgent,
} from "../../../test/support/peer-probe.ts";
import { type ClientDefinition, type ClientSession, client } from "../../index.ts";
import type { ProtocolVersion } from "../../internal.ts";
import { memoryPair } from "../../transport.ts";
import { applyEntry, createView, type SessionView } from "../../view.ts";

interface Shown {
  readonly peer: ScriptedPeer;
  readonly session: ClientSession;
  readonly view: SessionView;
  readonly log: string[];
}

async function shown(
  answers: Parameters<typeof withScriptedAgent>[1] = {},
  definition: Partial<ClientDefinition> = {},
  version: ProtocolVersion = 1,
): Promise<Shown> {
  const { agent, peer, log } = await withScriptedAgent(version, answers, definition);
  const view = createView();
  const session = await agent.newSession({ ...place, onEntry: (entry) => applyEntry(view, entry) });
  return { peer, session, view, log };
}

const call = (toolCallId: string, fields: object) => ({
  sessionUpdate: "tool_call_update",
  toolCallId,
  ...fields,
});
const announced = (toolCallId: string, fields: object) => ({
  sessionUpdate: "tool_call",
  toolCallId,
  ...fields,
});
const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

test("a call that is announced late, as pending, after it ran stays where it is", async () => {
  const { peer, view } = await shown({}, { requestPermission: () => "yes" });
  peer.update("s1", call("t", { status: "pending" }));
  await peer.connection.request("session/request_permission", {
    sessionId: "s1",
    toolCall: { toolCallId: "t", title: "Edit" },
    options,
  });
  peer.update("s1", call("t", { status: "in_progress" }));
  peer.update("s1", announced("t", { title: "Edit file", status: "pending", kind: "edit" }));
  await quiet();
  assert.deepEqual(
    [view.toolCalls.get("t")?.status, view.toolCalls.get("t")?.title],
    ["in_progress", "Edit file"],
  );
  peer.update("s1", call("t", { status: "completed" }));
  peer.update("s1", call("t", { rawOutput: { late: true } }));
  await quiet();
  assert.deepEqual(
    [view.toolCalls.get("t")?.status, view.toolCalls.get("t")?.rawOutput],
    ["completed", { late: true }],
  );
});

test("a permission for a call that was never announced shows the call; one that is refused may never be heard of again", async () => {
  const { peer, view } = await shown(
    {},
    { requestPermission: ({ title }) => (title === "Run" ? "yes" : "no") },
  );
  const ask = (toolCallId: string, title: string) =>
    peer.connection.request("session/request_permission", {
      sessionId: "s1",
      toolCall: { toolCallId, title, kind: "execute" },
      options,
    });
  await ask("gone", "Remove");
  await ask("runs", "Run");
  peer.update("s1", call("runs", { status: "completed" }));
  await quiet();
  const states = [...view.toolCalls.values()].map(({ label, status }) => [label, status]);
  assert.deepEqual(states, [
    ["Remove", "cancelled"],
    ["Run", "completed"],
  ]);
});

test("a terminal that nobody created shows the output that comes in the metadata of its call", async () => {
  const { peer, view } = await shown();
  const content = [{ type: "terminal", terminalId: "call_1" }];
  const info = { terminal_info: { terminal_id: "call_1", cwd: "/project" } };
  peer.update("s1", announced("call_1", { title: "ls", status: "in_progress", content, _meta: info }));
  const delta = { terminal_output_delta: { terminal_id: "call_1", data: "from-shell\n" } };
  peer.update("s1", call("call_1", { _meta: delta }));
  const exit = { terminal_exit: { terminal_id: "call_1", exit_code: 0, signal: null } };
  peer.update("s1", call("call_1", { status: "completed", _meta: exit }));
  await quiet();
  const terminal = view.terminals.get("call_1");
  assert.equal(terminal?.output.text(), "from-shell\n");
  assert.equal(terminal?.exitStatus?.exitCode, 0);
  assert.deepEqual([...(view.toolCalls.get("call_1")?.terminalIds ?? [])], ["call_1"]);
});

test("nulls and fields of yesterday's or tomorrow's schema are no obstacle", async () => {
  const { session, peer, view } = await shown({
    "session/new": () => ({
      sessionId: "s1",
      models: { currentModelId: "a", availableModels: [{ modelId: "a", name: "A" }] },
      configOptions: [
        { id: "auto", name: "Auto", type: "boolean", currentValue: true, category: "permissions" },
        { id: "x", name: "X", type: "slider", currentValue: 3 },
      ],
      _meta: null,
    }),
    "session/prompt": () => ({ stopReason: "end_turn", usage: null, _meta: null }),
  });
  peer.update(
    "s1",
    announced("t", { title: "T", rawInput: null, locations: null, content: null, timestamp: 7 }),
  );
  peer.update("s1", { sessionUpdate: "plan", messageId: "m", entries: [] });
  peer.update("s1", { ...chunk("hi"), timestamp: 7, _meta: null });
  assert.deepEqual(await session.prompt("x").result, { stopReason: "end_turn" });
  assert.equal(view.toolCalls.get("t")?.rawInput, undefined);
  assert.equal(view.plans.size, 1);
  assert.ok(session.configOptions.some(({ category }) => category === "model"));
  assert.ok(session.configOptions.some(({ configId }) => configId === "auto"));
});

test("what a turn took is told in counts, or not at all", async () => {
  const usages: unknown[] = [
    { totalTokens: "\u001b[2J", inputTokens: 1, outputTokens: 1 },
    { totalTokens: 2, inputTokens: 1, outputTokens: -1 },
    { totalTokens: 2, inputTokens: 1, outputTokens: 1, thoughtTokens: {} },
    "many",
    { totalTokens: 2, inputTokens: 1, outputTokens: 1 },
  ];
  let turn = 0;
  const { session } = await shown({
    "session/prompt": () => ({ stopReason: "end_turn", usage: usages[turn++] }),
  });
  const told = [];
  for (const _ of usages) told.push((await session.prompt("x").result).usage);
  assert.deepEqual(told, [undefined, undefined, undefined, undefined, usages[4]]);
});

test("ids that we make up for messages are those of no other process, and no agent guesses them", async () => {
  const ids: string[] = [];
  for (const _ of [1, 2]) {
    const { session } = await shown({ "session/prompt": () => ({ stopReason: "end_turn" }) });
    session.onUpdate((update) => {
      if (update.sessionUpdate === "user_message") ids.push(update.messageId);
    });
    await session.prompt("x").result;
  }
  assert.equal(new Set(ids).size, 2, ids.join());
});

test("C35 where an agent has options and modes, the option is shown and set; with modes alone, the mode", async () => {
  const choices = ["ask", "code"];
  const modes = { currentModeId: "ask", availableModes: choices.map((id) => ({ id, name: id })) };
  const option = {
    id: "how",
    name: "Mode",
    category: "mode",
    type: "select",
    currentValue: "ask",
    options: choices.map((value) => ({ value, name: value })),
  };
  for (const both of [true, false]) {
    const { session, peer, view } = await shown({
      "session/new": () => ({ sessionId: "s1", modes, ...(both ? { configOptions: [option] } : {}) }),
      "session/set_mode": () => ({}),
      "session/set_config_option": () => ({ configOptions: [{ ...option, currentValue: "code" }] }),
    });
    assert.equal(session.configOptions.filter(({ category }) => category === "mode").length, 1);
    await session.setMode("code");
    assert.equal(peer.got.at(-1)?.method, both ? "session/set_config_option" : "session/set_mode");
    assert.equal(view.mode?.value, "code");
  }
});

test("methods of vendors without a leading underscore are refused or ignored, and nothing breaks (X3, X4)", async () => {
  const { peer, session, view } = await shown();
  await rejects(peer.connection.request("craft/drainMidTurnQueue", { sessionId: "s1" }), -32601);
  peer.notify("qwen/notify/session/prompt-suggestion", { sessionId: "s1" });
  peer.notify("hydra-acp/prompt_queue/added", {});
  peer.notify("_auth/status_update", {});
  for (const sessionUpdate of ["prompt_received", "turn_complete", "available_modes_update"])
    peer.update("s1", { sessionUpdate, some: "thing" });
  await quiet();
  assert.equal(view.timeline.filter(({ kind }) => kind === "unknown").length, 3);
  assert.equal(session.state, "idle");
});

test("a history that goes on after the answer to load is history all the same", async () => {
  const user = (text: string) => ({ sessionUpdate: "user_message_chunk", content: { type: "text", text } });
  const { agent, peer } = await withScriptedAgent(1, {
    "session/load": (_params, request) => {
      peer.update("s1", user("first"));
      request.afterReply(() => {
        peer.update("s1", chunk("answer"));
        peer.update("s1", user("second"));
        peer.update("s1", { sessionUpdate: "available_commands_update", availableCommands: [] });
      });
      // as some agents do: nothing, and the id, which does not belong here
      return { sessionId: "s1" };
    },
  });
  const view = createView();
  await agent.loadSession("s1", { ...place, onEntry: (entry) => applyEntry(view, entry) });
  await quiet();
  assert.deepEqual(
    view.timeline.map(({ kind }) => kind),
    ["user_message", "agent_message", "user_message"],
  );
});

test("a load that is answered with null is a load", async () => {
  const { agent } = await withScriptedAgent(1, { "session/load": () => null });
  assert.equal((await agent.loadSession("s9", place)).sessionId, "s9");
});

test("text between turns is shown, and ends no prompt (v1)", async () => {
  const { peer, session, view } = await shown({ "session/prompt": () => ({ stopReason: "end_turn" }) });
  peer.update("s1", chunk("[MODE_UPDATE] autoEdit"));
  await session.prompt("x").result;
  peer.update("s1", { sessionUpdate: "usage_update", used: 1, size: 2 });
  peer.update("s1", chunk("Info: Operation cancelled by user"));
  await quiet();
  const texts = view.timeline.map((item) => ("content" in item ? JSON.stringify(item.content) : ""));
  assert.equal(texts.length, 3);
  assert.match(texts.join(), /MODE_UPDATE.*x.*Operation cancelled/);
});

test("text that comes right after the answer goes on with what was said, if the turn ended well (v1)", async () => {
  for (const stopReason of ["end_turn", "cancelled"]) {
    const { peer, session, view } = await shown({
      "session/prompt": () => {
        peer.update("s1", chunk("begin "));
        return { stopReason };
      },
    });
    await session.prompt("x").result;
    peer.update("s1", chunk("tail"));
    await quiet();
    const texts = view.timeline.flatMap((item) => (item.kind === "agent_message" ? item.content : []));
    assert.equal(texts.length, stopReason === "end_turn" ? 1 : 2);
  }
});

test("login methods of any shape are listed", async () => {
  const authMethods = [
    { id: "plain", name: "Plain" },
    { id: "agent", name: "Agent", type: "agent" },
    { id: "env", name: "Env", type: "env_var", vars: [{ name: "KEY" }] },
    { id: "tty", name: "Terminal", type: "terminal", env: {} },
    { id: "meta", name: "Meta", _meta: { "terminal-auth": { command: "login" } } },
  ];
  const { agent } = await withScriptedAgent(1, { initialize: () => ({ ...initialized(1), authMethods }) });
  assert.deepEqual(
    agent.authMethods.map(({ methodId, type }) => [methodId, type]),
    [
      ["plain", "agent"],
      ["agent", "agent"],
      ["env", "env_var"],
      ["tty", "terminal"],
      ["meta", "agent"],
    ],
  );
});

test("answers without an id, and answers that nobody waits for, are counted and end nothing", async () => {
  const [near, far] = memoryPair();
  const ignore = () => undefined;
  far.start({
    message(value) {
      const { id, method } = value as { id?: number; method?: string };
      far.send({ jsonrpc: "2.0", error: { code: -32601, message: "Method not found" } });
      far.send({ jsonrpc: "2.0", id: 99, result: {} });
      if (method === "initialize") far.send({ result: initialized(1), jsonrpc: "2.0", id: id ?? 0 });
      if (method === "session/new") far.send({ result: { sessionId: "s" }, jsonrpc: "2.0", id: id ?? 0 });
    },
    idle: ignore,
    reject: ignore,
    drain: ignore,
    end: ignore,
  });
  const agent = await client({ name: "c", version: "1" }).connect(near);
  assert.equal((await agent.newSession(place)).sessionId, "s");
  await agent.close();
});
