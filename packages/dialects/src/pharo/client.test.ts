// An agent as the document writes it, against the machine of our client's side.

import assert from "node:assert/strict";
import test from "node:test";
import type { DialectMessage, DialectStep } from "@parley/acp/transport";
import { DialectDriver } from "../../test/support/dialect-driver.ts";
import type { Fields } from "../exchange/exchange.ts";
import {
  capabilitiesKey,
  credentialsKey,
  detailsKey,
  sessionOptionsKey,
  storedCwdKey,
  valueKey,
} from "../exchange/library.ts";
import { methods } from "../wire/pharo/methods.gen.ts";
import { pharoMachines as pharo } from "./machines.ts";

const sessionModes = [
  { modeId: "code", title: "Code Mode", description: "Write and modify code" },
  { modeId: "architect", title: "Architect Mode" },
];

const introduction = {
  protocolVersion: 1,
  agentInfo: { name: "Claude Code", version: "1.0.0" },
  agentCapabilities: {
    loadSession: true,
    promptCapabilities: { image: true, audio: true, embeddedContext: true },
    mcpCapabilities: { supportedTransports: ["stdio", "http"] },
    sessionModes,
  },
  authenticationMethods: [{ methodId: "api_key", title: "API Key", description: "A key" }],
};

const modes = {
  currentModeId: "code",
  availableModes: [
    { id: "code", name: "Code Mode", description: "Write and modify code" },
    { id: "architect", name: "Architect Mode" },
  ],
};

function only(step: DialectStep, to: "us" | "peer"): DialectMessage {
  const [mine, others] = to === "us" ? [step.toUs, step.toPeer] : [step.toPeer, step.toUs];
  assert.equal(others.length, 0, JSON.stringify(others));
  assert.equal(mine.length, 1, JSON.stringify(mine));
  return mine[0]!;
}

const v1Client = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

function connect(answer: object = introduction): DialectDriver {
  const driver = new DialectDriver(pharo, "client", methods);
  const params = { protocolVersion: 1, clientCapabilities: v1Client };
  driver.send({ id: 0, method: "initialize", params });
  driver.receive({ id: 0, result: answer });
  return driver;
}

/** Our client asks, the agent answers: what the agent got, and what our client got. */
function ask(driver: DialectDriver, method: string, params: object, result: unknown) {
  const { params: asked } = only(driver.send({ id: 50, method, params }), "peer");
  return { asked, answer: only(driver.receive({ id: 50, result }), "us").result };
}

/** The agent asks, our client answers: what our client got, and what the agent got. */
function serve(driver: DialectDriver, method: string, params: object, result: unknown) {
  const { params: asked } = only(driver.receive({ id: 60, method, params }), "us");
  return { asked, answer: only(driver.send({ id: 60, result }), "peer").result };
}

test("initialize: one flag for terminals is five, and the dialect's answer is one of version 1", () => {
  const driver = new DialectDriver(pharo, "client", methods);
  const params = {
    protocolVersion: 1,
    clientInfo: { name: "parley", title: "Parley", version: "1" },
    clientCapabilities: { ...v1Client, session: { notices: {} } },
  };
  assert.deepEqual(only(driver.send({ id: 0, method: "initialize", params }), "peer").params, {
    protocolVersion: 1,
    clientInfo: { name: "parley", version: "1" },
    clientCapabilities: {
      fs: { readTextFile: true, writeTextFile: true },
      terminal: { create: true, output: true, waitForExit: true, kill: true, release: true },
    },
  });
  assert.deepEqual(driver.lost, [
    "capabilities of the client: session",
    "the title of a program: its name is shown",
  ]);
  const { result } = only(driver.receive({ id: 0, result: introduction }), "us");
  const { _meta, ...rest } = result as { _meta: Record<string, [{ options: unknown }]> };
  assert.deepEqual(rest, {
    protocolVersion: 1,
    agentInfo: { name: "Claude Code", version: "1.0.0" },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
    },
    authMethods: [{ id: "api_key", name: "API Key", description: "A key" }],
  });
  assert.deepEqual(_meta[sessionOptionsKey]?.[0].options, [
    { value: "code", name: "Code Mode", description: "Write and modify code" },
    { value: "architect", name: "Architect Mode" },
  ]);
});

