import assert from "node:assert/strict";
import { test } from "node:test";
import { type Message, RawPeer } from "../../../test/support/raw-peer-probe.ts";
import { agent, client } from "../../index.ts";
import { memoryPair } from "../../transport.ts";

const v1 = { protocolVersion: 1, clientCapabilities: {} };
const sentence = (what: string, dialect: string): string =>
  `${what}: this is written in the dialect "${dialect}", which is not enabled here; add "${dialect}" to the editions (with parley: --edition ${dialect}, or "edition": "${dialect}" for the agent in the config; for the editor of a bridge --as ${dialect})`;

function servedBy(prompt: Parameters<typeof agent>[0]["prompt"] = () => undefined): RawPeer {
  const [near, far] = memoryPair();
  agent({ name: "plain", version: "1", prompt }).connect(far);
  return new RawPeer(near);
}

/** Requests to an agent that would pass as version 1 without what they mean, or fail for another reason. */
const toAgents: readonly (readonly [dialect: string, method: string, params: object])[] = [
  ["pharo", "authenticate", { methodId: "key", credentials: { key: "x" } }],
  [
    "pharo",
    "session/new",
    { cwd: "/w", mcpServers: [{ transport: "stdio", command: "x", args: [], env: {} }] },
  ],
  ["pharo", "session/set_config_option", { sessionId: "s", option: "model", value: "x" }],
  ["scoped", "authenticate", { method: "api_key", credentials: { apiKey: "x" } }],
  ["scoped", "session/new", { workingDirectory: "/w" }],
  ["scoped", "session/prompt", { sessionId: "s", content: [{ type: "text", text: "hi" }] }],
  ["scoped", "session/set_mode", { sessionId: "s", mode: "plan" }],
  ["scoped", "session/set_config_option", { sessionId: "s", key: "model", value: "x" }],
];

test("an agent without dialects refuses an initialize of one with a sentence that names the option", async () => {
  const asked: readonly (readonly [string, object])[] = [
    ["pharo", { protocolVersion: 1, clientCapabilities: { terminal: { create: true } } }],
    [
      "scoped",
      { protocolVersion: 1, clientInfo: { name: "x", version: "1" }, capabilities: { fs: { read: true } } },
    ],
  ];
  for (const [dialect, params] of asked) {
    const peer = servedBy();
    const { error } = (await peer.ask(1, "initialize", params)) as { error?: Message };
    assert.equal(error?.["message"], sentence("initialize", dialect));
    assert.deepEqual(error?.["data"], { reason: "dialect_not_enabled", dialect });
    // the connection stays usable
    assert.ok((await peer.ask(2, "initialize", v1))["result"]);
    await peer.close();
  }
});

for (const [dialect, method, params] of toAgents) {
  test(`an agent of version 1 refuses ${method} of ${dialect}, and goes on`, async () => {
    const peer = servedBy();
    await peer.ask(1, "initialize", v1);
    const { error } = (await peer.ask(2, method, params)) as { error?: Message };
    assert.equal(error?.["message"], sentence(method, dialect));
    assert.equal(error?.["code"], -32602);
    assert.ok((await peer.ask(3, "session/new", { cwd: "/w", mcpServers: [] }))["result"]);
    await peer.close();
  });
}

/** Answers of a client that would pass as version 1. */
const answers: readonly (readonly [string, string, object])[] = [
  ["pharo", "session/request_permission", { selectedOptionId: "yes" }],
  ["scoped", "session/request_permission", { granted: true }],
  ["pharo", "terminal/wait_for_exit", { exitCode: 0, output: "x" }],
  ["scoped", "terminal/wait_for_exit", { exitCode: 0, timedOut: false }],
  ["scoped", "fs/write_text_file", { bytesWritten: 1, created: true }],
];

