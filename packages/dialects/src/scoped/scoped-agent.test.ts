// A client as section 4 to 8 of the document describe it, against the machine in front of our agent.

import assert from "node:assert/strict";
import test from "node:test";
import type { DialectStep } from "@parley/acp/transport";
import { DialectDriver, only } from "../../test/support/dialect-driver.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import { scopedMachines as scoped } from "./machines.ts";

const details = "_parley.dev/details";
const time = new Date(0).toISOString();

const fullClient = {
  fs: { read: true, write: true, watch: false },
  terminal: { create: true, interactive: false, maxConcurrent: 5 },
  ui: { permissionDialogs: true, diffViewer: true, codeNavigation: true },
};

const ourModes = {
  currentModeId: "ask",
  availableModes: ["ask", "code", "architect", "chat"].map((id) => ({ id, name: id })),
};

interface Opening {
  readonly capabilities?: object;
  readonly agent?: object;
  readonly session?: object;
  readonly initializeMeta?: object;
}

function client(opening: Opening = {}): DialectDriver {
  const driver = new DialectDriver(scoped, "agent", methods, { unstable: true });
  driver.receive({
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: 1,
      clientInfo: { name: "VS Code", version: "1.85.0" },
      capabilities: opening.capabilities ?? fullClient,
    },
  });
  driver.send({
    id: 1,
    result: {
      protocolVersion: 1,
      agentInfo: { name: "Agent", version: "1" },
      agentCapabilities: opening.agent ?? { loadSession: true },
      ...(opening.initializeMeta ? { _meta: opening.initializeMeta } : {}),
    },
  });
  return driver;
}

/** With a session "s" in "/w", and a turn (id 9) that runs. */
function inTurn(opening: Opening = {}): DialectDriver {
  const driver = client(opening);
  driver.receive({ id: 2, method: "session/new", params: { workingDirectory: "/w" } });
  driver.send({ id: 2, result: { sessionId: "s", ...opening.session } });
  driver.receive({
    id: 9,
    method: "session/prompt",
    params: { sessionId: "s", content: [{ type: "text", text: "hi" }] },
  });
  return driver;
}

const tell = (driver: DialectDriver, update: object): DialectStep =>
  driver.send({ method: "session/update", params: { sessionId: "s", update } });

/** What the client is told: type and data. */
function said(step: DialectStep): unknown[] {
  return step.toPeer
    .filter(({ method }) => method === "session/update")
    .map(({ params }) => {
      const { type, data } = params as { type: string; data: object };
      return { type, data };
    });
}

test("initialize: the capabilities of the client are said in version 1 and kept as they came (8.3, Q4)", () => {
  const driver = new DialectDriver(scoped, "agent", methods, { unstable: true });
  const capabilities = {
    fs: { read: true, watch: true },
    terminal: { create: true, maxConcurrent: 2 },
    ui: { diffViewer: false },
    _custom: { codeAnalysis: true },
  };
  const { toUs } = driver.receive({
    id: 1,
    method: "initialize",
    params: { protocolVersion: 1, clientInfo: { name: "E", version: "2" }, capabilities, _meta: { a: 1 } },
  });
  const { _custom, ...own } = capabilities;
  assert.deepEqual(only(toUs).params, {
    protocolVersion: 1,
    clientInfo: { name: "E", version: "2" },
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: false },
      terminal: true,
      session: { configOptions: { boolean: {} } },
      _meta: { "_parley.dev/capabilities": own, _custom },
    },
    _meta: { a: 1 },
  });
  const mode = {
    id: "mode",
    name: "Mode",
    category: "mode",
    type: "select",
    currentValue: "ask",
    options: ourModes.availableModes.map(({ id, name }) => ({ value: id, name })),
  };
  const auto = { id: "autoApprove", name: "Auto", type: "boolean", currentValue: false };
  const { toPeer } = driver.send({
    id: 1,
    result: {
      protocolVersion: 1,
      agentInfo: { name: "A", version: "1", title: "The A" },
      agentCapabilities: { loadSession: true, mcpCapabilities: { http: true, sse: true } },
      _meta: { "_parley.dev/sessionOptions": [mode, auto], b: 2 },
    },
  });
  assert.deepEqual(only(toPeer).result, {
    protocolVersion: 1,
    agentInfo: { name: "A", version: "1", _meta: { [details]: { title: "The A" } } },
    capabilities: {
      loadSession: true,
      mcpCapabilities: { servers: true, transport: ["stdio", "http", "sse"] },
      promptCapabilities: { streaming: true, cancellation: true, attachments: true },
      sessionCapabilities: {
        modes: ["default", "code", "plan", "ask", "architect"],
        configOptions: ["autoApprove"],
        persistence: true,
      },
    },
    _meta: { b: 2 },
  });
});