test("the flags of another client of the dialect are told as they are", () => {
  const driver = new DialectDriver(pharo, "client", methods);
  const _meta = { [capabilitiesKey]: { terminal: { create: true } } };
  const params = { protocolVersion: 1, clientCapabilities: { terminal: false, _meta } };
  assert.deepEqual(only(driver.send({ id: 0, method: "initialize", params }), "peer").params, {
    protocolVersion: 1,
    clientCapabilities: {
      terminal: { create: true, output: false, waitForExit: false, kill: false, release: false },
    },
  });
});

test("authenticate always has credentials; the answer null is an empty one", () => {
  const driver = connect();
  assert.deepEqual(ask(driver, "authenticate", { methodId: "api_key" }, null), {
    asked: { methodId: "api_key", credentials: {} },
    answer: {},
  });
  const _meta = { [credentialsKey]: { apiKey: "k" } };
  const { asked } = ask(driver, "authenticate", { methodId: "api_key", _meta }, null);
  assert.deepEqual(asked, { methodId: "api_key", credentials: { apiKey: "k" } });
});

test("session/new: servers have a transport and maps, and the answer gets the modes of the agent", () => {
  const driver = connect();
  const mcpServers = [
    {
      name: "files",
      command: "/bin/mcp",
      args: [],
      env: [
        { name: "A", value: "1" },
        { name: "A", value: "2" },
      ],
    },
    { type: "http", name: "web", url: "https://mcp.example", headers: [{ name: "X", value: "1" }] },
  ];
  const params = { cwd: "/w", mcpServers, additionalDirectories: ["/more"] };
  const { asked, answer } = ask(driver, "session/new", params, { sessionId: "s" });
  assert.deepEqual(asked, {
    cwd: "/w",
    mcpServers: [
      {
        transport: "stdio",
        command: "/bin/mcp",
        args: [],
        env: { A: "2" },
        _meta: { [detailsKey]: { name: "files" } },
      },
      {
        transport: "http",
        url: "https://mcp.example",
        headers: { X: "1" },
        _meta: { [detailsKey]: { name: "web" } },
      },
    ],
  });
  assert.deepEqual(answer, { sessionId: "s", modes });
  assert.deepEqual(driver.lost, ["the further directories of a session"]);
});

test("session/load: the working directory is left out, and the answer null has the modes", () => {
  const driver = connect();
  ask(driver, "session/new", { cwd: "/w", mcpServers: [] }, { sessionId: "s" });
  const update = { type: "current_mode_update", modeId: "architect" };
  driver.receive({ method: "session/update", params: { sessionId: "s", update } });
  const params = { sessionId: "s", cwd: "/w", mcpServers: [] };
  const { asked, answer } = ask(driver, "session/load", params, null);
  assert.deepEqual(asked, { sessionId: "s", mcpServers: [] });
  assert.deepEqual(answer, { modes: { ...modes, currentModeId: "architect" } });
  assert.match(driver.lost[0] ?? "", /working directory/);
  const stored = { ...params, _meta: { [storedCwdKey]: true } };
  assert.deepEqual(ask(driver, "session/load", stored, null).asked, { sessionId: "s", mcpServers: [] });
  assert.equal(driver.lost.length, 1);
});

test("an option is set by its name, and the answer lists what was set", () => {
  const driver = connect();
  const set = (configId: string, value: object) =>
    ask(driver, "session/set_config_option", { sessionId: "s", configId, ...value }, null);
  const first = set("auto", { type: "boolean", value: true });
  assert.deepEqual(first.asked, { sessionId: "s", option: "auto", value: true });
  assert.deepEqual(first.answer, {
    configOptions: [{ id: "auto", name: "auto", type: "boolean", currentValue: true }],
  });
  const second = set("budget", { value: '{"max":3}', _meta: { [valueKey]: { max: 3 } } });
  assert.deepEqual(second.asked, { sessionId: "s", option: "budget", value: { max: 3 } });
  assert.deepEqual((second.answer as { configOptions: object[] }).configOptions[1], {
    id: "budget",
    name: "budget",
    type: "select",
    currentValue: '{"max":3}',
    options: [{ value: '{"max":3}', name: '{"max":3}' }],
    _meta: { [valueKey]: { max: 3 } },
  });
});

