// Our agent's questions, files, terminals and updates, as a client of the document receives them.

import assert from "node:assert/strict";
import test from "node:test";
import type { DialectMessage, DialectStep } from "@parley/acp/transport";
import { DialectDriver, only } from "../../test/support/dialect-driver.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import { scopedMachines as scoped } from "./machines.ts";

const details = "_parley.dev/details";
const pushMethod = "_parley.dev/terminal_output";

const everything = {
  fs: { read: true, write: true },
  terminal: { create: true, maxConcurrent: 2 },
  ui: { permissionDialogs: true, diffViewer: true },
};

/** With a session "s" in "/w" and a turn that runs. */
function inTurn(capabilities: object = everything): DialectDriver {
  const driver = new DialectDriver(scoped, "agent", methods, { unstable: true });
  const clientInfo = { name: "E", version: "1" };
  driver.receive({ id: 1, method: "initialize", params: { protocolVersion: 1, clientInfo, capabilities } });
  driver.send({ id: 1, result: { protocolVersion: 1, agentCapabilities: {} } });
  driver.receive({ id: 2, method: "session/new", params: { workingDirectory: "/w" } });
  driver.send({ id: 2, result: { sessionId: "s" } });
  const content = [{ type: "text", text: "go" }];
  driver.receive({ id: 9, method: "session/prompt", params: { sessionId: "s", content } });
  return driver;
}

const tell = (driver: DialectDriver, update: object): DialectStep =>
  driver.send({ method: "session/update", params: { sessionId: "s", update } });

const dataOf = ({ params }: DialectMessage): Record<string, unknown> =>
  (params as { data: Record<string, unknown> }).data;

const ask = (driver: DialectDriver, method: string, params: object): DialectStep =>
  driver.send({ id: 50, method, params: { sessionId: "s", ...params } });

const allOptions = [
  { optionId: "y", name: "Yes", kind: "allow_once" },
  { optionId: "a", name: "Always", kind: "allow_always" },
  { optionId: "n", name: "No", kind: "reject_once" },
  { optionId: "never", name: "Never", kind: "reject_always" },
];

test("a question is about an operation and a resource, with a reason; the call waits (8.3, Q7)", () => {
  const driver = inTurn();
  const call = { toolCallId: "t", title: "Write a.ts", kind: "edit", status: "in_progress" };
  tell(driver, { sessionUpdate: "tool_call", ...call, locations: [{ path: "/w/a.ts", line: 3 }] });
  const { toPeer } = ask(driver, "session/request_permission", {
    toolCall: { toolCallId: "t", title: "Write a.ts" },
    options: allOptions,
  });
  const [waits, question] = toPeer;
  assert.ok(waits !== undefined && question !== undefined);
  assert.equal(dataOf(waits)["status"], "awaiting_permission");
  assert.deepEqual(question.params, {
    sessionId: "s",
    operation: "file_write",
    resource: "/w/a.ts",
    reason: "Write a.ts",
    toolCallId: "t",
  });
  const granted = driver.receive({ id: 50, result: { granted: true, remember: true, scope: "session" } });
  assert.deepEqual(only(granted.toUs).result, {
    outcome: { outcome: "selected", optionId: "a" },
    _meta: { [details]: { scope: "session", remember: true } },
  });
  assert.deepEqual(dataOf(only(granted.toPeer)), { id: "t", status: "in_progress" });
});

test("the resource of a question is what the call is about, also where only updates before it say so (8.3)", () => {
  const diff = { type: "diff", path: "/w/new.ts", newText: "x" };
  const asked = (update: object, toolCall: object = {}): unknown => {
    const driver = inTurn();
    const call = { toolCallId: "t", title: "Do it", ...update };
    tell(driver, { sessionUpdate: "tool_call", ...call });
    const question = { toolCall: { toolCallId: "t", ...toolCall }, options: allOptions };
    const [, params] = ask(driver, "session/request_permission", question).toPeer;
    return (params?.params as { resource?: string } | undefined)?.resource;
  };
  const edit = { kind: "edit", rawInput: { path: "new.ts" } };
  assert.equal(asked({ ...edit, locations: [{ path: "/w/new.ts" }] }, { content: [diff] }), "/w/new.ts");
  assert.equal(asked(edit, { content: [diff] }), "/w/new.ts");
  assert.equal(asked({ kind: "fetch", rawInput: { url: "https://a.example" } }), "https://a.example");
  const run = { kind: "execute", locations: [{ path: "/w" }] };
  assert.equal(asked({ ...run, rawInput: { command: "npm", args: ["test"] } }), "npm test");
  assert.equal(asked({ kind: "edit" }), "Do it");
});

