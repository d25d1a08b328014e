// An agent as the document describes it, against the machine in front of our client.

import assert from "node:assert/strict";
import test from "node:test";
import type { DialectStep } from "@parley/acp/transport";
import { DialectDriver, only } from "../../test/support/dialect-driver.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import { scopedMachines as scoped } from "./machines.ts";

const details = "_parley.dev/details";

const documented = {
  loadSession: true,
  mcpCapabilities: { servers: true, transport: ["stdio", "http"] },
  promptCapabilities: { streaming: true, cancellation: true, attachments: true },
  sessionCapabilities: {
    modes: ["default", "plan", "code", "ask"],
    configOptions: ["autoApprove"],
    persistence: true,
  },
};

const able = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

interface Opening {
  readonly can?: object;
  readonly agent?: object;
}

function agent({ can = able, agent: capabilities = documented }: Opening = {}): DialectDriver {
  const driver = new DialectDriver(scoped, "client", methods, { unstable: true });
  const clientInfo = { name: "C", version: "1" };
  driver.send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: 1, clientInfo, clientCapabilities: can },
  });
  const agentInfo = { name: "Claude Agent", version: "1.0.0" };
  driver.receive({ id: 1, result: { protocolVersion: 1, agentInfo, capabilities } });
  return driver;
}

/** With a session of this name in "/w" and a turn that runs. */
function run(driver: DialectDriver, sessionId = "s"): DialectDriver {
  driver.send({ id: `n${sessionId}`, method: "session/new", params: { cwd: "/w", mcpServers: [] } });
  driver.receive({ id: `n${sessionId}`, result: { sessionId, createdAt: "2026-02-04T10:30:00Z" } });
  const prompt = [{ type: "text", text: "hi" }];
  driver.send({ id: `p${sessionId}`, method: "session/prompt", params: { sessionId, prompt } });
  return driver;
}

const ask = (driver: DialectDriver, method: string, params: object): DialectStep =>
  driver.receive({ id: 100, method, params });

test("initialize: version 1's capabilities are said in the dialect, and the answer in version 1 (8.3)", () => {
  const driver = new DialectDriver(scoped, "client", methods, { unstable: true });
  const { toPeer } = driver.send({
    id: 1,
    method: "initialize",
    params: { protocolVersion: 1, clientInfo: { name: "C", version: "1" }, clientCapabilities: able },
  });
  assert.deepEqual(only(toPeer).params, {
    protocolVersion: 1,
    clientInfo: { name: "C", version: "1" },
    capabilities: {
      fs: { read: true, write: true, watch: false },
      terminal: { create: true, interactive: false },
      ui: { permissionDialogs: true, diffViewer: true, codeNavigation: true },
    },
  });
  const capabilities = { ...documented, _custom: { pair: true } };
  const agentInfo = { name: "A", version: "1" };
  const { toUs } = driver.receive({ id: 1, result: { protocolVersion: 1, agentInfo, capabilities } });
  const result = only(toUs).result as Record<string, Record<string, unknown>>;
  assert.deepEqual(result["agentCapabilities"], {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { http: true, sse: false },
    sessionCapabilities: { systemPrompt: {} },
    _meta: { "_parley.dev/capabilities": documented, _custom: { pair: true } },
  });
  const options = result["_meta"]?.["_parley.dev/sessionOptions"] as { id: string }[];
  assert.deepEqual(
    options.map(({ id }) => id),
    ["mode", "autoApprove"],
  );
});

test("what a client of the dialect declared reaches an agent of the dialect as it was", () => {
  const capabilities = {
    fs: { read: true, watch: true },
    terminal: { create: true, interactive: true, maxConcurrent: 3 },
    ui: { diffViewer: false },
    _custom: { x: 1 },
  };
  const front = new DialectDriver(scoped, "agent", methods, { unstable: true });
  const clientInfo = { name: "C", version: "1" };
  const request = { protocolVersion: 1, clientInfo, capabilities };
  const { toUs } = front.receive({ id: 1, method: "initialize", params: request });
  const { toPeer } = new DialectDriver(scoped, "client", methods, { unstable: true }).send(only(toUs));
  assert.deepEqual(only(toPeer).params, request);
});

