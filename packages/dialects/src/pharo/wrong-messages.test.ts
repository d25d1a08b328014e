// What peers get wrong: the machine answers it itself, and nothing of it reaches our side.

import assert from "node:assert/strict";
import test from "node:test";
import { DialectDriver } from "../../test/support/dialect-driver.ts";
import { maxArrayItems } from "../exchange/library.ts";
import { methods } from "../wire/pharo/methods.gen.ts";
import { pharoMachines as pharo } from "./machines.ts";

const agent = (): DialectDriver => new DialectDriver(pharo, "agent", methods);
const client = (): DialectDriver => new DialectDriver(pharo, "client", methods);

test("a request with a wrong shape is answered with the place, what was wanted and what was got", () => {
  const wrong: [string, unknown, string, string][] = [
    ["initialize", {}, "/protocolVersion", "must be integer from 0 to 65535, got nothing"],
    [
      "initialize",
      { protocolVersion: 1, clientCapabilities: { terminal: true } },
      "/clientCapabilities/terminal",
      "must be object, got boolean",
    ],
    ["session/new", { cwd: "relative" }, "/cwd", "must be an absolute path"],
    ["session/new", { cwd: "/w", mcpServers: [{ command: "x" }] }, "/mcpServers/0/transport", "must be "],
    [
      "session/new",
      { cwd: "/w", mcpServers: [{ transport: "stdio", command: "x", env: [] }] },
      "/mcpServers/0/env",
      "must be object, got array",
    ],
    [
      "session/set_config_option",
      { sessionId: "s", configId: "o", value: 1 },
      "/option",
      "must be string, got nothing",
    ],
    ["session/prompt", { sessionId: "s", prompt: [{ type: "hologram" }] }, "/prompt/0/type", "must be "],
    ["session/prompt", { sessionId: "s", prompt: "Hello" }, "/prompt", "must be array, got string"],
    ["session/set_mode", [], "", "must be object, got array"],
    ["authenticate", null, "", "must be object, got null"],
    ["authenticate", { methodId: "a", credentials: "k" }, "/credentials", "must be object, got string"],
  ];
  for (const [method, params, path, words] of wrong) {
    const driver = agent();
    const { toUs, toPeer } = driver.receive({ id: 1, method, params });
    assert.deepEqual(toUs, []);
    const { error } = toPeer[0]!;
    assert.equal(error?.code, -32602, method);
    assert.ok(error.message.startsWith(`${method}: params${path} ${words}`), error.message);
    assert.deepEqual(error.data, { reason: "invalid_params", path });
  }
});

test("a notification with a wrong shape is dropped and told, and so is one that nobody knows", () => {
  const driver = client();
  const messages = [
    { method: "session/update", params: { sessionId: "s", update: { type: "message", role: "agent" } } },
    { method: "session/update", params: { sessionId: "s", update: { sessionUpdate: "plan", entries: [] } } },
    { method: "session/vanished", params: {} },
  ];
  for (const message of messages) assert.deepEqual(driver.receive(message), { toUs: [], toPeer: [] });
  assert.equal(driver.lost.length, 3);
  assert.match(driver.lost[0] ?? "", /^session\/update was dropped: .*params\/update\/content must be array/);
  assert.match(driver.lost[2] ?? "", /does not have: session\/vanished/);
});

test("a request that the dialect does not have is answered with -32601, and our own methods pass (Q6)", () => {
  const driver = agent();
  const { toUs, toPeer } = driver.receive({ id: 1, method: "session/list", params: {} });
  assert.deepEqual(toUs, []);
  assert.equal(toPeer[0]?.error?.code, -32601);
  // a request of the other side is none of this side
  assert.equal(
    driver.receive({ id: 2, method: "fs/read_text_file", params: {} }).toPeer[0]?.error?.code,
    -32601,
  );
  assert.equal(driver.receive({ id: 3, method: "__proto__", params: {} }).toUs.length, 1);
  assert.equal(driver.receive({ id: 4, method: "constructor", params: {} }).toPeer[0]?.error?.code, -32601);
});

test("a request without an id whose answer would be needed is dropped and told", () => {
  const driver = agent();
  const step = driver.receive({ method: "session/new", params: { cwd: "/w" } });
  assert.deepEqual(step, { toUs: [], toPeer: [] });
  assert.match(driver.lost[0] ?? "", /session\/new without an id/);
});