test("each kind of call has its operation (8.3)", () => {
  const kinds = {
    read: "file_read",
    edit: "file_write",
    delete: "file_delete",
    execute: "terminal_execute",
    fetch: "network_access",
    other: "mcp_tool",
  };
  for (const [kind, operation] of Object.entries(kinds)) {
    const rawInput = { command: "npm test" };
    const toolCall = { toolCallId: "t", title: "T", kind, rawInput };
    const { toPeer } = ask(inTurn(), "session/request_permission", { toolCall, options: allOptions });
    const { params } = toPeer.at(-1) ?? { params: {} };
    const asked = params as { operation: string; resource: string };
    assert.deepEqual([asked.operation, asked.resource], [operation, "npm test"]);
    assert.equal(
      dataOf(toPeer[0] ?? { jsonrpc: "2.0" })["requiresPermission"],
      true,
      "an unknown call is told first",
    );
  }
});

test("an answer chooses the nearest option, and an unclear one is never a yes (8.3)", () => {
  const cases: [object, string[], unknown][] = [
    [{ granted: true }, ["y", "a", "n", "never"], "y"],
    [{ granted: true, scope: "once" }, ["a", "n"], undefined],
    [{ granted: true, scope: "workspace" }, ["y", "a", "n"], "a"],
    [{ granted: true, scope: "always" }, ["y", "n"], "y"],
    [{ granted: false }, ["y", "n", "never"], "n"],
    [{ granted: false, remember: true }, ["y", "n", "never"], "never"],
    [{ granted: false }, ["y", "a"], undefined],
  ];
  for (const [result, ids, wanted] of cases) {
    const driver = inTurn();
    const options = allOptions.filter(({ optionId }) => ids.includes(optionId));
    ask(driver, "session/request_permission", { toolCall: { toolCallId: "t" }, options });
    const { outcome } = only(driver.receive({ id: 50, result }).toUs).result as {
      outcome: Record<string, unknown>;
    };
    assert.equal(outcome["optionId"], wanted, JSON.stringify(result));
    assert.equal(outcome["outcome"], wanted === undefined ? "cancelled" : "selected");
  }
});