test("initialize fails with -32007 and names what the client lacks (Q4)", () => {
  const driver = new DialectDriver(scoped, "agent", methods, { unstable: true });
  driver.receive({
    id: 1,
    method: "initialize",
    params: {
      protocolVersion: 1,
      clientInfo: { name: "E", version: "2" },
      capabilities: { fs: { read: true } },
    },
  });
  const required = { fs: { read: true, write: true }, terminal: { create: true } };
  const { toPeer } = driver.send({
    id: 1,
    result: { protocolVersion: 1, _meta: { [details]: { requiredClientCapabilities: required } } },
  });
  const { error } = only(toPeer);
  assert.equal(error?.code, -32007);
  assert.match(error?.message ?? "", /requires fs\.write, terminal\.create, which the client does not offer/);
});

test("authenticate: api_key, oauth2 and custom credentials go to the login; a failure is a result (8.3)", () => {
  const driver = client();
  const logins = { api_key: { apiKey: "k" }, oauth2: { token: "t" }, custom: { any: { thing: 1 } } };
  for (const [method, credentials] of Object.entries(logins)) {
    const { toUs } = driver.receive({ id: 3, method: "authenticate", params: { method, credentials } });
    assert.deepEqual(only(toUs).params, {
      methodId: method,
      _meta: { "_parley.dev/credentials": credentials },
    });
    const { toPeer } = driver.send({ id: 3, result: { _meta: { "_parley.dev/expiresAt": time } } });
    assert.deepEqual(only(toPeer).result, { success: true, expiresAt: time });
  }
  driver.receive({ id: 4, method: "authenticate", params: { method: "api_key", credentials: {} } });
  const { toPeer } = driver.send({ id: 4, error: { code: -32000, message: "wrong key" } });
  const { success, error } = only(toPeer).result as { success: boolean; error: string };
  assert.deepEqual({ success, error }, { success: false, error: "wrong key" });
});

