// Whole sessions in the dialect pharo: agents and clients of ours with a peer whose messages are those of the document.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, type ClientDefinition, client } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { editionNamed } from "@parley/dialects";
import { type Message, RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";

const flags = { create: true, output: true, waitForExit: true, kill: true, release: true };
const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: flags };
const hello = { protocolVersion: 1, clientInfo: { name: "VS Code", version: "1.80.0" }, clientCapabilities };

const mode = {
  configId: "mode",
  name: "Mode",
  category: "mode",
  type: "select",
  currentValue: "code",
  options: [
    { value: "code", name: "Code Mode" },
    { value: "architect", name: "Architect Mode" },
  ],
} as const;

/** What a client of the document answers. */
function answerAs(selectedOptionId: string): (message: Message, self: RawPeer) => void {
  const results: Record<string, unknown> = {
    "session/request_permission": { selectedOptionId },
    "fs/read_text_file": { content: "old" },
    "fs/write_text_file": null,
    "terminal/create": { terminalId: "term_1" },
    "terminal/wait_for_exit": { output: "ok\n", exitCode: 0 },
    "terminal/output": { output: "ok\n", exitCode: 0 },
    "terminal/release": null,
  };
  return (message, self) => {
    if (typeof message["method"] === "string" && message["id"] !== undefined)
      self.answer(message, results[message["method"]]);
  };
}

function served(selectedOptionId = "allow_once") {
  const [near, far] = memoryPair();
  const set: unknown[] = [];
  const logins: unknown[] = [];
  const connection = agent({
    name: "a",
    version: "1",
    editions: [editionNamed("pharo")],
    auth: {
      methods: [{ type: "agent", methodId: "api_key", name: "API Key" }],
      login: (methodId) => void logins.push(methodId),
    },
    session: {
      open: (session) => session.setConfigOptions([mode]),
      setConfigOption: (session, configId, value) => {
        set.push([configId, value]);
        if (typeof value === "string") session.setConfigOptions([{ ...mode, currentValue: value }]);
      },
    },
    prompt: async (turn) => {
      if (turn.text === "wait") {
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
        return "cancelled";
      }
      await turn.think("hm");
      await turn.say("I will fix it.");
      await turn.plan([{ content: "fix", priority: "high", status: "pending" }]);
      const start = { title: "Edit login.js", kind: "edit", permission: true } as const;
      const done = await turn
        .tool(start, async (tool) => {
          const text = await turn.client.files?.readText("/w/login.js", { line: 1, limit: 5 });
          await turn.client.files?.writeText("/w/login.js", "new");
          await tool.diff({ path: "/w/login.js", oldText: text, newText: "new" });
          const terminal = await turn.client.terminals?.create({
            command: "npm",
            args: ["test"],
            env: { A: "1" },
          });
          const exit = await terminal?.waitForExit();
          await terminal?.release();
          return exit?.exitCode;
        })
        .catch(() => "denied");
      await turn.say(`exit ${String(done)}`);
      return undefined;
    },
  }).connect(far);
  return { peer: new RawPeer(near, answerAs(selectedOptionId)), connection, set, logins };
}

const updatesOf = (peer: RawPeer): Message[] =>
  peer.got
    .filter(({ method }) => method === "session/update")
    .map(({ params }) => (params as { update: Message }).update);

const text = (words: string): object[] => [{ type: "text", text: words }];

