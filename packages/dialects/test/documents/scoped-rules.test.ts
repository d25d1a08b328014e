// The duties that only the document about scoped has (docs/rules.md, Q4 to Q8).

import assert from "node:assert/strict";
import { test } from "node:test";
import { scopedMachines as scoped } from "../../src/scoped/machines.ts";
import { DialectPair, introduction, welcome } from "./dialect-pair.ts";

const jsonrpc = "2.0";

/** A pair with a session whose turn runs. */
function inTurn(): DialectPair {
  const pair = new DialectPair(scoped);
  pair.ask("client", "initialize", introduction, welcome);
  pair.ask("client", "session/new", { cwd: "/home/user/project", mcpServers: [] }, { sessionId: "s" });
  const params = { sessionId: "s", prompt: [{ type: "text", text: "go" }] };
  pair.say("client", { jsonrpc, id: 1, method: "session/prompt", params });
  return pair;
}

test("Q4 initialize fails if the client lacks what the agent requires, and the error names it", () => {
  const pair = new DialectPair(scoped);
  const params = { protocolVersion: 1, clientInfo: { name: "c", version: "1" }, clientCapabilities: {} };
  pair.say("client", { jsonrpc, id: 1, method: "initialize", params });
  const result = {
    protocolVersion: 1,
    agentInfo: { name: "a", version: "1" },
    capabilities: {},
    requiredClientCapabilities: { fs: { read: true }, terminal: { create: false } },
  };
  const [answer] = pair.received("client", { jsonrpc, id: 1, result });
  assert.equal(answer?.result, undefined);
  assert.match(answer?.error?.message ?? "", /requires fs\.read/);
});

test("Q5 _meta that is no object is refused; its keys arrive as they came", () => {
  const content = [{ type: "text", text: "hi" }];
  const prompt = (meta: unknown) => ({
    jsonrpc: "2.0" as const,
    id: 2,
    method: "session/prompt",
    params: { sessionId: "s", content, _meta: meta },
  });
  const [refused] = inTurn().answered("agent", prompt(5));
  assert.equal(refused?.error?.code, -32602);
  const [arrived] = inTurn().received("agent", prompt({ "example.com/key": [1] }));
  assert.deepEqual(arrived?.params, { sessionId: "s", prompt: content, _meta: { "example.com/key": [1] } });
});

test("Q6 a custom method reaches the agent, and -32601 goes back where it has none", () => {
  const pair = inTurn();
  const call = { jsonrpc: "2.0" as const, id: 2, method: "_custom/analyzeCode", params: { path: "/a" } };
  assert.deepEqual(pair.received("agent", call), [call]);
  const error = { code: -32601, message: "_custom/analyzeCode is not supported" };
  assert.deepEqual(pair.sent("agent", { jsonrpc, id: 2, error }), [{ jsonrpc, id: 2, error }]);
});

test("Q7 the reason of a question reaches the user, and its answer may be remembered", () => {
  const params = { sessionId: "s", operation: "file_write", resource: "/a", reason: "to fix it" };
  const [asked] = inTurn().received("client", {
    jsonrpc,
    id: 2,
    method: "session/request_permission",
    params,
  });
  const { toolCall, options } = asked!.params as {
    toolCall: { title: string; content: unknown };
    options: { optionId: string }[];
  };
  assert.equal(toolCall.title, "file_write: /a");
  assert.deepEqual(toolCall.content, [{ type: "content", content: { type: "text", text: "to fix it" } }]);
  assert.deepEqual(
    options.map(({ optionId }) => optionId),
    ["once", "session", "workspace", "always", "reject_once", "reject_always"],
  );
});

test("Q8 a relative path starts from the working directory of the session", () => {
  const pair = inTurn();
  const ask = (id: number, method: string, params: object) =>
    pair.received("client", { jsonrpc, id, method, params })[0]?.params;
  assert.deepEqual(ask(2, "fs/read_text_file", { path: "src/a.ts" }), {
    sessionId: "s",
    path: "/home/user/project/src/a.ts",
  });
  assert.deepEqual(ask(3, "terminal/create", { command: "ls", cwd: "src" }), {
    sessionId: "s",
    command: "ls",
    cwd: "/home/user/project/src",
  });
});