test("session/new: working directory, servers, system prompt, initial mode and options take several requests (8.3)", () => {
  const driver = client();
  const { toUs } = driver.receive({
    id: 2,
    method: "session/new",
    params: {
      workingDirectory: "/w",
      mcpServers: [
        {
          name: "fs",
          transport: { type: "stdio", command: "mcp-fs", args: ["/w"], env: { DEBUG: "1" }, cwd: "/home" },
        },
        { name: "gh", transport: { type: "http", url: "https://g", headers: { A: "b" }, timeout: 30_000 } },
        { name: "ev", transport: { type: "sse", url: "https://e" } },
      ],
      systemPrompt: "Be brief.",
      initialMode: "plan",
      configOptions: { autoApprove: true, model: "m1", limits: { tokens: 5 } },
    },
  });
  assert.deepEqual(only(toUs).params, {
    cwd: "/w",
    mcpServers: [
      {
        name: "fs",
        command: "mcp-fs",
        args: ["/w"],
        env: [{ name: "DEBUG", value: "1" }],
        _meta: { [details]: { cwd: "/home" } },
      },
      {
        type: "http",
        name: "gh",
        url: "https://g",
        headers: [{ name: "A", value: "b" }],
        _meta: { [details]: { timeout: 30_000 } },
      },
      { type: "sse", name: "ev", url: "https://e", headers: [] },
    ],
  });
  const model = {
    id: "model",
    name: "Model",
    type: "select",
    currentValue: "m0",
    options: [{ value: "m1", name: "1" }],
  };
  const other = { id: "other", name: "Other", type: "boolean", currentValue: true };
  let step = driver.send({
    id: 2,
    result: { sessionId: "s", modes: ourModes, configOptions: [model, other] },
  });
  assert.deepEqual(step.toPeer, [], "the client waits until all is set");
  const asked: unknown[] = [];
  while (step.toUs.length > 0) {
    const { id, method, params } = only(step.toUs);
    asked.push([method, params]);
    const result =
      method === "session/set_mode" ? {} : { configOptions: [{ ...model, currentValue: "m1" }, other] };
    step = driver.send({ id, result });
  }
  assert.deepEqual(asked, [
    ["session/set_mode", { sessionId: "s", modeId: "architect" }],
    ["session/set_config_option", { sessionId: "s", configId: "autoApprove", type: "boolean", value: true }],
    ["session/set_config_option", { sessionId: "s", configId: "model", value: "m1" }],
    [
      "session/set_config_option",
      {
        sessionId: "s",
        configId: "limits",
        value: '{"tokens":5}',
        _meta: { "_parley.dev/value": { tokens: 5 } },
      },
    ],
  ]);
  const [answer, ...updates] = step.toPeer;
  assert.deepEqual(answer, { jsonrpc: "2.0", id: 2, result: { sessionId: "s", createdAt: time } });
  assert.deepEqual(said({ toUs: [], toPeer: updates }), [
    { type: "config_option_update", data: { key: "other", currentValue: true, source: "agent" } },
  ]);
  // no system prompt in version 1: it comes with the first prompt
  const first = driver.receive({
    id: 5,
    method: "session/prompt",
    params: { sessionId: "s", content: [{ type: "text", text: "hi" }] },
  });
  assert.deepEqual((only(first.toUs).params as { prompt: unknown }).prompt, [
    { type: "text", text: "Be brief." },
    { type: "text", text: "hi" },
  ]);
});

test("session/new: an agent that takes system prompts gets it as one that is appended", () => {
  const driver = client({ agent: { sessionCapabilities: { systemPrompt: {} } } });
  const { toUs } = driver.receive({
    id: 2,
    method: "session/new",
    params: { workingDirectory: "/w", systemPrompt: "Be brief." },
  });
  const { systemPrompt } = only(toUs).params as { systemPrompt: unknown };
  assert.deepEqual(systemPrompt, { mode: "append", content: [{ type: "text", text: "Be brief." }] });
});

test("session/new: a mode that cannot be set refuses the session, says where, and closes it", () => {
  const driver = client({ agent: { sessionCapabilities: { close: {} } } });
  driver.receive({ id: 2, method: "session/new", params: { workingDirectory: "/w", initialMode: "nope" } });
  const set = only(driver.send({ id: 2, result: { sessionId: "s", modes: ourModes } }).toUs);
  const step = driver.send({ id: set.id, error: { code: -32602, message: "no such mode" } });
  assert.equal(only(step.toUs).method, "session/close");
  const { error } = only(step.toPeer);
  assert.equal(error?.code, -32602);
  assert.equal(error?.message, "session/new: params/initialMode: no such mode");
  assert.deepEqual(error?.data, { path: "/initialMode" });
});

test("updates that come before the client knows the session wait for the answer", () => {
  const driver = client();
  driver.receive({ id: 2, method: "session/new", params: { workingDirectory: "/w", initialMode: "code" } });
  const set = only(driver.send({ id: 2, result: { sessionId: "s", modes: ourModes } }).toUs);
  const commands = { sessionUpdate: "available_commands_update", availableCommands: [] };
  assert.deepEqual(tell(driver, commands).toPeer, []);
  const { toPeer } = driver.send({ id: set.id, result: {} });
  assert.deepEqual(
    toPeer.map(({ id, method }) => method ?? id),
    [2, "session/update"],
  );
});

