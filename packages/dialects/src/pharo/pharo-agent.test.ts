// A client as the document writes it, against the machine of our agent's side.

import assert from "node:assert/strict";
import test from "node:test";
import type { DialectMessage, DialectStep } from "@parley/acp/transport";
import { DialectDriver } from "../../test/support/dialect-driver.ts";
import {
  capabilitiesKey,
  credentialsKey,
  detailsKey,
  expiresAtKey,
  overwriteKey,
  sessionOptionsKey,
  storedCwdKey,
  timedOutKey,
  timeoutKey,
  valueKey,
} from "../exchange/library.ts";
import { methods } from "../wire/pharo/methods.gen.ts";
import { pharoMachines as pharo } from "./machines.ts";

const allTerminals = { create: true, output: true, waitForExit: true, kill: true, release: true };
const everything = { fs: { readTextFile: true, writeTextFile: true }, terminal: allTerminals };

const modeOption = {
  id: "mode",
  name: "Mode",
  category: "mode",
  type: "select",
  currentValue: "code",
  options: [
    { value: "code", name: "Code Mode", description: "Writes code" },
    { value: "architect", name: "Architect Mode" },
    { value: "ask", name: "Ask Mode", description: null },
  ],
};

function connect(clientCapabilities: object = everything): DialectDriver {
  const driver = new DialectDriver(pharo, "agent", methods);
  const clientInfo = { name: "VS Code", version: "1.80.0" };
  driver.receive({
    id: 1,
    method: "initialize",
    params: { protocolVersion: 1, clientInfo, clientCapabilities },
  });
  const _meta = { [sessionOptionsKey]: [modeOption] };
  driver.send({ id: 1, result: { protocolVersion: 1, _meta } });
  return driver;
}

/** The only message of a step, which goes to this side. */
function only(step: DialectStep, to: "us" | "peer"): DialectMessage {
  const [mine, others] = to === "us" ? [step.toUs, step.toPeer] : [step.toPeer, step.toUs];
  assert.equal(others.length, 0, JSON.stringify(others));
  assert.equal(mine.length, 1, JSON.stringify(mine));
  return mine[0]!;
}

/** Our agent asks, the client answers: what the client got, and what our agent got. */
function ask(driver: DialectDriver, method: string, params: object, result: unknown) {
  const { params: asked } = only(driver.send({ id: 50, method, params }), "peer");
  return { asked, answer: only(driver.receive({ id: 50, result }), "us") };
}

/** The client asks, our agent answers: what our agent got, and what the client got. */
function serve(driver: DialectDriver, method: string, params: object, result: unknown) {
  const { params: asked } = only(driver.receive({ id: 60, method, params }), "us");
  return { asked, answer: driver.send({ id: 60, result }).toPeer };
}

test("initialize: five flags are one, and logins, transports and modes have the dialect's names", () => {
  const driver = new DialectDriver(pharo, "agent", methods);
  const clientInfo = { name: "VS Code", version: "1.80.0" };
  const params = { protocolVersion: 1, clientInfo, clientCapabilities: everything };
  assert.deepEqual(only(driver.receive({ id: 1, method: "initialize", params }), "us").params, {
    protocolVersion: 1,
    clientInfo,
    clientCapabilities: { fs: everything.fs, terminal: true },
  });
  const result = {
    protocolVersion: 1,
    agentInfo: { name: "agent", title: "The agent", version: "1.0.0" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {} },
    },
    authMethods: [
      { id: "api_key", name: "API Key", description: "A key" },
      { type: "terminal", id: "tui", name: "Terminal" },
    ],
    _meta: { [sessionOptionsKey]: [modeOption] },
  };
  assert.deepEqual(only(driver.send({ id: 1, result }), "peer").result, {
    protocolVersion: 1,
    agentInfo: { name: "agent", version: "1.0.0" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { supportedTransports: ["stdio", "http"] },
      sessionModes: [
        { modeId: "code", title: "Code Mode", description: "Writes code" },
        { modeId: "architect", title: "Architect Mode" },
        { modeId: "ask", title: "Ask Mode" },
      ],
    },
    authenticationMethods: [{ methodId: "api_key", title: "API Key", description: "A key" }],
  });
  assert.deepEqual(driver.lost, [
    "capabilities of the agent: sessionCapabilities",
    "the title of a program: its name is shown",
    "a login of type terminal",
  ]);
});