test("a client of the document has a whole session with our agent", async () => {
  const { peer, connection, set, logins } = served();
  const welcome = (await peer.ask(1, "initialize", hello))["result"] as Message;
  assert.deepEqual(welcome["authenticationMethods"], [{ methodId: "api_key", title: "API Key" }]);
  const login = { methodId: "api_key", credentials: { apiKey: "secret_key_here" } };
  assert.equal((await peer.ask(2, "authenticate", login))["result"], null);
  assert.deepEqual(logins, ["api_key"]);
  const opened = await peer.ask(3, "session/new", { cwd: "/w", mcpServers: [] });
  const { sessionId } = opened["result"] as { sessionId: string };
  const turn = await peer.ask(4, "session/prompt", { sessionId, prompt: text("Fix the bug") });
  assert.deepEqual(turn["result"], { stopReason: "end_turn" });

  const asked = peer.got.filter(({ id, method }) => id !== undefined && method !== undefined);
  assert.deepEqual(
    asked.map(({ method }) => method),
    [
      "session/request_permission",
      "fs/read_text_file",
      "fs/write_text_file",
      "terminal/create",
      "terminal/wait_for_exit",
      "terminal/release",
    ],
  );
  const [question, read, , create] = asked.map(({ params }) => params as Message);
  assert.equal(question?.["title"], "Edit login.js");
  assert.deepEqual(read, { sessionId, path: "/w/login.js", startLine: 1, lineLimit: 5 });
  assert.deepEqual(create?.["env"], { A: "1" });
  const updates = updatesOf(peer);
  assert.deepEqual(
    updates
      .filter(({ type }) => type === "message")
      .map(({ content }) => (content as Message[])[0]?.["text"]),
    ["I will fix it.", "exit 0"],
  );
  assert.ok(updates.some(({ type }) => type === "plan"));
  assert.equal(updates.filter(({ type }) => type === "tool_call").length, 1);
  const ended = updates.findLast(({ type }) => type === "tool_call_update");
  assert.equal(ended?.["status"], "completed");
  const diffs = updates.flatMap(({ content }) => (content ?? []) as Message[]);
  assert.ok(diffs.some(({ type, oldText }) => type === "diff" && oldText === "old"));

  // as the public Pharo client sends it, without an id
  peer.send({ jsonrpc: "2.0", method: "session/set_mode", params: { sessionId, modeId: "architect" } });
  await peer.until(({ params }) => (params as { update?: Message })?.update?.["modeId"] === "architect");
  assert.deepEqual(set, [["mode", "architect"]]);
  const option = await peer.ask(5, "session/set_config_option", { sessionId, option: "mode", value: "code" });
  assert.equal(option["result"], null);
  await connection.close();
});

test("a client of the document denies, cancels and loads", async () => {
  const { peer, connection } = served("reject_once");
  await peer.ask(1, "initialize", hello);
  const opened = await peer.ask(2, "session/new", { cwd: "/w", mcpServers: [] });
  const { sessionId } = opened["result"] as { sessionId: string };
  await peer.ask(3, "session/prompt", { sessionId, prompt: text("Fix the bug") });
  assert.ok(!peer.got.some(({ method }) => method === "fs/write_text_file"));
  assert.equal(updatesOf(peer).findLast(({ type }) => type === "tool_call_update")?.["status"], "failed");
  const waiting = peer.ask(4, "session/prompt", { sessionId, prompt: text("wait") });
  peer.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId } });
  assert.deepEqual((await waiting)["result"], { stopReason: "cancelled" });
  const missing = await peer.ask(5, "session/load", { sessionId: "nobody", mcpServers: [] });
  assert.equal((missing["error"] as { code: number }).code, -32005);
  await connection.close();
});

/** An agent of the document, which asks its client for everything in one turn. */
function documentAgent(log: Message): (message: Message, self: RawPeer) => void {
  const run = async (prompt: Message, self: RawPeer): Promise<void> => {
    const { sessionId } = prompt["params"] as { sessionId: string };
    const update = (fields: object) =>
      self.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId, update: fields } });
    const ask = async (id: number, method: string, params: object) => {
      const answer = await self.ask(id, method, { sessionId, ...params });
      log[method] = answer["result"] === undefined ? answer["error"] : answer["result"];
    };
    update({ type: "message", role: "agent", content: text("I'll fix the authentication bug.") });
    update({
      type: "tool_call",
      toolCallId: "tool_1",
      title: "Edit",
      kind: "edit",
      status: "pending",
      content: [],
    });
    const options = [
      { optionId: "allow", kind: "allow_once", label: "Delete files" },
      { optionId: "reject", kind: "reject_once", label: "Keep files" },
    ];
    await ask(30, "session/request_permission", {
      title: "Delete test files?",
      description: "Five",
      options,
    });
    await ask(31, "fs/read_text_file", { path: "/w/a", startLine: 2, lineLimit: 1 });
    await ask(32, "fs/write_text_file", { path: "/w/a", content: "new" });
    await ask(33, "terminal/create", { command: "echo", args: ["Hello"], env: { A: "1" } });
    const { terminalId } = log["terminal/create"] as { terminalId: string };
    await ask(34, "terminal/wait_for_exit", { terminalId, timeout: 30000 });
    await ask(35, "terminal/release", { terminalId });
    update({ type: "tool_call_update", toolCallId: "tool_1", status: "completed", content: text("done") });
    self.answer(prompt, { stopReason: "end_turn" });
  };
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: 1,
      agentInfo: { name: "Pharo ACP Agent", version: "1.0.0" },
      agentCapabilities: {
        loadSession: true,
        mcpCapabilities: { supportedTransports: ["stdio", "http"] },
        sessionModes: [
          { modeId: "code", title: "Code Mode", description: "Writes" },
          { modeId: "architect", title: "Architect Mode", description: "Plans" },
        ],
      },
      authenticationMethods: [{ methodId: "api_key", title: "API Key", description: "A key" }],
    },
    authenticate: null,
    "session/new": { sessionId: "sess_1" },
    "session/load": null,
    "session/set_mode": null,
    "session/set_config_option": null,
  };
  return (message, self) => {
    const { method, id } = message;
    if (typeof method !== "string" || id === undefined) return;
    if (method === "session/load") {
      const params = {
        sessionId: "sess_1",
        update: { type: "message", role: "user", content: text("before") },
      };
      self.send({ jsonrpc: "2.0", method: "session/update", params });
    }
    if (method === "session/prompt") void run(message, self);
    else self.answer(message, results[method]);
  };
}