test("session/load needs no working directory, and answers with it, the mode, the options and the messages (8.3)", () => {
  const driver = client();
  const { toUs } = driver.receive({ id: 2, method: "session/load", params: { sessionId: "s" } });
  assert.deepEqual(only(toUs).params, {
    sessionId: "s",
    cwd: "/",
    mcpServers: [],
    _meta: { "_parley.dev/storedCwd": true },
  });
  const text = (kind: string, messageId: string) =>
    tell(driver, { sessionUpdate: kind, messageId, content: { type: "text", text: "x" } });
  text("user_message_chunk", "1");
  text("agent_message_chunk", "2");
  text("agent_message_chunk", "2");
  text("agent_thought_chunk", "3");
  text("agent_message_chunk", "4");
  const option = {
    id: "o",
    name: "o",
    type: "select",
    currentValue: "1",
    options: [{ value: "1", name: "1" }],
  };
  const { toPeer } = driver.send({
    id: 2,
    result: {
      modes: { ...ourModes, currentModeId: "architect" },
      configOptions: [{ ...option, _meta: { "_parley.dev/value": 1 } }],
      _meta: { "_parley.dev/storedCwd": "/stored" },
    },
  });
  assert.deepEqual(toPeer.at(-1)?.result, {
    sessionId: "s",
    workingDirectory: "/stored",
    mode: "plan",
    configOptions: { o: 1 },
    messageCount: 3,
  });
});

test("session/load looks for the working directory in the list of sessions", () => {
  const driver = client({ agent: { loadSession: true, sessionCapabilities: { list: {} } } });
  driver.receive({ id: 2, method: "session/load", params: { sessionId: "s" } });
  const list = only(driver.send({ id: 2, result: {} }).toUs);
  assert.equal(list.method, "session/list");
  const more = only(driver.send({ id: list.id, result: { sessions: [], nextCursor: "c" } }).toUs);
  assert.deepEqual(more.params, { cursor: "c" });
  const { toPeer } = driver.send({ id: more.id, result: { sessions: [{ sessionId: "s", cwd: "/listed" }] } });
  const { workingDirectory, mode } = only(toPeer).result as { workingDirectory: string; mode: string };
  assert.deepEqual({ workingDirectory, mode }, { workingDirectory: "/listed", mode: "default" });
});

test("session/prompt: content blocks and attachments become a prompt (8.3, section 9)", () => {
  const driver = client();
  const { toUs } = driver.receive({
    id: 5,
    method: "session/prompt",
    params: {
      sessionId: "s",
      content: [
        { type: "text", text: "t" },
        { type: "image", source: { type: "base64", mediaType: "image/png", data: "aGk=" } },
        { type: "image", source: { type: "url", mediaType: "image/png", url: "https://x/a.png" } },
        { type: "audio", source: { type: "base64", mediaType: "audio/wav", data: "aGk=" } },
        { type: "resource_link", uri: "file:///w/auth.ts", title: "auth" },
        { type: "resource", uri: "file:///w/b.ts", mimeType: "text/x", title: "b", content: "code" },
      ],
      attachments: [{ uri: "file:///w/c.ts" }, { path: "/w/d.ts", content: "d" }],
      _meta: { trace: "x" },
    },
  });
  const attachment = (value: object) => ({ _meta: { [details]: { attachment: value } } });
  assert.deepEqual(only(toUs).params, {
    sessionId: "s",
    prompt: [
      { type: "text", text: "t" },
      { type: "image", data: "aGk=", mimeType: "image/png" },
      {
        type: "resource_link",
        uri: "https://x/a.png",
        name: "a.png",
        mimeType: "image/png",
        _meta: { [details]: { media: "image" } },
      },
      { type: "audio", data: "aGk=", mimeType: "audio/wav" },
      { type: "resource_link", uri: "file:///w/auth.ts", name: "auth", title: "auth" },
      {
        type: "resource",
        resource: { uri: "file:///w/b.ts", text: "code", mimeType: "text/x" },
        _meta: { [details]: { title: "b" } },
      },
      {
        type: "resource_link",
        uri: "file:///w/c.ts",
        name: "c.ts",
        ...attachment({ uri: "file:///w/c.ts" }),
      },
      {
        type: "resource",
        resource: { uri: "file:///w/d.ts", text: "d" },
        ...attachment({ path: "/w/d.ts", content: "d" }),
      },
    ],
    _meta: { trace: "x" },
  });
});

