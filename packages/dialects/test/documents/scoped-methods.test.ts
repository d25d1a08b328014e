// The methods that the document about scoped describes in tables (its section 5), without an example.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { DialectMessage } from "@parley/acp/transport";
import type { Json } from "../../../acp/test/documents/documents.ts";
import { configOptions } from "../../../acp/test/interop/v1-samples.ts";
import { scopedMachines as scoped } from "../../src/scoped/machines.ts";
import { DialectPair, introduction, welcome } from "./dialect-pair.ts";

const jsonrpc = "2.0";
const sessionId = "s";

function initialized(answers: Json = {}): DialectPair {
  const pair = new DialectPair(scoped, answers);
  pair.ask("client", "initialize", introduction, welcome);
  return pair;
}

/** A pair with a session whose turn runs. */
function inTurn(answers: Json = {}): DialectPair {
  const pair = initialized(answers);
  pair.ask("client", "session/new", { cwd: "/project", mcpServers: [] }, { sessionId });
  const params = { sessionId, prompt: [{ type: "text", text: "go" }] };
  pair.say("client", { jsonrpc, id: 1, method: "session/prompt", params });
  pair.wire.length = 0;
  return pair;
}

/** The params and results that were said in the dialect, in order. */
const saidIn = (wire: readonly DialectMessage[]): unknown[] =>
  wire.map(({ params, result }) => params ?? result);

test("5.1.2 authenticate has a method and credentials, and is answered with success and its end", () => {
  const pair = initialized();
  pair.wire.length = 0;
  const _meta = { "_parley.dev/credentials": { token: "t" } };
  const answer = { _meta: { "_parley.dev/expiresAt": "2026-03-01T12:00:00Z" } };
  pair.ask("client", "authenticate", { methodId: "oauth2", _meta }, answer);
  assert.deepEqual(saidIn(pair.wire), [
    { method: "oauth2", credentials: { token: "t" } },
    { success: true, expiresAt: "2026-03-01T12:00:00Z" },
  ]);
  assert.deepEqual(pair.heard.agent.at(-1)?.params, { methodId: "oauth2", _meta });
  assert.deepEqual(pair.heard.client.at(-1)?.result, answer);
});

test("5.1.4 to 5.1.7 a loaded session says where it works, its mode and options; both can be set", () => {
  const pair = initialized();
  pair.wire.length = 0;
  const ids = ["ask", "architect"];
  const modes = { currentModeId: "ask", availableModes: ids.map((id) => ({ id, name: id })) };
  const _meta = { "_parley.dev/details": { workingDirectory: "/project", messageCount: 2 } };
  const load = { sessionId, cwd: "/project", mcpServers: [] };
  pair.ask("client", "session/load", load, { modes, configOptions, _meta });
  pair.ask("client", "session/set_mode", { sessionId, modeId: "architect" }, {});
  const changed = configOptions.map((each) => (each.id === "web" ? { ...each, currentValue: true } : each));
  const setting = { sessionId, configId: "web", type: "boolean", value: true };
  pair.ask("client", "session/set_config_option", setting, { configOptions: changed });
  assert.deepEqual(saidIn(pair.wire.filter(({ method }) => method !== "session/update")), [
    { sessionId },
    {
      sessionId,
      workingDirectory: "/project",
      mode: "default",
      configOptions: { model: "small", effort: "low", web: false },
      messageCount: 2,
    },
    { sessionId, mode: "architect" },
    { previousMode: "default", currentMode: "architect" },
    { sessionId, key: "web", value: true },
    { key: "web", previousValue: false, currentValue: true },
  ]);
});

test("5.2.2 and 5.2.3 files have encodings and ranges of lines, and their answers say what was read and written", () => {
  const pair = inTurn({ "fs/read_text_file": { content: "old" } });
  const facts = { totalLines: 9, truncated: true };
  const range = { sessionId, path: "/project/a", line: 2, limit: 3 };
  pair.ask("agent", "fs/read_text_file", range, {
    content: "x",
    _meta: { "_parley.dev/fileFacts": facts },
  });
  pair.ask("agent", "fs/write_text_file", { sessionId, path: "/project/a", content: "äx" }, {});
  assert.deepEqual(saidIn(pair.wire), [
    { path: "/project/a", startLine: 2, endLine: 4 },
    { content: "x", encoding: "utf-8", totalLines: 9, truncated: true },
    { path: "/project/a", content: "äx", createDirectories: true, overwrite: true },
    { bytesWritten: 3, created: false },
  ]);
});

test("5.2.4 to 5.2.8 a terminal pushes its output before its end, and is killed and released", () => {
  const pair = inTurn();
  const terminal = { sessionId, terminalId: "t" };
  const push = (data: string, stream: string): void =>
    pair.say("client", {
      jsonrpc,
      method: "_parley.dev/terminal_output",
      params: { terminalId: "t", data, stream },
    });
  const create = { sessionId, command: "npm", args: ["test"], env: [{ name: "CI", value: "1" }] };
  const created = { terminalId: "t", _meta: { "_parley.dev/pid": 7, "_parley.dev/pushesOutput": true } };
  pair.ask("agent", "terminal/create", { ...create, _meta: { "_parley.dev/timeoutMs": 5000 } }, created);
  const wait = { ...terminal, _meta: { "_parley.dev/timeoutMs": 100 } };
  pair.say("agent", { jsonrpc, id: 10, method: "terminal/wait_for_exit", params: wait });
  push("one\n", "stdout");
  push("two\n", "stderr");
  pair.say("client", { jsonrpc, id: 10, result: { exitCode: 0 } });
  pair.say("agent", { jsonrpc, id: 11, method: "terminal/output", params: terminal });
  const polled = pair.heard.agent.at(-1)?.result;
  pair.ask("agent", "terminal/kill", { ...terminal, _meta: { "_parley.dev/signal": "SIGINT" } }, {});
  pair.ask("agent", "terminal/release", terminal, {});
  assert.deepEqual(saidIn(pair.wire), [
    { command: "npm", args: ["test"], env: { CI: "1" }, timeout: 5000 },
    { terminalId: "t", pid: 7 },
    { terminalId: "t", timeout: 100 },
    { terminalId: "t", data: "one\n", stream: "stdout" },
    { received: true },
    { terminalId: "t", data: "two\n", stream: "stderr" },
    { received: true },
    { exitCode: 0 },
    { terminalId: "t", signal: "SIGINT" },
    { killed: true },
    { terminalId: "t" },
    { released: true },
  ]);
  assert.deepEqual(polled, {
    output: "one\ntwo\n",
    truncated: false,
    exitStatus: { exitCode: 0 },
    _meta: { "_parley.dev/details": { stdout: "one\n", stderr: "two\n" } },
  });
});