test("a mode that was set is the mode of the session when it is loaded", () => {
  const driver = connect();
  assert.deepEqual(ask(driver, "session/set_mode", { sessionId: "s", modeId: "architect" }, null).answer, {});
  const { answer } = ask(driver, "session/load", { sessionId: "s", cwd: "/w", mcpServers: [] }, null);
  assert.equal((answer as { modes: { currentModeId: string } }).modes.currentModeId, "architect");
});

test("a prompt and its end keep their names", () => {
  const driver = connect();
  const prompt = [{ type: "text", text: "Hello" }];
  assert.deepEqual(ask(driver, "session/prompt", { sessionId: "s", prompt }, { stopReason: "cancelled" }), {
    asked: { sessionId: "s", prompt },
    answer: { stopReason: "cancelled" },
  });
  const cancel = { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } };
  assert.deepEqual(only(driver.send(cancel), "peer"), cancel);
});

function told(driver: DialectDriver, update: object): unknown[] {
  const { toUs } = driver.receive({ method: "session/update", params: { sessionId: "s", update } });
  return toUs.map(({ params }) => (params as { update: object }).update);
}

test("each block of a message is a chunk of one message", () => {
  const driver = connect();
  const [one, two] = [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ];
  const messageId = "parley:message:1";
  assert.deepEqual(told(driver, { type: "message", role: "agent", content: [one, two] }), [
    { sessionUpdate: "agent_message_chunk", messageId, content: one },
    { sessionUpdate: "agent_message_chunk", messageId, content: two },
  ]);
  assert.deepEqual(told(driver, { type: "message", role: "user", content: [one] }), [
    { sessionUpdate: "user_message_chunk", messageId: "parley:message:2", content: one },
  ]);
  const _meta = { [detailsKey]: { messageId: "m" } };
  assert.deepEqual(told(driver, { type: "message", role: "agent", content: [one], _meta }), [
    { sessionUpdate: "agent_message_chunk", messageId: "m", content: one },
  ]);
});

test("the metadata of a message is kept, with its first block", () => {
  const driver = connect();
  const content = [
    { type: "text", text: "a", _meta: { inner: 1 } },
    { type: "text", text: "b" },
  ];
  const updates = told(driver, { type: "message", role: "agent", content, _meta: { mine: 1 } }) as Fields[];
  assert.deepEqual(
    updates.map(({ _meta }) => _meta),
    [{ mine: 1 }, undefined],
  );
  assert.deepEqual(updates[0]?.["content"], content[0]);
});

test("tool calls, plans, commands and modes become updates of version 1", () => {
  const driver = connect();
  const call = {
    type: "tool_call",
    toolCallId: "tool_123",
    title: "Read config.json",
    kind: "read",
    status: "pending",
    location: { path: "/w/config.json", line: 10 },
    content: [
      { type: "text", text: "x" },
      { type: "diff", path: "/a", oldText: "", newText: "y", mimeType: "text/javascript" },
      { type: "terminal", terminalId: "t", command: "npm test", exitCode: 0 },
    ],
  };
  assert.deepEqual(told(driver, call), [
    {
      sessionUpdate: "tool_call",
      toolCallId: "tool_123",
      title: "Read config.json",
      kind: "read",
      status: "pending",
      locations: [{ path: "/w/config.json", line: 10 }],
      content: [
        { type: "content", content: { type: "text", text: "x" } },
        {
          type: "diff",
          path: "/a",
          oldText: "",
          newText: "y",
          _meta: { [detailsKey]: { mimeType: "text/javascript" } },
        },
        { type: "terminal", terminalId: "t", _meta: { [detailsKey]: { command: "npm test", exitCode: 0 } } },
      ],
    },
  ]);
  assert.deepEqual(told(driver, { type: "tool_call_update", toolCallId: "tool_123", status: "completed" }), [
    { sessionUpdate: "tool_call_update", toolCallId: "tool_123", status: "completed" },
  ]);
  assert.deepEqual(told(driver, { type: "plan", entries: [{ content: "a" }] }), [
    { sessionUpdate: "plan", entries: [{ content: "a", priority: "medium", status: "pending" }] },
  ]);
  assert.deepEqual(told(driver, { type: "available_commands_update", availableCommands: [{ name: "x" }] }), [
    { sessionUpdate: "available_commands_update", availableCommands: [{ name: "x", description: "" }] },
  ]);
  assert.deepEqual(told(driver, { type: "current_mode_update", modeId: "code" }), [
    { sessionUpdate: "current_mode_update", currentModeId: "code" },
  ]);
});