test("session/prompt: an attachment that names nothing is refused with its place", () => {
  const { toPeer } = client().receive({
    id: 5,
    method: "session/prompt",
    params: { sessionId: "s", content: [], attachments: [{ uri: "x:y" }, { size: 1 }] },
  });
  const { error } = only(toPeer);
  assert.equal(error?.code, -32602);
  assert.match(error?.message ?? "", /params\/attachments\/1 must be an object with uri, url or path/);
});

test("session/prompt: stop reasons and usage (8.3)", () => {
  const cases = [
    ["end_turn", "end_turn"],
    ["max_tokens", "max_tokens"],
    ["cancelled", "cancelled"],
    ["refusal", "end_turn"],
    ["max_turn_requests", "max_tokens"],
  ];
  for (const [stopReason, wanted] of cases) {
    const usage = { totalTokens: 5, inputTokens: 2, outputTokens: 3 };
    const { toPeer } = inTurn().send({ id: 9, result: { stopReason, usage } });
    const { _meta: _, ...result } = only(toPeer).result as Record<string, unknown>;
    assert.deepEqual(result, { stopReason: wanted, usage: { inputTokens: 2, outputTokens: 3 } });
  }
  assert.deepEqual(
    only(inTurn().send({ id: 9, error: { code: -32064, message: "busy" } }).toPeer).error?.code,
    -32006,
  );
});

test("session/set_mode answers with both modes, and the name that was set is the name sent back (8.3)", () => {
  const driver = inTurn({ session: { modes: ourModes } });
  const set = (mode: string, currentModeId: string): unknown => {
    const asked = only(
      driver.receive({ id: 5, method: "session/set_mode", params: { sessionId: "s", mode } }).toUs,
    );
    // for an agent of the dialect behind a bridge, which knows the name that was set
    const meta = mode === currentModeId ? {} : { _meta: { [details]: { mode } } };
    assert.deepEqual(asked.params, { sessionId: "s", modeId: currentModeId, ...meta });
    const step = driver.send({ id: 5, result: {} });
    // the agent tells it too: the client hears it once
    assert.deepEqual(tell(driver, { sessionUpdate: "current_mode_update", currentModeId }).toPeer, []);
    return [step.toPeer[0]?.result, ...said(step)];
  };
  const changed = (previousMode: string, currentMode: string) => [
    { previousMode, currentMode },
    { type: "current_mode_update", data: { previousMode, currentMode } },
  ];
  assert.deepEqual(set("plan", "architect"), changed("default", "plan"));
  assert.deepEqual(set("architect", "architect"), changed("plan", "architect"));
  assert.deepEqual(set("ask", "chat"), changed("architect", "ask"));
  assert.deepEqual(set("code", "code"), changed("ask", "code"));
  assert.deepEqual(said(tell(driver, { sessionUpdate: "current_mode_update", currentModeId: "architect" })), [
    { type: "current_mode_update", data: { previousMode: "code", currentMode: "architect" } },
  ]);
});

test("a mode that the agent reports before it answers has the name that was set, and the old one where it refuses", () => {
  const driver = inTurn({ session: { modes: ourModes } });
  const params = { sessionId: "s", mode: "architect" };
  const reported = { sessionUpdate: "current_mode_update", currentModeId: "architect" };
  driver.receive({ id: 5, method: "session/set_mode", params });
  assert.deepEqual(said(tell(driver, reported)), [
    { type: "current_mode_update", data: { previousMode: "default", currentMode: "architect" } },
  ]);
  const { toPeer } = driver.send({ id: 5, result: {} });
  assert.deepEqual(only(toPeer).result, { previousMode: "default", currentMode: "architect" });
  driver.receive({ id: 6, method: "session/set_mode", params: { ...params, mode: "plan" } });
  driver.send({ id: 6, error: { code: -32602, message: "no" } });
  tell(driver, { ...reported, currentModeId: "code" });
  assert.deepEqual(said(tell(driver, reported)), [
    { type: "current_mode_update", data: { previousMode: "code", currentMode: "architect" } },
  ]);
});