test("an agent that requires what our client lacks is refused with a sentence that names it (Q4)", () => {
  const driver = new DialectDriver(scoped, "client", methods, { unstable: true });
  const clientCapabilities = { fs: { readTextFile: true } };
  driver.send({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities } });
  const { toUs } = driver.receive({
    id: 1,
    result: {
      protocolVersion: 1,
      agentInfo: { name: "A", version: "1" },
      capabilities: { sessionCapabilities: { modes: ["default"] } },
      requiredClientCapabilities: { fs: { read: true, write: true } },
    },
  });
  const { error } = only(toUs);
  assert.equal(error?.message, "the agent requires fs.write, which the client does not offer");
  assert.deepEqual(error?.data, { reason: "method_not_found", missing: ["fs.write"] });
});

test("initialize fails where the agent requires what the document does not have (10.3)", () => {
  const driver = new DialectDriver(scoped, "client", methods, { unstable: true });
  driver.send({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: able } });
  const { toUs } = driver.receive({
    id: 1,
    result: {
      protocolVersion: 1,
      agentInfo: { name: "A", version: "1" },
      capabilities: {},
      requiredClientCapabilities: { fs: { read: true, teleport: true }, hologram: { project: true } },
    },
  });
  assert.deepEqual(only(toUs).error?.data, {
    reason: "method_not_found",
    missing: ["fs.teleport", "hologram.project"],
  });
});

test("a signal that a shell tells by its exit code is told as the signal (5.2.7)", () => {
  const driver = run(agent());
  driver.receive({ id: 60, method: "terminal/create", params: { command: "sleep 9" } });
  driver.send({ id: 60, result: { terminalId: "t1", _meta: { "_parley.dev/pushesOutput": true } } });
  driver.receive({ id: 61, method: "terminal/kill", params: { terminalId: "t1", signal: "SIGINT" } });
  driver.send({ id: 61, result: {} });
  driver.receive({ id: 62, method: "terminal/wait_for_exit", params: { terminalId: "t1" } });
  const { toPeer } = driver.send({ id: 62, result: { exitCode: 130, signal: null } });
  assert.deepEqual(only(toPeer).result, { exitCode: 130, signal: "SIGINT" });
});

test("authenticate: credentials are sent, an end is told, a failure is an error (8.3)", () => {
  const driver = agent();
  const params = { methodId: "api_key", _meta: { "_parley.dev/credentials": { apiKey: "k" } } };
  const { toPeer } = driver.send({ id: 2, method: "authenticate", params });
  assert.deepEqual(only(toPeer).params, { method: "api_key", credentials: { apiKey: "k" } });
  const ok = driver.receive({ id: 2, result: { success: true, expiresAt: "2026-03-01T00:00:00Z" } });
  assert.deepEqual(only(ok.toUs).result, { _meta: { "_parley.dev/expiresAt": "2026-03-01T00:00:00Z" } });
  driver.send({ id: 3, method: "authenticate", params: { methodId: "oauth2" } });
  const { error } = only(driver.receive({ id: 3, result: { success: false, error: "expired token" } }).toUs);
  assert.deepEqual([error?.code, error?.message], [-32000, "expired token"]);
});