const services: Partial<ClientDefinition> = {
  requestPermission: ({ title, options }) => {
    assert.equal(title, "Delete test files?");
    return options.find(({ kind }) => kind === "allow_once")?.optionId;
  },
  files: {
    canRead: true,
    canWrite: true,
    readText: async (path, options) => `${path} ${options?.line} ${options?.limit}`,
    writeText: async () => undefined,
  },
  terminals: {
    create: async ({ command, env }) => ({
      terminalId: "t",
      output: async () => ({
        output: `${command} ${JSON.stringify(env)}`,
        truncated: false,
        exitStatus: { exitCode: 0 },
      }),
      waitForExit: async () => ({ exitCode: 0 }),
      kill: async () => undefined,
      release: async () => undefined,
    }),
  },
};

test("an agent of the document has a whole session with our client", async () => {
  const [near, far] = memoryPair();
  const log: Message = {};
  new RawPeer(far, documentAgent(log));
  const connection = await client({
    name: "c",
    version: "1",
    editions: [editionNamed("pharo")],
    ...services,
  }).connect(near);
  assert.equal(connection.edition, "pharo");
  const [login] = connection.authMethods;
  assert.deepEqual([login?.methodId, login?.name, login?.description], ["api_key", "API Key", "A key"]);
  await connection.login("api_key");
  const session = await connection.newSession({ cwd: "/w" });
  assert.equal(session.configOptions[0]?.currentValue, "code");
  const seen: string[] = [];
  session.onUpdate(({ sessionUpdate }) => void seen.push(sessionUpdate));
  const result = await session.prompt("Fix it");
  assert.equal(result.stopReason, "end_turn");
  assert.deepEqual(log, {
    "session/request_permission": { selectedOptionId: "allow" },
    "fs/read_text_file": { content: "/w/a 2 1" },
    "fs/write_text_file": null,
    "terminal/create": {
      terminalId: log["terminal/create"] && (log["terminal/create"] as Message)["terminalId"],
    },
    "terminal/wait_for_exit": { output: 'echo {"A":"1"}', exitCode: 0 },
    "terminal/release": null,
  });
  assert.ok(seen.includes("agent_message_chunk") || seen.includes("agent_message"), seen.join());
  await session.setMode("architect");
  assert.equal(session.configOptions[0]?.currentValue, "architect");
  await connection.close();
});

test("an agent of the document loads a session for our client", async () => {
  const [near, far] = memoryPair();
  const peer = new RawPeer(far, documentAgent({}));
  const connection = await client({
    name: "c",
    version: "1",
    editions: [editionNamed("pharo")],
    ...services,
  }).connect(near);
  const session = await connection.loadSession("sess_1", { cwd: "/w" });
  assert.equal(session.configOptions[0]?.currentValue, "code");
  const load = peer.got.find(({ method }) => method === "session/load");
  assert.deepEqual(load?.["params"], { sessionId: "sess_1", mcpServers: [] });
  await connection.close();
});

test("a client sets an option that an agent of pharo never listed, to any JSON", async () => {
  const [near, far] = memoryPair();
  const asked: unknown[] = [];
  new RawPeer(far, (message, self) => {
    const { method, params } = message;
    if (method === "initialize")
      self.answer(message, { protocolVersion: 1, agentCapabilities: {}, authenticationMethods: [] });
    else if (method === "session/new") self.answer(message, { sessionId: "s" });
    else {
      asked.push(params);
      self.answer(message, null);
    }
  });
  await using connection = await client({
    name: "c",
    version: "1",
    editions: [editionNamed("pharo")],
  }).connect(near);
  const session = await connection.newSession({ cwd: "/w" });
  await session.setConfigOption("limits", { tokens: 5 });
  assert.deepEqual(asked, [{ sessionId: "s", option: "limits", value: { tokens: 5 } }]);
});