test("session/set_config_option takes JSON of any type and answers with both values (8.3)", () => {
  const choice = {
    id: "n",
    name: "n",
    type: "select",
    currentValue: "1",
    options: [{ value: "1", name: "1" }],
  };
  const json = { ...choice, id: "j", _meta: { "_parley.dev/value": [1] } };
  const driver = inTurn({ session: { configOptions: [choice, json] } });
  const set = (key: string, value: unknown, after: object[]): unknown[] => {
    const step = driver.receive({
      id: 5,
      method: "session/set_config_option",
      params: { sessionId: "s", key, value },
    });
    const answer = only(driver.send({ id: 5, result: { configOptions: after } }).toPeer);
    return [only(step.toUs).params, answer.result];
  };
  assert.deepEqual(set("n", 2, [{ ...choice, currentValue: "2" }, json]), [
    { sessionId: "s", configId: "n", value: "2", _meta: { "_parley.dev/value": 2 } },
    { key: "n", previousValue: "1", currentValue: "2" },
  ]);
  const text = { ...json, _meta: { "_parley.dev/value": "text" } };
  assert.deepEqual(set("j", "text", [choice, text]), [
    { sessionId: "s", configId: "j", value: '"text"', _meta: { "_parley.dev/value": "text" } },
    { key: "j", previousValue: [1], currentValue: "text" },
  ]);
});

test("a cancel ends the open calls as cancelled, and the question about one too (4.5)", () => {
  const driver = inTurn();
  tell(driver, { sessionUpdate: "tool_call", toolCallId: "a", title: "A", status: "in_progress" });
  tell(driver, { sessionUpdate: "tool_call", toolCallId: "b", title: "B", status: "in_progress" });
  const options = [{ optionId: "n", name: "No", kind: "reject_once" }];
  const question = { sessionId: "s", toolCall: { toolCallId: "b" }, options };
  driver.send({ id: 3, method: "session/request_permission", params: question });
  const cancel = driver.receive({
    method: "session/cancel",
    params: { sessionId: "s", reason: "user_requested" },
  });
  assert.deepEqual(only(cancel.toUs).params, {
    sessionId: "s",
    _meta: { [details]: { reason: "user_requested" } },
  });
  const answered = driver.receive({ id: 3, result: { granted: false } });
  assert.deepEqual((only(answered.toUs).result as { outcome: unknown }).outcome, { outcome: "cancelled" });
  const failed = tell(driver, { sessionUpdate: "tool_call_update", toolCallId: "b", status: "failed" });
  assert.equal((said(failed)[0] as { data: { status: string } }).data.status, "cancelled");
  const end = driver.send({ id: 9, result: { stopReason: "cancelled" } });
  assert.deepEqual(said(end), [{ type: "tool_call_update", data: { id: "a", status: "cancelled" } }]);
  assert.deepEqual(end.toPeer.at(-1)?.result, { stopReason: "cancelled" });
});

test("a cancel while nothing runs does not make the next turn's failures cancelled", () => {
  const driver = inTurn();
  driver.send({ id: 9, result: { stopReason: "end_turn" } });
  driver.receive({ method: "session/cancel", params: { sessionId: "s" } });
  driver.receive({ id: 10, method: "session/prompt", params: { sessionId: "s", content: [] } });
  const failed = tell(driver, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" });
  assert.deepEqual(said(failed), [
    { type: "tool_call_update", data: { id: "t", status: "failed", duration: 0 } },
  ]);
});

test("an agent that says it does not stream sends each message whole (promptCapabilities.streaming)", () => {
  const said_ = { promptCapabilities: { streaming: false, cancellation: true } };
  const driver = inTurn({ agent: { _meta: { "_parley.dev/capabilities": said_ } } });
  const piece = (kind: string, text: string) =>
    tell(driver, { sessionUpdate: kind, content: { type: "text", text } });
  assert.deepEqual(piece("agent_thought_chunk", "a").toPeer, []);
  assert.deepEqual(piece("agent_thought_chunk", "b").toPeer, []);
  assert.deepEqual(said(piece("agent_message_chunk", "c")), [
    { type: "thought_message_chunk", data: { content: "ab", index: 0, final: true } },
  ]);
  assert.deepEqual(piece("agent_message_chunk", "d").toPeer, []);
  const end = driver.send({ id: 9, result: { stopReason: "end_turn" } });
  assert.deepEqual(said(end), [
    { type: "agent_message_chunk", data: { content: "cd", index: 0, final: true } },
  ]);
});