test("session/new: servers and the system prompt are said; modes and options come back (8.3)", () => {
  const driver = agent();
  const { toPeer } = driver.send({
    id: 2,
    method: "session/new",
    params: {
      cwd: "/w",
      additionalDirectories: ["/x"],
      mcpServers: [
        { name: "a", command: "a", args: [], env: [{ name: "A", value: "1" }] },
        { type: "http", name: "b", url: "https://b", headers: [{ name: "H", value: "h" }] },
        { type: "sse", name: "c", url: "https://c", headers: [] },
      ],
      systemPrompt: { mode: "append", content: [{ type: "text", text: "Be brief." }] },
    },
  });
  assert.deepEqual(only(toPeer).params, {
    workingDirectory: "/w",
    mcpServers: [
      { name: "a", transport: { type: "stdio", command: "a", env: { A: "1" } } },
      { name: "b", transport: { type: "http", url: "https://b", headers: { H: "h" } } },
    ],
    systemPrompt: "Be brief.",
  });
  assert.deepEqual(driver.lost, [
    "the additional directories of a session",
    "the MCP server c: the agent does not connect to servers by sse",
  ]);
  const { toUs } = driver.receive({ id: 2, result: { sessionId: "s", createdAt: "2026-02-04T10:30:00Z" } });
  const result = only(toUs).result as Record<string, unknown>;
  const modes = result["modes"] as { currentModeId: string; availableModes: { id: string }[] };
  assert.equal(modes.currentModeId, "ask");
  assert.deepEqual(
    modes.availableModes.map(({ id }) => id),
    ["ask", "architect", "code", "chat"],
  );
  assert.deepEqual(result["_meta"], { [details]: { createdAt: "2026-02-04T10:30:00Z" } });
  const [option] = result["configOptions"] as { id: string; _meta: object }[];
  assert.deepEqual([option?.id, option?._meta], ["autoApprove", { "_parley.dev/value": null }]);
});

test("an agent with both plan and architect keeps them apart", () => {
  const modes = ["default", "plan", "architect"];
  const driver = agent({ agent: { sessionCapabilities: { modes } } });
  driver.send({ id: 2, method: "session/new", params: { cwd: "/w", mcpServers: [] } });
  const { toUs } = driver.receive({ id: 2, result: { sessionId: "s", createdAt: "now" } });
  const state = (only(toUs).result as { modes: { availableModes: { id: string }[] } }).modes;
  assert.deepEqual(
    state.availableModes.map(({ id }) => id),
    ["ask", "plan", "architect"],
  );
  for (const mode of ["plan", "architect"]) {
    const set = driver.send({ id: 3, method: "session/set_mode", params: { sessionId: "s", modeId: mode } });
    assert.deepEqual(only(set.toPeer).params, { sessionId: "s", mode });
    driver.receive({ id: 3, result: { previousMode: "default", currentMode: mode } });
  }
});

test("session/load says no working directory, and brings it back with the mode and the options (8.3)", () => {
  const driver = agent();
  const { toPeer } = driver.send({
    id: 2,
    method: "session/load",
    params: { sessionId: "s", cwd: "/w", mcpServers: [] },
  });
  assert.deepEqual(only(toPeer).params, { sessionId: "s" });
  const { toUs } = driver.receive({
    id: 2,
    result: {
      sessionId: "s",
      workingDirectory: "/stored",
      mode: "plan",
      configOptions: { autoApprove: true, maxTokens: 5 },
      messageCount: 7,
    },
  });
  const result = only(toUs).result as Record<string, unknown>;
  assert.equal((result["modes"] as { currentModeId: string }).currentModeId, "architect");
  assert.deepEqual(result["configOptions"], [
    { id: "autoApprove", name: "autoApprove", type: "boolean", currentValue: true },
    {
      id: "maxTokens",
      name: "maxTokens",
      type: "select",
      currentValue: "5",
      options: [{ value: "5", name: "5" }],
      _meta: { "_parley.dev/value": 5 },
    },
  ]);
  assert.deepEqual(result["_meta"], {
    [details]: { workingDirectory: "/stored", messageCount: 7 },
    "_parley.dev/storedCwd": "/stored",
  });
});