test("a client with some methods of terminals has none in version 1, and each method keeps its own flag (Q3)", () => {
  const driver = new DialectDriver(pharo, "agent", methods);
  const terminal = { create: true, output: true };
  const params = { protocolVersion: 1, clientCapabilities: { terminal } };
  assert.deepEqual(only(driver.receive({ id: 1, method: "initialize", params }), "us").params, {
    protocolVersion: 1,
    clientCapabilities: { terminal: false, _meta: { [capabilitiesKey]: { terminal } } },
  });
  const ids = { sessionId: "s", terminalId: "t" };
  const { toPeer } = driver.send({ id: 5, method: "terminal/output", params: ids });
  assert.equal(toPeer.length, 1);
  const denied: [string, object, string][] = [
    ["terminal/wait_for_exit", ids, "terminal.waitForExit"],
    ["terminal/kill", ids, "terminal.kill"],
    ["terminal/release", ids, "terminal.release"],
    ["fs/read_text_file", { sessionId: "s", path: "/a" }, "fs.readTextFile"],
    ["fs/write_text_file", { sessionId: "s", path: "/a", content: "" }, "fs.writeTextFile"],
  ];
  for (const [method, given, flag] of denied) {
    const { error } = only(driver.send({ id: 6, method, params: given }), "us");
    assert.deepEqual(
      [error?.code, error?.message],
      [-32601, `${method}: the client has not declared ${flag}`],
    );
  }
});

test("authenticate: credentials travel in _meta, and the answer is null", () => {
  const params = { methodId: "api_key", credentials: { apiKey: "secret_key_here" } };
  const { asked, answer } = serve(connect(), "authenticate", params, {});
  assert.deepEqual(asked, {
    methodId: "api_key",
    _meta: { [credentialsKey]: { apiKey: "secret_key_here" } },
  });
  assert.deepEqual(answer, [{ jsonrpc: "2.0", id: 60, result: null }]);
});

test("session/new: servers get names, maps become lists, and the answer is the id alone", () => {
  const driver = connect();
  const mcpServers = [
    {
      transport: "stdio",
      command: "/usr/local/bin/mcp-server",
      args: ["--verbose"],
      env: { API_KEY: "secret" },
    },
    { transport: "http", url: "https://mcp.example/api", headers: { Authorization: "Bearer t" } },
    { transport: "sse", url: "https://mcp.example/sse" },
  ];
  const modes = { currentModeId: "code", availableModes: [{ id: "code", name: "Code Mode" }] };
  const { asked, answer } = serve(
    driver,
    "session/new",
    { cwd: "/w", mcpServers },
    { sessionId: "s1", modes },
  );
  assert.deepEqual(asked, {
    cwd: "/w",
    mcpServers: [
      {
        name: "mcp-server-1",
        command: "/usr/local/bin/mcp-server",
        args: ["--verbose"],
        env: [{ name: "API_KEY", value: "secret" }],
      },
      {
        type: "http",
        name: "api-2",
        url: "https://mcp.example/api",
        headers: [{ name: "Authorization", value: "Bearer t" }],
      },
      { type: "sse", name: "sse-3", url: "https://mcp.example/sse", headers: [] },
    ],
  });
  assert.deepEqual(answer, [{ jsonrpc: "2.0", id: 60, result: { sessionId: "s1" } }]);
});

test("a session that begins in another mode than the first one tells it after the answer", () => {
  const modes = { currentModeId: "ask", availableModes: [{ id: "ask", name: "Ask Mode" }] };
  const { answer } = serve(connect(), "session/new", { cwd: "/w" }, { sessionId: "s1", modes });
  assert.deepEqual(answer[1], {
    jsonrpc: "2.0",
    method: "session/update",
    params: { sessionId: "s1", update: { type: "current_mode_update", modeId: "ask" } },
  });
});

test("session/load has no working directory: the stored one is asked for (Q1)", () => {
  const { asked, answer } = serve(connect(), "session/load", { sessionId: "s1", mcpServers: [] }, {});
  const _meta = { [storedCwdKey]: true };
  assert.deepEqual(asked, { sessionId: "s1", cwd: "/", mcpServers: [], _meta });
  assert.deepEqual(answer, [{ jsonrpc: "2.0", id: 60, result: null }]);
});