test("an answer with a wrong shape is an error for our side", () => {
  const driver = agent();
  const terminal = { create: true, output: true, waitForExit: true, kill: true, release: true };
  const params = { protocolVersion: 1, clientCapabilities: { terminal, fs: { readTextFile: true } } };
  driver.receive({ id: 1, method: "initialize", params });
  const ask = (method: string, given: object, result: unknown) => {
    driver.send({ id: 9, method, params: given });
    const { toUs, toPeer } = driver.receive({ id: 9, result });
    assert.deepEqual(toPeer, []);
    return toUs[0]?.error;
  };
  const ids = { sessionId: "s", terminalId: "t" };
  const error = ask("terminal/output", ids, { output: 5 });
  assert.deepEqual(error, {
    code: -32603,
    message: "terminal/output: result/output must be string, got number",
    data: { reason: "internal_error", path: "/output" },
  });
  for (const result of [null, undefined, [], "x", { content: null }])
    assert.equal(ask("fs/read_text_file", { sessionId: "s", path: "/a" }, result)?.code, -32603);
  const question = { sessionId: "s", toolCall: { toolCallId: "c" }, options: [] };
  assert.equal(
    ask("session/request_permission", question, { outcome: { outcome: "cancelled" } })?.code,
    -32603,
  );
});

test("an id that is in use is refused under null, and the first request keeps its answer (N051)", () => {
  const driver = agent();
  driver.receive({ id: 1, method: "session/prompt", params: { sessionId: "s", prompt: [] } });
  const { toUs, toPeer } = driver.receive({ id: 1, method: "session/new", params: { cwd: "/w" } });
  assert.deepEqual(toUs, []);
  assert.deepEqual([toPeer[0]?.id, toPeer[0]?.error?.code], [null, -32600]);
  const answer = driver.send({ id: 1, result: { stopReason: "end_turn" } });
  assert.deepEqual(answer.toPeer[0]?.result, { stopReason: "end_turn" });
});

test("an answer to nothing goes on as it is, and the second answer to a request is one", () => {
  const driver = agent();
  const stray = { jsonrpc: "2.0", id: 77, result: { selectedOptionId: "x" } };
  assert.deepEqual(driver.receive(stray).toUs, [stray]);
  assert.deepEqual(driver.receive({ id: "parley:1", result: null }).toPeer, []);
});

test("the machine's own ids never meet those of the peer", () => {
  const driver = agent();
  const mode = { method: "session/set_mode", params: { sessionId: "s", modeId: "m" } };
  driver.receive({ id: "parley:1", ...mode });
  const { toUs } = driver.receive(mode);
  assert.equal(toUs[0]?.id, "parley:2");
  assert.equal(driver.send({ id: "parley:2", result: {} }).toPeer.length, 0);
  assert.deepEqual(driver.send({ id: "parley:1", result: {} }).toPeer[0]?.id, "parley:1");
});

test("fields that nobody knows move into _meta, and __proto__ is a plain name", () => {
  const driver = agent();
  const params = JSON.parse(
    '{"cwd":"/w","colour":"red","mcpServers":[{"transport":"stdio","command":"x","env":{"__proto__":"1"},"name":"n"}]}',
  );
  const [asked] = driver.receive({ id: 1, method: "session/new", params }).toUs;
  const { mcpServers, _meta } = asked!.params as {
    mcpServers: { env: unknown; _meta: unknown }[];
    _meta: object;
  };
  assert.deepEqual(_meta, { "_parley.dev/extra": { colour: "red" } });
  assert.deepEqual(mcpServers[0]?.env, [{ name: "__proto__", value: "1" }]);
  assert.deepEqual(mcpServers[0]?._meta, { "_parley.dev/extra": { name: "n" } });
});

test("huge values: too many items are refused, long texts pass, long names are cut in the answer", () => {
  const driver = agent();
  const prompt = Array.from({ length: maxArrayItems + 1 }, () => ({ type: "text", text: "" }));
  const many = driver.receive({ id: 1, method: "session/prompt", params: { sessionId: "s", prompt } });
  assert.equal(many.toPeer[0]?.error?.code, -32063);
  const text = "x".repeat(5_000_000);
  const long = { sessionId: "s", prompt: [{ type: "text", text }] };
  assert.deepEqual(driver.receive({ id: 2, method: "session/prompt", params: long }).toUs[0]?.params, long);
  const unknown = driver.receive({ id: 3, method: "m".repeat(100_000), params: {} }).toPeer[0];
  assert.ok(JSON.stringify(unknown).length < 1000);
});