test("session/prompt: blocks, attachments, usage and the stop reason error (8.3)", () => {
  const driver = run(agent());
  const attachment = { uri: "file:///w/c.ts", any: 1 };
  const { toPeer } = driver.send({
    id: 5,
    method: "session/prompt",
    params: {
      sessionId: "s",
      prompt: [
        { type: "text", text: "t" },
        { type: "image", data: "aGk=", mimeType: "image/png" },
        { type: "resource_link", uri: "file:///w/a.ts", name: "a.ts" },
        { type: "resource", resource: { uri: "file:///w/b.ts", text: "b" } },
        { type: "resource", resource: { uri: "x:y", blob: "aGk=", mimeType: "application/zip" } },
        { type: "resource_link", uri: "file:///w/c.ts", name: "c.ts", _meta: { [details]: { attachment } } },
      ],
    },
  });
  assert.deepEqual(only(toPeer).params, {
    sessionId: "s",
    content: [
      { type: "text", text: "t" },
      { type: "image", source: { type: "base64", mediaType: "image/png", data: "aGk=" } },
      { type: "resource_link", uri: "file:///w/a.ts" },
      { type: "resource", uri: "file:///w/b.ts", content: "b" },
      { type: "resource_link", uri: "x:y", mimeType: "application/zip" },
    ],
    attachments: [attachment],
  });
  assert.deepEqual(driver.lost, ["the bytes of an embedded resource"]);
  const usage = { inputTokens: 1500, outputTokens: 2300 };
  const { toUs } = driver.receive({ id: 5, result: { stopReason: "end_turn", usage } });
  assert.deepEqual(only(toUs).result, { stopReason: "end_turn", usage: { totalTokens: 3800, ...usage } });
  const failed = driver.receive({ id: "ps", result: { stopReason: "error" } });
  assert.equal(only(failed.toUs).error?.code, -32603);
});

test("session/set_mode and set_config_option are said by name and key (8.3)", () => {
  const driver = run(agent());
  const mode = driver.send({
    id: 5,
    method: "session/set_mode",
    params: { sessionId: "s", modeId: "architect" },
  });
  assert.deepEqual(only(mode.toPeer).params, { sessionId: "s", mode: "plan" });
  const changed = { previousMode: "default", currentMode: "plan" };
  assert.deepEqual(only(driver.receive({ id: 5, result: changed }).toUs).result, {
    _meta: { [details]: changed },
  });
  const params = {
    sessionId: "s",
    configId: "limits",
    value: "[1]",
    _meta: { "_parley.dev/value": [1] },
  };
  const option = driver.send({ id: 6, method: "session/set_config_option", params });
  assert.deepEqual(only(option.toPeer).params, { sessionId: "s", key: "limits", value: [1] });
  const { toUs } = driver.receive({
    id: 6,
    result: { key: "limits", previousValue: null, currentValue: [1] },
  });
  const { configOptions } = only(toUs).result as { configOptions: { id: string; _meta?: object }[] };
  assert.deepEqual(configOptions.at(-1)?._meta, { "_parley.dev/value": [1] });
});

test("an agent that cannot cancel is not told to (Q4)", () => {
  const can = run(agent());
  assert.equal(
    only(can.send({ method: "session/cancel", params: { sessionId: "s" } }).toPeer).method,
    "session/cancel",
  );
  const driver = run(agent({ agent: { promptCapabilities: { cancellation: false } } }));
  const params = { sessionId: "s" };
  assert.deepEqual(driver.send({ method: "session/cancel", params }).toPeer, []);
  assert.deepEqual(driver.lost, ["the cancel of a turn: the agent cannot cancel"]);
});

test("what the dialect does not have is refused by name, and notifications of ours are reported", () => {
  const driver = agent();
  for (const method of ["session/list", "session/resume", "logout", "session/close"]) {
    const { error } = only(driver.send({ id: 5, method, params: { sessionId: "s", cwd: "/w" } }).toUs);
    assert.equal(error?.code, -32601);
    assert.deepEqual(error?.data, { reason: "method_not_found", method });
  }
});