test("an option is set to JSON of any type", () => {
  const driver = connect();
  const set = (value: unknown) =>
    serve(driver, "session/set_config_option", { sessionId: "s", option: "o", value }, { configOptions: [] });
  assert.deepEqual(set("fast").asked, { sessionId: "s", configId: "o", value: "fast" });
  assert.deepEqual(set(true).asked, { sessionId: "s", configId: "o", type: "boolean", value: true });
  for (const value of [3, null, ["a"], { deep: { er: 1 } }]) {
    const { asked, answer } = set(value);
    const text = JSON.stringify(value);
    assert.deepEqual(asked, { sessionId: "s", configId: "o", value: text, _meta: { [valueKey]: value } });
    assert.deepEqual(answer, [{ jsonrpc: "2.0", id: 60, result: null }]);
  }
});

test("a string for an option that holds JSON is sent as JSON", () => {
  const driver = connect();
  const option = {
    id: "o",
    name: "o",
    type: "select",
    currentValue: "1",
    options: [{ value: "1", name: "1" }],
    _meta: { [valueKey]: 1 },
  };
  serve(driver, "session/new", { cwd: "/w" }, { sessionId: "s", configOptions: [option] });
  const params = { sessionId: "s", option: "o", value: "fast" };
  const { asked } = serve(driver, "session/set_config_option", params, { configOptions: [option] });
  const _meta = { [valueKey]: "fast" };
  assert.deepEqual(asked, { sessionId: "s", configId: "o", value: '"fast"', _meta });
});

test("a mode and an option that are set without an id are taken, and nothing is answered", () => {
  const driver = connect();
  const messages: [string, object, object][] = [
    ["session/set_mode", { sessionId: "s", modeId: "architect" }, {}],
    ["session/set_config_option", { sessionId: "s", option: "o", value: "x" }, { configOptions: [] }],
  ];
  for (const [method, params, result] of messages) {
    const { id, ...request } = only(driver.receive({ method, params }), "us");
    assert.match(String(id), /^parley:\d+$/);
    assert.equal(request.method, method);
    assert.deepEqual(driver.send({ id, result }), { toUs: [], toPeer: [] });
  }
  const { id } = only(
    driver.receive({ method: "session/set_mode", params: { sessionId: "s", modeId: "x" } }),
    "us",
  );
  driver.send({ id, error: { code: -32602, message: "no such mode" } });
  assert.deepEqual(driver.lost, ["session/set_mode was dropped: no such mode"]);
});

test("set_mode and cancel keep their names; the answer to set_mode is null", () => {
  const driver = connect();
  const { asked, answer } = serve(driver, "session/set_mode", { sessionId: "s", modeId: "architect" }, {});
  assert.deepEqual(asked, { sessionId: "s", modeId: "architect" });
  assert.equal(answer[0]?.result, null);
  const cancel = { method: "session/cancel", params: { sessionId: "s" } };
  assert.deepEqual(only(driver.receive(cancel), "us"), { jsonrpc: "2.0", ...cancel });
});

test("a prompt keeps its blocks, and annotations that version 1 does not have", () => {
  const driver = connect();
  const prompt = [
    { type: "text", text: "Fix it", annotations: { title: "Warning", priority: "high", _custom: "x" } },
    { type: "text", text: "Soon", annotations: { priority: 0.5, audience: ["user"] } },
    { type: "image", mimeType: "image/png", data: "AAAA", uri: "file:///a.png" },
    { type: "audio", mimeType: "audio/wav", data: "AAAA" },
    { type: "resource", resource: { uri: "file:///a.js", text: "x" } },
    { type: "resource", resource: { uri: "file:///a.png", mimeType: "image/png", blob: "AAAA" } },
    { type: "resource_link", uri: "file:///a.pdf", name: "a", size: 3, annotations: { title: "A" } },
  ];
  const { asked, answer } = serve(
    driver,
    "session/prompt",
    { sessionId: "s", prompt },
    { stopReason: "refusal" },
  );
  const [first, second, third, fourth, fifth, sixth, last] = (asked as { prompt: object[] }).prompt;
  const annotations = { title: "Warning", priority: "high", _custom: "x" };
  assert.deepEqual(first, { type: "text", text: "Fix it", _meta: { [detailsKey]: { annotations } } });
  assert.deepEqual([second, third, fourth, fifth, sixth], prompt.slice(1, 6));
  assert.deepEqual(last, { type: "resource_link", uri: "file:///a.pdf", name: "a", size: 3, title: "A" });
  assert.deepEqual(answer[0]?.result, { stopReason: "refusal" });
});