test("a refusal is told as denied, at once and when the call fails (8.2)", () => {
  const driver = inTurn();
  tell(driver, { sessionUpdate: "tool_call", toolCallId: "t", title: "T", kind: "edit" });
  ask(driver, "session/request_permission", { toolCall: { toolCallId: "t" }, options: allOptions });
  const refused = driver.receive({ id: 50, result: { granted: false } });
  assert.deepEqual(dataOf(only(refused.toPeer)), { id: "t", status: "denied" });
  const failed = tell(driver, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" });
  assert.equal(dataOf(only(failed.toPeer))["status"], "denied");
});

test("a client without permission dialogs is not asked: the question is refused, with the reason (Q4)", () => {
  const driver = inTurn({ ...everything, ui: { permissionDialogs: false } });
  const step = ask(driver, "session/request_permission", {
    toolCall: { toolCallId: "t" },
    options: allOptions,
  });
  assert.deepEqual(step.toPeer, []);
  assert.deepEqual(only(step.toUs).result, {
    outcome: { outcome: "selected", optionId: "n" },
    _meta: { [details]: { reason: "the client shows no permission dialogs, so nobody could be asked" } },
  });
  assert.match(driver.lost.join(), /no permission dialogs/);
});

test("fs: ranges, encodings and facts of files (8.3)", () => {
  const driver = inTurn();
  const meta = { _meta: { "_parley.dev/encoding": "utf-16le" } };
  const read = ask(driver, "fs/read_text_file", { path: "/w/a", line: 3, limit: 4, ...meta });
  assert.deepEqual(only(read.toPeer).params, {
    path: "/w/a",
    encoding: "utf-16le",
    startLine: 3,
    endLine: 6,
  });
  const got = driver.receive({
    id: 50,
    result: { content: "c", encoding: "utf-16le", totalLines: 9, truncated: true },
  });
  assert.deepEqual(only(got.toUs).result, {
    content: "c",
    _meta: {
      "_parley.dev/encoding": "utf-16le",
      "_parley.dev/fileFacts": { totalLines: 9, truncated: true },
    },
  });
  const first = ask(driver, "fs/read_text_file", { path: "/w/a", limit: 2 });
  assert.deepEqual(only(first.toPeer).params, { path: "/w/a", startLine: 1, endLine: 2 });
  driver.receive({ id: 50, result: { content: "", encoding: "utf-8" } });
  assert.deepEqual(only(ask(driver, "fs/read_text_file", { path: "/w/a", limit: 0 }).toUs).result, {
    content: "",
  });
  const write = ask(driver, "fs/write_text_file", { path: "/w/b", content: "x" });
  assert.deepEqual(only(write.toPeer).params, {
    path: "/w/b",
    content: "x",
    createDirectories: true,
    overwrite: true,
  });
  const wrote = driver.receive({ id: 50, result: { bytesWritten: 1, created: true } });
  assert.deepEqual(only(wrote.toUs).result, {
    _meta: { "_parley.dev/fileFacts": { bytesWritten: 1, created: true } },
  });
  const kept = { _meta: { "_parley.dev/overwrite": false } };
  const careful = only(ask(driver, "fs/write_text_file", { path: "/w/b", content: "x", ...kept }).toPeer);
  assert.equal((careful.params as { overwrite: boolean }).overwrite, false);
});

test("fs and terminals that the client did not declare are not asked for (Q4)", () => {
  const driver = inTurn({});
  for (const [method, params] of [
    ["fs/read_text_file", { path: "/w/a" }],
    ["fs/write_text_file", { path: "/w/a", content: "" }],
    ["terminal/create", { command: "ls" }],
  ] as const) {
    const step = ask(driver, method, params);
    assert.deepEqual(step.toPeer, []);
    assert.equal(only(step.toUs).error?.code, -32601);
    assert.match(only(step.toUs).error?.message ?? "", /the client does not offer/);
  }
});

/** A terminal "t1". */
function withTerminal(capabilities: object = everything, limits: object = {}): DialectDriver {
  const driver = inTurn(capabilities);
  ask(driver, "terminal/create", { command: "npm", args: ["test"], ...limits });
  driver.receive({ id: 50, result: { terminalId: "t1", pid: 77 } });
  return driver;
}

test("terminals: created with a limit, a pid comes back, and output is pushed (8.3)", () => {
  const driver = inTurn();
  const create = ask(driver, "terminal/create", {
    command: "npm",
    args: ["test"],
    cwd: "/w",
    env: [{ name: "A", value: "b" }],
    _meta: { "_parley.dev/timeoutMs": 5000 },
  });
  assert.deepEqual(only(create.toPeer).params, {
    command: "npm",
    args: ["test"],
    cwd: "/w",
    env: { A: "b" },
    timeout: 5000,
  });
  const { toUs } = driver.receive({ id: 50, result: { terminalId: "t1", pid: 77 } });
  assert.deepEqual(only(toUs).result, {
    terminalId: "t1",
    _meta: { "_parley.dev/pid": 77, "_parley.dev/pushesOutput": true },
  });
});

test("pushed output is taken with or without an id, told to our agent, and kept for its polls", () => {
  const driver = withTerminal();
  const push = { terminalId: "t1", data: "out ", stream: "stdout" };
  const first = driver.receive({ id: 7, method: "terminal/output", params: push });
  assert.deepEqual(only(first.toPeer).result, { received: true });
  assert.deepEqual(only(first.toUs), { jsonrpc: "2.0", method: pushMethod, params: push });
  const second = driver.receive({
    method: "terminal/output",
    params: { ...push, data: "err", stream: "stderr" },
  });
  assert.deepEqual(second.toPeer, []);
  const poll = ask(driver, "terminal/output", { terminalId: "t1" });
  assert.deepEqual(only(poll.toUs).result, {
    output: "out err",
    truncated: false,
    _meta: { [details]: { stdout: "out ", stderr: "err" } },
  });
  const unknown = driver.receive({ id: 8, method: "terminal/output", params: { ...push, terminalId: "x" } });
  assert.deepEqual(only(unknown.toPeer).result, { received: false });
  const bare = driver.receive({ id: 8, method: "terminal/output", params: { terminalId: "t1" } });
  assert.equal(only(bare.toPeer).error?.code, -32602);
});

test("output that comes before the answer that names its terminal is not lost", () => {
  const driver = inTurn();
  ask(driver, "terminal/create", { command: "ls" });
  const early = driver.receive({
    id: 7,
    method: "terminal/output",
    params: { terminalId: "t1", data: "early" },
  });
  assert.deepEqual(only(early.toPeer).result, { received: true });
  driver.receive({ id: 50, result: { terminalId: "t1" } });
  const { output } = only(ask(driver, "terminal/output", { terminalId: "t1" }).toUs).result as {
    output: string;
  };
  assert.equal(output, "early");
});

test("at most 1 MiB of output is kept for each terminal, and never half a character", () => {
  const driver = withTerminal();
  const push = (data: string) =>
    driver.receive({ method: "terminal/output", params: { terminalId: "t1", data } });
  for (let i = 0; i < 40; i++) push("é".repeat(32 * 1024));
  push("x");
  const poll = only(ask(driver, "terminal/output", { terminalId: "t1" }).toUs);
  const { output, truncated } = poll.result as { output: string; truncated: boolean };
  assert.equal(truncated, true);
  const bytes = new TextEncoder().encode(output).length;
  assert.ok(bytes <= 1024 * 1024 && bytes > 1024 * 1024 - 4, String(bytes));
  assert.match(output, /^é+x$/);
});

test("wait_for_exit, kill with a signal or force, release, and nothing after it (8.3)", () => {
  const driver = withTerminal();
  const limit = { _meta: { "_parley.dev/timeoutMs": 100 } };
  const wait = ask(driver, "terminal/wait_for_exit", { terminalId: "t1", ...limit });
  assert.deepEqual(only(wait.toPeer).params, { terminalId: "t1", timeout: 100 });
  const late = driver.receive({ id: 50, result: { exitCode: -1, timedOut: true } });
  assert.deepEqual(only(late.toUs).result, { _meta: { "_parley.dev/timedOut": true } });
  const kill = ask(driver, "terminal/kill", { terminalId: "t1", _meta: { "_parley.dev/signal": "SIGINT" } });
  assert.deepEqual(only(kill.toPeer).params, { terminalId: "t1", signal: "SIGINT" });
  driver.receive({ id: 50, result: { killed: true } });
  ask(driver, "terminal/wait_for_exit", { terminalId: "t1" });
  const ended = driver.receive({ id: 50, result: { exitCode: -1, signal: "SIGINT" } });
  assert.deepEqual(only(ended.toUs).result, { signal: "SIGINT", _meta: { [details]: { exitCode: -1 } } });
  const polled = only(ask(driver, "terminal/output", { terminalId: "t1" }).toUs);
  assert.equal((polled.result as { exitStatus: { signal: string } }).exitStatus.signal, "SIGINT");
  ask(driver, "terminal/release", { terminalId: "t1" });
  driver.receive({ id: 50, result: { released: true } });
  const after = ask(driver, "terminal/output", { terminalId: "t1" });
  assert.equal(only(after.toUs).error?.code, -32002);
  const late2 = driver.receive({ id: 8, method: "terminal/output", params: { terminalId: "t1", data: "x" } });
  assert.deepEqual(only(late2.toPeer).result, { received: false });
});

test("no more terminals than maxConcurrent are asked for (Q4)", () => {
  const driver = withTerminal({ ...everything, terminal: { create: true, maxConcurrent: 1 } });
  const refused = ask(driver, "terminal/create", { command: "ls" });
  assert.deepEqual(refused.toPeer, []);
  assert.equal(only(refused.toUs).error?.code, -32063);
  assert.match(only(refused.toUs).error?.message ?? "", /at most 1 terminals at once: release one first/);
  ask(driver, "terminal/release", { terminalId: "t1" });
  driver.receive({ id: 50, result: { released: true } });
  assert.equal(ask(driver, "terminal/create", { command: "ls" }).toPeer.length, 1);
});

test("messages: an index for each piece, thoughts by their own name, and a last piece that is final (7.2, 8.3)", () => {
  const driver = inTurn();
  const pieces = (step: DialectStep): unknown[] =>
    step.toPeer
      .filter(({ method }) => method === "session/update")
      .map(({ params }) => {
        const { type, data, timestamp } = params as { type: string; data: object; timestamp: string };
        assert.equal(timestamp, new Date(0).toISOString());
        return [type, ...Object.values(data)];
      });
  const piece = (kind: string, text: string, messageId?: string): unknown => {
    const content = { type: "text", text };
    return pieces(tell(driver, { sessionUpdate: kind, content, ...(messageId && { messageId }) }));
  };
  assert.deepEqual(piece("agent_thought_chunk", "a"), [["thought_message_chunk", "a", 0, false]]);
  assert.deepEqual(piece("agent_message_chunk", "b", "1"), [["agent_message_chunk", "b", 0, false]]);
  assert.deepEqual(piece("agent_message_chunk", "c", "1"), [["agent_message_chunk", "c", 1, false]]);
  assert.deepEqual(piece("agent_message_chunk", "d", "2"), [
    ["agent_message_chunk", "", 2, true],
    ["agent_message_chunk", "d", 0, false],
  ]);
  assert.deepEqual(piece("user_message_chunk", "e"), [
    ["thought_message_chunk", "", 1, true],
    ["agent_message_chunk", "", 1, true],
    ["user_message_chunk", "e", 0, false],
  ]);
  assert.deepEqual(pieces(driver.send({ id: 9, result: { stopReason: "end_turn" } })), [
    ["user_message_chunk", "", 1, true],
  ]);
});

test("content of a message that is not text is shown by its place, and reported", () => {
  const driver = inTurn();
  const content = { type: "resource_link", uri: "file:///w/a", name: "a" };
  const { toPeer } = tell(driver, { sessionUpdate: "agent_message_chunk", content });
  assert.equal(dataOf(only(toPeer))["content"], "[resource_link: file:///w/a]");
  assert.deepEqual(driver.lost, ["content of type resource_link in a message"]);
});

test("tool calls: tool, input, status, location, output and duration (8.3)", () => {
  const driver = inTurn();
  const called = tell(driver, {
    sessionUpdate: "tool_call",
    toolCallId: "t",
    title: "Read a.ts",
    name: "fs/read_text_file",
    kind: "read",
    status: "pending",
    rawInput: { path: "/w/a.ts" },
    locations: [{ path: "/w/a.ts", line: 42 }],
  });
  assert.deepEqual(dataOf(only(called.toPeer)), {
    id: "t",
    tool: "fs/read_text_file",
    input: { path: "/w/a.ts" },
    status: "pending",
    location: { path: "/w/a.ts", line: 42 },
    _meta: { [details]: { title: "Read a.ts", kind: "read" } },
  });
  driver.pass(45);
  const text = { type: "content", content: { type: "text", text: "8 lines" } };
  const update = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed", content: [text] };
  assert.deepEqual(dataOf(only(tell(driver, update).toPeer)), {
    id: "t",
    status: "completed",
    output: { type: "text", text: "8 lines" },
    duration: 45,
  });
  const failed = tell(driver, { ...update, status: "failed" });
  assert.deepEqual(dataOf(only(failed.toPeer)), {
    id: "t",
    status: "failed",
    error: "8 lines",
    duration: 45,
  });
});

const diff = { type: "diff", path: "/w/a.ts", oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\n" };

test("a diff has hunks, computed from the texts (8.3)", () => {
  const { toPeer } = tell(inTurn(), {
    sessionUpdate: "tool_call_update",
    toolCallId: "t",
    status: "completed",
    content: [diff],
  });
  const content = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three";
  const hunks = [{ oldStart: 1, oldLines: 3, newStart: 1, newLines: 3, content }];
  assert.deepEqual(dataOf(only(toPeer))["output"], { type: "diff", path: "/w/a.ts", hunks });
});

test("a client without a diff viewer gets the diff as text (Q4)", () => {
  const driver = inTurn({ ui: { diffViewer: false } });
  const update = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed", content: [diff] };
  const output = dataOf(only(tell(driver, update).toPeer))["output"] as { type: string; text: string };
  assert.equal(output.type, "text");
  assert.match(output.text, /^--- \/w\/a\.ts\n\+\+\+ \/w\/a\.ts\n@@ -1,3 \+1,3 @@\n one\n-two\n\+2\n three$/);
});

test("a terminal in a tool call has its command, its exit code and both streams (8.3)", () => {
  const driver = withTerminal();
  const push = (data: string, stream: string) =>
    driver.receive({ method: "terminal/output", params: { terminalId: "t1", data, stream } });
  push("ok\n", "stdout");
  push("warn\n", "stderr");
  ask(driver, "terminal/wait_for_exit", { terminalId: "t1" });
  driver.receive({ id: 50, result: { exitCode: 0 } });
  ask(driver, "terminal/release", { terminalId: "t1" });
  driver.receive({ id: 50, result: { released: true } });
  const content = [{ type: "terminal", terminalId: "t1" }];
  const shown = tell(driver, {
    sessionUpdate: "tool_call_update",
    toolCallId: "t",
    status: "completed",
    content,
  });
  assert.deepEqual(dataOf(only(shown.toPeer))["output"], {
    type: "terminal",
    terminalId: "t1",
    command: "npm test",
    exitCode: 0,
    stdout: "ok\n",
    stderr: "warn\n",
  });
});

test("plans have step ids, commands their names, options one update for each change (8.3)", () => {
  const driver = inTurn();
  const entries = [
    { content: "Read", priority: "high", status: "completed" },
    { content: "Write", priority: "medium", status: "in_progress" },
  ];
  assert.deepEqual(dataOf(only(tell(driver, { sessionUpdate: "plan", entries }).toPeer)), {
    planId: "main",
    steps: [
      { id: "step_1", description: "Read", status: "completed", _meta: { [details]: { priority: "high" } } },
      { id: "step_2", description: "Write", status: "in_progress" },
    ],
  });
  const availableCommands = [{ name: "help", description: "Help", input: { hint: "topic" } }];
  const commands = tell(driver, { sessionUpdate: "available_commands_update", availableCommands });
  assert.deepEqual(dataOf(only(commands.toPeer)), {
    commands: [{ name: "help", description: "Help", _meta: { [details]: { hint: "topic" } } }],
  });
  const options = (a: boolean, b: string): object => ({
    sessionUpdate: "config_option_update",
    configOptions: [
      { id: "a", name: "a", type: "boolean", currentValue: a },
      { id: "b", name: "b", type: "select", currentValue: b, options: [{ value: b, name: b }] },
    ],
  });
  assert.equal(tell(driver, options(false, "x")).toPeer.length, 2);
  assert.deepEqual(dataOf(only(tell(driver, options(true, "x")).toPeer)), {
    key: "a",
    previousValue: false,
    currentValue: true,
    source: "agent",
  });
  assert.deepEqual(tell(driver, { sessionUpdate: "usage_update", used: 1, size: 2 }).toPeer, []);
  assert.match(driver.lost.at(-1) ?? "", /usage_update, which the dialect scoped does not have/);
});