const question = {
  sessionId: "s",
  title: "Delete old logs?",
  description: "Remove logs older than 30 days",
  options: [
    { optionId: "allow_once", kind: "allow_once", label: "Allow once" },
    { optionId: "reject", kind: "reject_once", label: "Cancel" },
  ],
};

test("a question is one about a made-up tool call, which ends with the answer", () => {
  const driver = connect();
  const asked = only(
    driver.receive({ id: 30, method: "session/request_permission", params: question }),
    "us",
  );
  assert.deepEqual(asked.params, {
    sessionId: "s",
    toolCall: {
      toolCallId: "perm_1",
      title: "Delete old logs?",
      kind: "other",
      status: "pending",
      content: [{ type: "content", content: { type: "text", text: "Remove logs older than 30 days" } }],
    },
    options: [
      { optionId: "allow_once", kind: "allow_once", name: "Allow once" },
      { optionId: "reject", kind: "reject_once", name: "Cancel" },
    ],
  });
  const result = { outcome: { outcome: "selected", optionId: "allow_once" } };
  const { toPeer, toUs } = driver.send({ id: 30, result });
  assert.deepEqual(toPeer, [{ jsonrpc: "2.0", id: 30, result: { selectedOptionId: "allow_once" } }]);
  const update = { sessionUpdate: "tool_call_update", toolCallId: "perm_1", status: "completed" };
  assert.deepEqual(toUs[0]?.params, { sessionId: "s", update });
});

test("a question that was cancelled is answered with a refusal, and with an error where none is offered", () => {
  const driver = connect();
  const cancelled = { outcome: { outcome: "cancelled" } };
  driver.receive({ id: 30, method: "session/request_permission", params: question });
  const { toPeer } = driver.send({ id: 30, result: cancelled });
  assert.deepEqual(toPeer[0]?.result, { selectedOptionId: "reject" });
  const options = question.options.slice(0, 1);
  driver.receive({ id: 31, method: "session/request_permission", params: { ...question, options } });
  const { toPeer: refused } = driver.send({ id: 31, result: cancelled });
  const data = { reason: "cancelled" };
  assert.deepEqual(refused[0]?.error, { code: -32603, message: "the question was cancelled", data });
});

test("an answer to a question that names no option never allows", () => {
  const driver = connect();
  driver.receive({ id: 30, method: "session/request_permission", params: question });
  const { toPeer } = driver.send({ id: 30, result: { outcome: { outcome: "selected", optionId: "what" } } });
  assert.deepEqual(toPeer[0]?.result, { selectedOptionId: "reject" });
});

test("files: startLine and lineLimit are line and limit; a write is answered with null", () => {
  const driver = connect();
  const params = { sessionId: "s", path: "/a", startLine: 10, lineLimit: 50 };
  assert.deepEqual(serve(driver, "fs/read_text_file", params, { content: "x" }), {
    asked: { sessionId: "s", path: "/a", line: 10, limit: 50 },
    answer: { content: "x" },
  });
  const write = { sessionId: "s", path: "/a", content: "x" };
  assert.deepEqual(serve(driver, "fs/write_text_file", write, {}), { asked: write, answer: null });
});