test("a turn that ended by a limit of requests ended by a limit", () => {
  const driver = connect();
  const params = { sessionId: "s", prompt: [] };
  const { answer } = serve(driver, "session/prompt", params, { stopReason: "max_turn_requests" });
  assert.deepEqual(answer[0]?.result, { stopReason: "max_tokens" });
  assert.match(driver.lost[0] ?? "", /max_turn_requests/);
});

function told(driver: DialectDriver, update: object): unknown {
  const { toPeer } = driver.send({ method: "session/update", params: { sessionId: "s", update } });
  const [message] = toPeer;
  assert.ok(toPeer.length < 2);
  return (message?.params as { update: object } | undefined)?.update;
}

test("updates have a type: messages, tool calls, plans, commands and modes", () => {
  const driver = connect();
  const text = { type: "text", text: "hi", annotations: null };
  assert.deepEqual(told(driver, { sessionUpdate: "agent_message_chunk", content: text, messageId: "m" }), {
    type: "message",
    role: "agent",
    content: [{ type: "text", text: "hi" }],
    _meta: { [detailsKey]: { messageId: "m" } },
  });
  assert.deepEqual(told(driver, { sessionUpdate: "user_message_chunk", content: text }), {
    type: "message",
    role: "user",
    content: [{ type: "text", text: "hi" }],
  });
  const entries = [{ content: "a", priority: "high", status: "pending" }];
  assert.deepEqual(told(driver, { sessionUpdate: "plan", entries }), { type: "plan", entries });
  const availableCommands = [{ name: "test", description: "Runs tests", input: { hint: "which" } }];
  assert.deepEqual(told(driver, { sessionUpdate: "available_commands_update", availableCommands }), {
    type: "available_commands_update",
    availableCommands,
  });
  assert.deepEqual(told(driver, { sessionUpdate: "current_mode_update", currentModeId: "ask" }), {
    type: "current_mode_update",
    modeId: "ask",
  });
  assert.deepEqual(driver.lost, []);
});

test("a tool call has one place, bare content and no raw values", () => {
  const driver = connect();
  const call = {
    sessionUpdate: "tool_call",
    toolCallId: "c",
    title: "Edit",
    kind: "switch_mode",
    status: "in_progress",
    rawInput: { a: 1 },
    locations: [{ path: "/a", line: 10 }, { path: "/b" }],
    content: [
      { type: "content", content: { type: "text", text: "done" } },
      {
        type: "diff",
        path: "/a",
        oldText: null,
        newText: "x",
        _meta: { [detailsKey]: { mimeType: "text/css" } },
      },
      { type: "terminal", terminalId: "t" },
    ],
  };
  assert.deepEqual(told(driver, call), {
    type: "tool_call",
    toolCallId: "c",
    title: "Edit",
    kind: "other",
    status: "in_progress",
    location: { path: "/a", line: 10 },
    content: [
      { type: "text", text: "done" },
      { type: "diff", path: "/a", oldText: "", newText: "x", mimeType: "text/css" },
      { type: "terminal", terminalId: "t" },
    ],
  });
  assert.deepEqual(driver.lost, [
    "the rawInput of a tool call",
    "all places of a tool call but the first",
    "the kind switch_mode of a tool call: it is shown as other",
  ]);
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", status: "completed", title: null };
  assert.deepEqual(told(driver, update), { type: "tool_call_update", toolCallId: "c", status: "completed" });
});

test("thoughts and updates that the dialect does not have are told as lost", () => {
  const driver = connect();
  const content = { type: "text", text: "hm" };
  assert.equal(told(driver, { sessionUpdate: "agent_thought_chunk", content }), undefined);
  assert.equal(told(driver, { sessionUpdate: "usage_update", used: 1, size: 2 }), undefined);
  assert.deepEqual(driver.lost, [
    "a thought: the dialect has messages and tool calls only",
    "an update of type usage_update",
  ]);
});