for (const [dialect, method, result] of answers) {
  test(`an answer to ${method} in the shape of ${dialect} fails with the sentence`, async () => {
    // a question whose answer cannot be read has none
    let failure: unknown;
    const [near, far] = memoryPair();
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" } as const];
    agent({
      name: "plain",
      version: "1",
      log: (_level, message) => {
        failure ??= message;
      },
      async prompt(turn) {
        try {
          if (method === "session/request_permission")
            await turn.requestPermission({ title: "May I?", options });
          else if (method === "fs/write_text_file") await turn.client.files?.writeText("/w/a", "x");
          else await (await turn.client.terminals?.create({ command: "x" }))?.waitForExit();
        } catch (error) {
          failure = error;
        }
      },
    }).connect(far);
    const peer = new RawPeer(near, (message, self) => {
      if (message["method"] === "terminal/create") self.answer(message, { terminalId: "t" });
      else if (message["method"] === method) self.answer(message, result);
      else if (message["method"] === "terminal/release") self.answer(message, {});
    });
    const can = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };
    await peer.ask(1, "initialize", { protocolVersion: 1, clientCapabilities: can });
    const { result: opened } = await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
    const { sessionId } = opened as { sessionId: string };
    await peer.ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
    assert.match(
      String(failure),
      new RegExp(`the answer to ${method}: this is written in the dialect "${dialect}"`),
    );
    await peer.close();
  });
}

/** Answers of an agent to `initialize`. */
const welcomes: readonly (readonly [string, object])[] = [
  ["pharo", { protocolVersion: 1, agentCapabilities: {}, authenticationMethods: [] }],
  ["pharo", { protocolVersion: 1, agentCapabilities: { sessionModes: [] } }],
  ["scoped", { protocolVersion: 1, capabilities: { loadSession: true } }],
];

for (const [dialect, welcome] of welcomes) {
  test(`a client without dialects refuses an agent that answers in ${dialect}: ${Object.keys(welcome)}`, async () => {
    const [near, far] = memoryPair();
    new RawPeer(far, (message, self) => self.answer(message, welcome));
    await assert.rejects(client({ name: "c", version: "1" }).connect(near), {
      kind: "protocol",
      message: sentence("the answer to initialize", dialect),
    });
  });
}

/** Requests of an agent to a client of version 1. */
const toClients: readonly (readonly [string, string, object])[] = [
  ["pharo", "fs/read_text_file", { path: "/w/a", startLine: 1, lineLimit: 2 }],
  ["pharo", "session/request_permission", { title: "May I?", options: [] }],
  ["pharo", "terminal/create", { command: "x", args: [], env: { A: "1" } }],
  ["scoped", "session/request_permission", { operation: "file_read", resource: "/w/a" }],
];

test("a client of version 1 refuses requests and updates of a dialect, and goes on", async () => {
  const log: unknown[] = [];
  const [near, far] = memoryPair();
  const agentPeer = new RawPeer(far, (message, self) => {
    if (message["method"] === "initialize")
      self.answer(message, { protocolVersion: 1, agentCapabilities: {} });
    if (message["method"] === "session/new") self.answer(message, { sessionId: "s" });
  });
  const files = { readText: async () => "text", writeText: async () => undefined };
  const connection = await client({
    name: "c",
    version: "1",
    files,
    terminals: { create: async () => Promise.reject(new Error("none")) },
    requestPermission: () => undefined,
    log: (_level, _message, data) => log.push(data),
  }).connect(near);
  await connection.newSession({ cwd: "/w" });
  for (const [at, [dialect, method, params]] of toClients.entries()) {
    const { error } = (await agentPeer.ask(50 + at, method, { sessionId: "s", ...params })) as {
      error?: Message;
    };
    assert.equal(error?.["message"], sentence(method, dialect));
  }
  const update = { type: "message", role: "agent", content: [] };
  agentPeer.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId: "s", update } });
  const scoped = { sessionId: "s", type: "agent_message_chunk", data: { content: "hi" } };
  agentPeer.send({ jsonrpc: "2.0", method: "session/update", params: scoped });
  const { result } = await agentPeer.ask(99, "fs/read_text_file", { sessionId: "s", path: "/w/a" });
  assert.deepEqual(result, { content: "text" });
  assert.equal(connection.counters.invalidUpdates, 2);
  assert.equal(connection.counters.droppedDialect, "pharo");
  assert.ok(JSON.stringify(log).includes(JSON.stringify(sentence("session/update", "pharo"))));
  await connection.close();
});