test("permission: the scopes of the document are options, and the chosen one is the answer (8.3)", () => {
  const chosen: [string | undefined, object][] = [
    ["once", { granted: true, scope: "once" }],
    ["session", { granted: true, remember: true, scope: "session" }],
    ["workspace", { granted: true, remember: true, scope: "workspace" }],
    ["always", { granted: true, remember: true, scope: "always" }],
    ["reject_once", { granted: false }],
    ["reject_always", { granted: false, remember: true }],
    [undefined, { granted: false }],
  ];
  for (const [optionId, result] of chosen) {
    const driver = run(agent());
    const { toUs } = ask(driver, "session/request_permission", {
      sessionId: "s",
      operation: "file_write",
      resource: "/w/a.ts",
      reason: "Add error handling",
      toolCallId: "tc_002",
    });
    const { params } = only(toUs);
    const asked = params as {
      toolCall: object;
      options: { optionId: string; kind: string }[];
      _meta: object;
    };
    assert.deepEqual(asked.toolCall, {
      toolCallId: "tc_002",
      title: "file_write: /w/a.ts",
      kind: "edit",
      status: "pending",
      rawInput: { operation: "file_write", resource: "/w/a.ts" },
      content: [{ type: "content", content: { type: "text", text: "Add error handling" } }],
    });
    assert.deepEqual(
      asked.options.map((option) => [option.optionId, option.kind]),
      [
        ["once", "allow_once"],
        ["session", "allow_always"],
        ["workspace", "allow_always"],
        ["always", "allow_always"],
        ["reject_once", "reject_once"],
        ["reject_always", "reject_always"],
      ],
    );
    assert.deepEqual(asked._meta, {
      "_parley.dev/operation": { operation: "file_write", resource: "/w/a.ts", reason: "Add error handling" },
    });
    const outcome = optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId };
    assert.deepEqual(only(driver.send({ id: 100, result: { outcome } }).toPeer).result, result);
  }
});

test("files and terminals without a session belong to the one running turn; none or several are an error (8.3)", () => {
  const read = { path: "/w/a" };
  const idle = only(ask(agent(), "fs/read_text_file", read).toPeer).error;
  assert.equal(idle?.code, -32006);
  assert.match(idle?.message ?? "", /belongs to the running turn, but no turn is running/);
  const two = run(run(agent(), "s"), "r");
  assert.match(
    only(ask(two, "terminal/create", { command: "ls" }).toPeer).error?.message ?? "",
    /2 turns are running/,
  );
  two.receive({ id: "pr", result: { stopReason: "end_turn" } });
  const { params } = only(ask(two, "fs/read_text_file", read).toUs);
  assert.deepEqual(params, { sessionId: "s", path: "/w/a" });
});

test("fs/read: ranges, relative paths, encodings and facts (8.3, Q8)", () => {
  const driver = run(agent());
  const read = (params: object, result: object): unknown[] => {
    const asked = only(ask(driver, "fs/read_text_file", params).toUs).params;
    return [asked, only(driver.send({ id: 100, result }).toPeer).result];
  };
  assert.deepEqual(read({ path: "src/../a.ts" }, { content: "a\nb\n" }), [
    { sessionId: "s", path: "/w/a.ts" },
    { content: "a\nb\n", encoding: "utf-8", totalLines: 2, truncated: false },
  ]);
  assert.deepEqual(read({ path: "/w/a", startLine: 3, endLine: 6, encoding: "utf-8" }, { content: "x" }), [
    { sessionId: "s", path: "/w/a", line: 3, limit: 4 },
    { content: "x", encoding: "utf-8" },
  ]);
  const meta = {
    "_parley.dev/encoding": "latin1",
    "_parley.dev/fileFacts": { totalLines: 9, truncated: true },
  };
  assert.deepEqual(read({ path: "/w/a", encoding: "latin1" }, { content: "x", _meta: meta }), [
    { sessionId: "s", path: "/w/a", _meta: { "_parley.dev/encoding": "latin1" } },
    { content: "x", encoding: "latin1", totalLines: 9, truncated: true },
  ]);
  const wrong = only(
    ask(driver, "fs/read_text_file", { path: "/w/a", startLine: 5, endLine: 2 }).toPeer,
  ).error;
  assert.equal(wrong?.code, -32602);
});