test("a mode that is told as an option, as a mode or as both is told once", () => {
  const driver = connect();
  const tell = (update: object) =>
    driver
      .send({ method: "session/update", params: { sessionId: "s", update } })
      .toPeer.map(({ params }) => (params as { update: object }).update);
  const asOption = {
    sessionUpdate: "config_option_update",
    configOptions: [{ ...modeOption, currentValue: "ask" }],
  };
  const asMode = { sessionUpdate: "current_mode_update", currentModeId: "ask" };
  const told = [{ type: "current_mode_update", modeId: "ask" }];
  assert.deepEqual(tell(asOption), told);
  assert.deepEqual(tell(asMode), []);
  assert.deepEqual(tell(asMode), told);
  assert.deepEqual(driver.lost, []);
  const fast = { id: "fast", name: "Fast", type: "boolean", currentValue: true };
  assert.deepEqual(tell({ ...asOption, configOptions: [fast] }), []);
  assert.deepEqual(driver.lost, ["the options of a session: the dialect sets them and does not list them"]);
});

test("an answer that is null cannot carry metadata, which is told", () => {
  const driver = connect();
  serve(driver, "authenticate", { methodId: "a" }, { _meta: { [expiresAtKey]: "2030-01-01T00:00:00Z" } });
  assert.deepEqual(driver.lost, ["the metadata of the answer to authenticate"]);
});

const options = [
  { optionId: "y", name: "Allow once", kind: "allow_once" },
  { optionId: "n", name: "Cancel", kind: "reject_once" },
];

test("permission is asked with title, description and labels, and answered with the chosen option", () => {
  const driver = connect();
  const toolCall = {
    toolCallId: "c",
    kind: "delete",
    title: "Delete old logs?",
    content: [{ type: "content", content: { type: "text", text: "Older than 30 days" } }],
  };
  const params = { sessionId: "s", toolCall, options };
  const { asked, answer } = ask(driver, "session/request_permission", params, { selectedOptionId: "y" });
  assert.deepEqual(asked, {
    sessionId: "s",
    title: "Delete old logs?",
    description: "Older than 30 days",
    options: [
      { optionId: "y", kind: "allow_once", label: "Allow once" },
      { optionId: "n", kind: "reject_once", label: "Cancel" },
    ],
    _meta: { [detailsKey]: { toolCall: { toolCallId: "c", kind: "delete" } } },
  });
  assert.deepEqual(answer.result, { outcome: { outcome: "selected", optionId: "y" } });
});

test("a question about a diff goes on to another client with all of its content", () => {
  const text = { type: "content", content: { type: "text", text: "because" } };
  const content = [{ type: "diff", path: "/w/a.ts", newText: "x" }, text];
  const params = { sessionId: "s", toolCall: { toolCallId: "c", title: "Write", content }, options };
  const { asked } = ask(connect(), "session/request_permission", params, { selectedOptionId: "y" });
  assert.equal((asked as { description: string }).description, "because");
  const client = new DialectDriver(pharo, "client", methods);
  const { toUs } = client.receive({ id: 7, method: "session/request_permission", params: asked });
  assert.deepEqual(toUs[0]?.params, params);
});

test("a question without a title has that of its tool call, and an answer that was not offered is an error", () => {
  const driver = connect();
  told(driver, { sessionUpdate: "tool_call", toolCallId: "c", title: "Run tests" });
  const params = { sessionId: "s", toolCall: { toolCallId: "c" }, options };
  const { asked, answer } = ask(driver, "session/request_permission", params, { selectedOptionId: "other" });
  assert.equal((asked as { title: string }).title, "Run tests");
  assert.equal(answer.error?.code, -32603);
  assert.match(answer.error?.message ?? "", /selectedOptionId must be an option of the question/);
});

test("files: line and limit are startLine and lineLimit; the answer to a write is null", () => {
  const driver = connect();
  const read = ask(
    driver,
    "fs/read_text_file",
    { sessionId: "s", path: "/a", line: 10, limit: 50 },
    { content: "x" },
  );
  assert.deepEqual(read.asked, { sessionId: "s", path: "/a", startLine: 10, lineLimit: 50 });
  assert.deepEqual(read.answer.result, { content: "x" });
  const write = ask(driver, "fs/write_text_file", { sessionId: "s", path: "/a", content: "x" }, null);
  assert.deepEqual(write.asked, { sessionId: "s", path: "/a", content: "x" });
  assert.deepEqual(write.answer.result, {});
});