const ids = { sessionId: "s", terminalId: "t" };

test("terminals: env is a list, and an exit by a signal is -1, because null means running", () => {
  const driver = connect();
  const params = { sessionId: "s", command: "npm", args: ["test"], cwd: "/w", env: { A: "1" } };
  assert.deepEqual(serve(driver, "terminal/create", params, { terminalId: "t" }), {
    asked: { ...params, env: [{ name: "A", value: "1" }] },
    answer: { terminalId: "t" },
  });
  const exits: [object | undefined, number | null][] = [
    [undefined, null],
    [{ exitCode: 2 }, 2],
    [{ exitCode: null, signal: "SIGKILL" }, -1],
  ];
  for (const [exitStatus, exitCode] of exits) {
    const result = { output: "x", truncated: false, ...(exitStatus && { exitStatus }) };
    assert.deepEqual(serve(driver, "terminal/output", ids, result).answer, { output: "x", exitCode });
  }
  assert.equal(serve(driver, "terminal/kill", ids, {}).answer, null);
  assert.equal(serve(driver, "terminal/release", ids, {}).answer, null);
});

test("wait_for_exit is answered with the output, which is asked for after the exit", () => {
  const driver = connect();
  const wait = only(driver.receive({ id: 21, method: "terminal/wait_for_exit", params: ids }), "us");
  assert.deepEqual(wait.params, ids);
  const output = only(driver.send({ id: 21, result: { exitCode: 0 } }), "us");
  assert.deepEqual([output.method, output.params], ["terminal/output", ids]);
  const current = { output: "Hello Terminal\n", truncated: false, exitStatus: { exitCode: 0 } };
  assert.deepEqual(only(driver.send({ id: output.id, result: current }), "peer"), {
    jsonrpc: "2.0",
    id: 21,
    result: { output: "Hello Terminal\n", exitCode: 0 },
  });
});

test("wait_for_exit ends with its timeout: the output so far, and no exit", () => {
  const driver = connect();
  driver.receive({ id: 21, method: "terminal/wait_for_exit", params: { ...ids, timeout: 30000 } });
  assert.deepEqual(driver.pass(29999), { toUs: [], toPeer: [] });
  const [cancel, output] = driver.pass(1).toUs;
  assert.deepEqual([cancel?.method, cancel?.params], ["$/cancel_request", { requestId: 21 }]);
  assert.equal(output?.method, "terminal/output");
  // the wait that was taken back is answered, which nobody hears
  const late = { code: -32800, message: "cancelled" };
  assert.deepEqual(driver.send({ id: 21, error: late }), { toUs: [], toPeer: [] });
  const current = { output: "so far", truncated: false };
  const { result } = only(driver.send({ id: output?.id, result: current }), "peer");
  assert.deepEqual(result, { output: "so far", exitCode: null });
});

test("an exit before the timeout leaves no timer, and neither does an error", () => {
  const driver = connect();
  const params = { ...ids, timeout: 4_000_000_000 };
  driver.receive({ id: 21, method: "terminal/wait_for_exit", params });
  driver.send({ id: 21, result: { exitCode: 0 } });
  assert.equal(driver.timers, 0);
  driver.receive({ id: 22, method: "terminal/wait_for_exit", params });
  const { error } = only(driver.send({ id: 22, error: { code: -32002, message: "no terminal" } }), "peer");
  assert.equal(error?.code, -32003);
  assert.equal(driver.timers, 0);
});

test("a release without an id is taken: nobody reads its answer, which is null", () => {
  const driver = connect();
  const { id } = only(driver.receive({ method: "terminal/release", params: ids }), "us");
  assert.deepEqual(driver.send({ id, result: {} }), { toUs: [], toPeer: [] });
});

test("methods of version 1 that the dialect does not have are refused to our side", () => {
  const driver = connect();
  const { error } = only(driver.send({ id: 9, method: "session/list", params: {} }), "us");
  assert.equal(error?.code, -32601);
  assert.deepEqual(driver.lost, ["session/list: the peer's dialect has no such method"]);
});
