import assert from "node:assert/strict";
import test from "node:test";
import type { DialectMessage } from "../dialect.ts";
import { credentialsKey, storedCwdKey, timeoutKey, valueKey } from "../dialect-keys.ts";
import { aliasReader } from "./alias.ts";

const message = (fields: object): DialectMessage => ({ jsonrpc: "2.0", ...fields });
const request = (method: string, params: object): DialectMessage => message({ id: 1, method, params });

test("messages of version 1 pass as they are", () => {
  const update = { sessionUpdate: "tool_call_update", toolCallId: "c", type: "x" };
  const messages: ["agent" | "client", DialectMessage][] = [
    ["agent", request("initialize", { protocolVersion: 1, clientCapabilities: { terminal: true } })],
    ["agent", request("authenticate", { methodId: "a" })],
    [
      "agent",
      request("session/new", { cwd: "/w", mcpServers: [{ name: "x", command: "x", args: [], env: [] }] }),
    ],
    ["agent", request("session/load", { sessionId: "s", cwd: "/w", mcpServers: [] })],
    ["agent", request("session/set_config_option", { sessionId: "s", configId: "o", value: "x" })],
    ["agent", request("session/set_mode", { sessionId: "s", modeId: "m" })],
    ["agent", message({ method: "session/cancel", params: { sessionId: "s" } })],
    ["agent", message({ id: 1, result: { outcome: { outcome: "cancelled" } } })],
    ["agent", message({ id: 1, result: null })],
    ["agent", message({ id: 1, error: { code: -32001, message: "m" } })],
    ["client", message({ id: 1, result: { protocolVersion: 1, authMethods: [] } })],
    ["client", message({ method: "session/update", params: { sessionId: "s", update } })],
    ["client", request("session/request_permission", { sessionId: "s", toolCall: {}, options: [] })],
    ["client", request("fs/read_text_file", { sessionId: "s", path: "/a", line: 1 })],
    ["client", request("terminal/create", { sessionId: "s", command: "x", env: [] })],
  ];
  for (const [role, each] of messages)
    assert.deepEqual(aliasReader(role).receive(each), { toUs: [each], toPeer: [] });
});

/** What our side gets of one message. */
function read(role: "agent" | "client", given: object): unknown {
  const { toUs, toPeer } = aliasReader(role).receive(message(given));
  assert.deepEqual(toPeer, []);
  assert.equal(toUs.length, 1);
  return toUs[0]?.params ?? toUs[0]?.result;
}

test("our agent on version 1 reads the dialect's names", () => {
  const at = (method: string, params: object) => read("agent", { id: 1, method, params });
  assert.deepEqual(at("authenticate", { methodId: "a", credentials: { k: "v" } }), {
    methodId: "a",
    _meta: { [credentialsKey]: { k: "v" } },
  });
  const mcpServers = [
    { transport: "stdio", command: "x", env: { A: "1" } },
    { name: "own", command: "y", args: [], env: [] },
    { transport: "http", url: "https://mcp.example" },
  ];
  const listed = [
    { name: "server-1", command: "x", args: [], env: [{ name: "A", value: "1" }] },
    mcpServers[1],
    { type: "http", name: "server-3", url: "https://mcp.example", headers: [] },
  ];
  assert.deepEqual(at("session/new", { cwd: "/w", mcpServers }), { cwd: "/w", mcpServers: listed });
  assert.deepEqual(at("session/load", { sessionId: "s" }), {
    sessionId: "s",
    cwd: "/",
    mcpServers: [],
    _meta: { [storedCwdKey]: true },
  });
  assert.deepEqual(at("session/set_config_option", { sessionId: "s", option: "o", value: [1] }), {
    sessionId: "s",
    configId: "o",
    value: "[1]",
    _meta: { [valueKey]: [1] },
  });
  assert.deepEqual(read("agent", { id: 1, result: { selectedOptionId: "y" } }), {
    outcome: { outcome: "selected", optionId: "y" },
  });
});

test("what our agent on version 1 sends stays version 1, and a request without an id gets no answer", () => {
  const reader = aliasReader("agent");
  const mode = message({ method: "session/set_mode", params: { sessionId: "s", modeId: "m" } });
  const [asked] = reader.receive(mode).toUs;
  assert.deepEqual({ ...asked, id: undefined }, { ...mode, id: undefined });
  assert.deepEqual(reader.send(message({ id: asked!.id, result: {} })), { toUs: [], toPeer: [] });
  const plain = message({ id: 4, result: { configOptions: [] } });
  assert.deepEqual(reader.send(plain), { toUs: [], toPeer: [plain] });
  const v1 = request("session/prompt", { sessionId: "s", prompt: [] });
  assert.deepEqual(reader.receive(v1), { toUs: [v1], toPeer: [] });
});

test("our client on version 1 reads the dialect's names", () => {
  const at = (method: string, params: object) => read("client", { id: 1, method, params });
  assert.deepEqual(at("fs/read_text_file", { sessionId: "s", path: "/a", startLine: 2, lineLimit: 3 }), {
    sessionId: "s",
    path: "/a",
    line: 2,
    limit: 3,
  });
  const env = [{ name: "A", value: "1" }];
  assert.deepEqual(at("terminal/create", { sessionId: "s", command: "x", env: { A: "1" } }), {
    sessionId: "s",
    command: "x",
    env,
  });
  assert.deepEqual(at("terminal/wait_for_exit", { sessionId: "s", terminalId: "t", timeout: 5 }), {
    sessionId: "s",
    terminalId: "t",
    _meta: { [timeoutKey]: 5 },
  });
  const update = { type: "message", role: "agent", content: [{ type: "text", text: "hi" }] };
  assert.deepEqual(read("client", { method: "session/update", params: { sessionId: "s", update } }), {
    sessionId: "s",
    update: {
      sessionUpdate: "agent_message_chunk",
      messageId: "parley:message:1",
      content: { type: "text", text: "hi" },
    },
  });
});

test("a question in the dialect is answered as version 1 does, and its made-up call ends", () => {
  const reader = aliasReader("client");
  const options = [{ optionId: "y", kind: "allow_once", label: "Yes" }];
  const [asked] = reader.receive(
    request("session/request_permission", { sessionId: "s", title: "Go?", options }),
  ).toUs;
  assert.deepEqual(asked?.params, {
    sessionId: "s",
    toolCall: { toolCallId: "perm_1", kind: "other", status: "pending", title: "Go?" },
    options: [{ optionId: "y", kind: "allow_once", name: "Yes" }],
  });
  const answer = message({ id: 1, result: { outcome: { outcome: "selected", optionId: "y" } } });
  const { toUs, toPeer } = reader.send(answer);
  assert.deepEqual(toPeer, [answer]);
  const update = { sessionUpdate: "tool_call_update", toolCallId: "perm_1", status: "completed" };
  assert.deepEqual(toUs[0]?.params, { sessionId: "s", update });
});

test("a message with a tell that is not valid in the dialect either goes on unchanged, to be refused", () => {
  const broken = message({
    method: "session/update",
    params: { sessionId: "s", update: { type: "message" } },
  });
  assert.deepEqual(aliasReader("client").receive(broken).toUs, [broken]);
});