test("a file that must not be replaced is looked for first", () => {
  const driver = connect();
  const params = { sessionId: "s", path: "/a", content: "x", _meta: { [overwriteKey]: false } };
  const write = { id: 7, method: "fs/write_text_file", params };
  const look = only(driver.send(write), "peer");
  assert.deepEqual(look.params, { sessionId: "s", path: "/a", lineLimit: 1 });
  assert.equal(only(driver.receive({ id: look.id, result: { content: "" } }), "us").error?.code, -32066);
  const second = only(driver.send(write), "peer");
  const missing = { code: -32003, message: "not there" };
  const written = only(driver.receive({ id: second.id, error: missing }), "peer");
  assert.deepEqual(written.params, { sessionId: "s", path: "/a", content: "x" });
  assert.deepEqual(only(driver.receive({ id: 7, result: null }), "us").result, {});
});

test("terminals: env is a map, an exit is a number, and wait_for_exit has a timeout and the output", () => {
  const driver = connect();
  const created = {
    sessionId: "s",
    command: "npm",
    args: ["test"],
    cwd: "/w",
    env: [{ name: "A", value: "1" }],
  };
  const create = ask(driver, "terminal/create", { ...created, outputByteLimit: 5 }, { terminalId: "t" });
  assert.deepEqual(create.asked, { ...created, env: { A: "1" } });
  assert.deepEqual(create.answer.result, { terminalId: "t" });
  const ids = { sessionId: "s", terminalId: "t" };
  const output = ask(driver, "terminal/output", ids, { output: "äöü1234", exitCode: null });
  assert.deepEqual(output.answer.result, { output: "1234", truncated: true });
  const ended = ask(driver, "terminal/output", ids, { output: "ok", exitCode: 3 });
  assert.deepEqual(ended.answer.result, { output: "ok", truncated: false, exitStatus: { exitCode: 3 } });
  const limit = { ...ids, _meta: { [timeoutKey]: 30000 } };
  const wait = ask(driver, "terminal/wait_for_exit", limit, { output: "so far", exitCode: null });
  assert.deepEqual(wait.asked, { ...ids, timeout: 30000 });
  assert.deepEqual(wait.answer.result, {
    exitCode: null,
    _meta: { [timedOutKey]: true, [detailsKey]: { output: "so far" } },
  });
  const exit = ask(driver, "terminal/wait_for_exit", ids, { output: "all", exitCode: 0 });
  assert.deepEqual(exit.answer.result, { exitCode: 0, _meta: { [detailsKey]: { output: "all" } } });
  const signal = ask(driver, "terminal/wait_for_exit", ids, { output: "", exitCode: -1 });
  assert.deepEqual((signal.answer.result as { exitCode: unknown }).exitCode, null);
  assert.deepEqual(ask(driver, "terminal/kill", ids, null).answer.result, {});
  assert.deepEqual(ask(driver, "terminal/release", ids, null).answer.result, {});
});

test("a terminal with a timeout is killed when the time is over, and not after its release", () => {
  const driver = connect();
  const params = { sessionId: "s", command: "sleep", _meta: { [timeoutKey]: 1000 } };
  ask(driver, "terminal/create", params, { terminalId: "t" });
  const { method, params: killed } = only(driver.pass(1000), "peer");
  assert.deepEqual([method, killed], ["terminal/kill", { sessionId: "s", terminalId: "t" }]);
  ask(driver, "terminal/create", params, { terminalId: "u" });
  ask(driver, "terminal/release", { sessionId: "s", terminalId: "u" }, null);
  assert.equal(driver.timers, 0);
});

test("a method of version 1 that the dialect does not have is refused, and its own pass unchanged", () => {
  const driver = connect();
  const { error } = only(driver.send({ id: 9, method: "elicitation/create", params: {} }), "us");
  assert.equal(error?.code, -32601);
  assert.match(driver.lost[0] ?? "", /elicitation\/create/);
  const own = { jsonrpc: "2.0", id: "a", method: "_acme/ping", params: { deep: [1] } };
  assert.deepEqual(only(driver.send(own), "peer"), own);
  const answer = { jsonrpc: "2.0", id: "a", result: [1, null] };
  assert.deepEqual(only(driver.receive(answer), "us"), answer);
  const cancel = { jsonrpc: "2.0", method: "$/cancel_request", params: { requestId: 3 } };
  assert.deepEqual(only(driver.receive(cancel), "us"), cancel);
});