test("fs/write: says how many bytes, and whether the file is new; overwrite: false keeps a file (8.3)", () => {
  const missing = { code: -32002, message: "no such file", data: { reason: "not_found" } };
  const write = (params: object, probe: object): DialectDriver => {
    const driver = run(agent());
    const asked = only(ask(driver, "fs/write_text_file", params).toUs);
    assert.equal(asked.method, "fs/read_text_file");
    const step = driver.send({ id: asked.id, ...probe });
    if (step.toUs.length > 0) assert.equal(only(step.toUs).method, "fs/write_text_file");
    return Object.assign(driver, { step });
  };
  const done = (driver: DialectDriver): unknown => only(driver.send({ id: 100, result: {} }).toPeer).result;
  const params = { path: "a.ts", content: "é" };
  assert.deepEqual(done(write(params, { error: missing })), { bytesWritten: 2, created: true });
  assert.deepEqual(done(write(params, { result: { content: "" } })), { bytesWritten: 2, created: false });
  const careful = { ...params, overwrite: false };
  assert.deepEqual(done(write(careful, { error: missing })), { bytesWritten: 2, created: true });
  const { step } = write(careful, { result: { content: "" } }) as DialectDriver & { step: DialectStep };
  assert.equal(only(step.toPeer).error?.code, -32005);
  assert.match(
    only(step.toPeer).error?.message ?? "",
    /\/w\/a\.ts was not written: it exists, and overwrite is false/,
  );
});

test("capabilities that our client did not declare are refused with -32007 (Q4)", () => {
  const driver = run(agent({ can: {} }));
  for (const [method, params] of [
    ["fs/read_text_file", { path: "/w/a" }],
    ["fs/write_text_file", { path: "/w/a", content: "" }],
    ["terminal/create", { command: "ls" }],
  ] as const) {
    assert.equal(only(ask(driver, method, params).toPeer).error?.code, -32007);
  }
});

test("a message that is not valid is refused by name and place, or dropped and reported", () => {
  const driver = run(agent());
  const { error } = only(ask(driver, "fs/read_text_file", { path: 5 }).toPeer);
  assert.deepEqual(error, {
    code: -32602,
    message: "fs/read_text_file: params/path must be string, got number",
    data: { reason: "invalid_params", path: "/path" },
  });
  assert.equal(only(ask(driver, "fs/delete", {}).toPeer).error?.code, -32601);
  const update = { sessionId: "s", type: "plan", data: { steps: [{ id: "1" }] } };
  assert.deepEqual(driver.receive({ method: "session/update", params: update }), { toUs: [], toPeer: [] });
  assert.match(driver.lost.join(), /session\/update: params\/data\/steps\/0\/description must be string/);
  driver.send({ id: 5, method: "session/set_mode", params: { sessionId: "s", modeId: "code" } });
  const bad = only(driver.receive({ id: 5, result: { previousMode: "x" } }).toUs);
  assert.equal(bad.error?.message, "session/set_mode: result/currentMode must be string, got nothing");
});

test("custom methods pass as they are, and one that is not supported gets -32601 (Q6)", () => {
  const driver = agent();
  const message = { id: 100, method: "_custom/analyzeCode", params: { path: "/w/a" } };
  assert.deepEqual(driver.receive(message).toUs, [{ jsonrpc: "2.0", ...message }]);
  const { error } = only(
    driver.send({ id: 100, error: { code: -32601, message: "method not found" } }).toPeer,
  );
  assert.equal(error?.code, -32601);
  const cancel = { method: "$/cancel_request", params: { requestId: 7 } };
  assert.deepEqual(driver.receive(cancel).toUs, [{ jsonrpc: "2.0", ...cancel }]);
});

test("_meta must be an object, is kept, and unknown fields move into it (Q5)", () => {
  const driver = run(agent());
  const wrong = only(ask(driver, "fs/read_text_file", { path: "/w/a", _meta: 5 }).toPeer).error;
  assert.equal(wrong?.message, "fs/read_text_file: params/_meta must be object, got number");
  const { params } = only(ask(driver, "fs/read_text_file", { path: "/w/a", odd: 1, _meta: { a: 2 } }).toUs);
  assert.deepEqual((params as { _meta: object })._meta, { a: 2, "_parley.dev/extra": { odd: 1 } });
});
