// Whole sessions in the dialect scoped: agents and clients of ours with a peer whose messages are those of the document.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, type ClientDefinition, client, type Editions, RequestError } from "@parley/acp";
import { relay } from "@parley/acp/relay";
import { memoryPair, type Transport } from "@parley/acp/transport";
import { editionNamed } from "@parley/dialects";
import { type Message, RawPeer } from "../../../acp/test/support/raw-peer-probe.ts";

const hello = {
  protocolVersion: 1,
  clientInfo: { name: "VS Code", version: "1.85.0" },
  capabilities: {
    fs: { read: true, write: true },
    terminal: { create: true, interactive: false, maxConcurrent: 5 },
    ui: { permissionDialogs: true, diffViewer: true },
  },
};

const mode = {
  configId: "mode",
  name: "Mode",
  category: "mode",
  type: "select",
  currentValue: "ask",
  options: ["ask", "code", "architect", "chat"].map((value) => ({ value, name: value })),
} as const;
const auto = { configId: "autoApprove", name: "Auto", type: "boolean", currentValue: false } as const;

/** What a client of the document answers. It pushes output before it says that a command has ended. */
function answerAs(permission: object): (message: Message, self: RawPeer) => void {
  const results: Record<string, unknown> = {
    "session/request_permission": permission,
    "fs/read_text_file": { content: "old\n", encoding: "utf-8", totalLines: 1 },
    "fs/write_text_file": { bytesWritten: 4, created: false },
    "terminal/create": { terminalId: "term_abc", pid: 77 },
    "terminal/wait_for_exit": { exitCode: 0 },
    "terminal/release": { released: true },
  };
  return (message, self) => {
    const { method, id } = message;
    if (typeof method !== "string" || id === undefined) return;
    if (method === "terminal/wait_for_exit") {
      const params = { terminalId: "term_abc", data: "All tests passed!", stream: "stdout" };
      self.send({ jsonrpc: "2.0", id: 900, method: "terminal/output", params });
    }
    self.answer(message, results[method]);
  };
}

const always = { granted: true, remember: true, scope: "session" };

/** `edition`: what our agent speaks, behind a relay. Default: the dialect, without one. */
function served(permission: object = always, edition?: Editions[number]) {
  const [near, middle] = memoryPair();
  const far = edition === undefined ? middle : behindRelay(middle, edition);
  const set: unknown[] = [];
  const options = {
    mode: { ...mode, currentValue: "ask" as string },
    auto: { ...auto, currentValue: false as boolean },
  };
  const connection = agent({
    name: "a",
    version: "1",
    editions: [edition ?? editionNamed("scoped")],
    auth: {
      methods: [{ type: "agent", methodId: "api_key", name: "API Key" }],
      login: (_, { credentials }) => {
        if (credentials?.["apiKey"] !== "sk-1") throw new RequestError("auth_required", "wrong key");
      },
    },
    session: {
      open: (session) => session.setConfigOptions([mode, auto]),
      setConfigOption: (session, configId, value) => {
        set.push([configId, value]);
        if (typeof value === "string") options.mode = { ...mode, currentValue: value };
        if (typeof value === "boolean") options.auto = { ...auto, currentValue: value };
        session.setConfigOptions([options.mode, options.auto]);
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
          await turn.client.files?.writeText("/w/login.js", "new\n");
          await tool.diff({ path: "/w/login.js", oldText: text, newText: "new\n" });
          const terminal = await turn.client.terminals?.create({ command: "npm", args: ["test"] });
          const exit = await terminal?.waitForExit();
          const output = await terminal?.output();
          await terminal?.release();
          return `${exit?.exitCode} ${output?.output}`;
        })
        .catch(() => "denied");
      await turn.say(`exit ${String(done)}`);
      return undefined;
    },
  }).connect(far);
  return { peer: new RawPeer(near, answerAs(permission)), connection, set };
}

function behindRelay(client: Transport, agentEdition: Editions[number]): Transport {
  const [near, far] = memoryPair();
  relay(client, near, { as: editionNamed("scoped"), agentEdition });
  return far;
}

interface Told {
  readonly type: string;
  readonly data: Message;
}

const toldTo = (peer: RawPeer): Told[] =>
  peer.got.filter(({ method }) => method === "session/update").map(({ params }) => params as Told);

const text = (words: string): object[] => [{ type: "text", text: words }];

const askedOf = (peer: RawPeer): Message[] =>
  peer.got.filter(({ id, method }) => id !== undefined && method !== undefined);

async function open(peer: RawPeer, more: object = {}): Promise<string> {
  const opened = await peer.ask(3, "session/new", { workingDirectory: "/w", ...more });
  const { sessionId, createdAt } = opened["result"] as { sessionId: string; createdAt: string };
  assert.ok(!Number.isNaN(Date.parse(createdAt)));
  return sessionId;
}

test("a client of the document has a whole session with our agent (Q4, Q7, Q10)", async () => {
  const { peer, connection, set } = served();
  const welcome = (await peer.ask(1, "initialize", hello))["result"] as Message;
  assert.deepEqual(welcome["agentInfo"], { name: "a", version: "1" });
  const login = { method: "api_key", credentials: { apiKey: "sk-1" } };
  assert.deepEqual((await peer.ask(2, "authenticate", login))["result"], { success: true });
  for (const other of [{ method: "oauth2" }, { credentials: {} }]) {
    const wrong = (await peer.ask(20, "authenticate", { ...login, ...other }))["result"] as Message;
    assert.equal(wrong["success"], false);
    peer.got.length = 0;
  }
  const sessionId = await open(peer, { initialMode: "plan", configOptions: { autoApprove: true } });
  assert.deepEqual(set, [
    ["mode", "architect"],
    ["autoApprove", true],
  ]);
  const turn = await peer.ask(4, "session/prompt", { sessionId, content: text("Fix the bug") });
  assert.equal((turn["result"] as Message)["stopReason"], "end_turn");
  assert.deepEqual(
    askedOf(peer).map(({ method }) => method),
    [
      "session/request_permission",
      "fs/read_text_file",
      "fs/write_text_file",
      "terminal/create",
      "terminal/wait_for_exit",
      "terminal/release",
    ],
  );
  const [question, read, write, create] = askedOf(peer).map(({ params }) => params as Message);
  assert.deepEqual([question?.["operation"], question?.["reason"]], ["file_write", "Edit login.js"]);
  assert.deepEqual(read, { path: "/w/login.js", startLine: 1, endLine: 5 });
  assert.deepEqual(write, {
    path: "/w/login.js",
    content: "new\n",
    createDirectories: true,
    overwrite: true,
  });
  assert.deepEqual(create, { command: "npm", args: ["test"] });
  assert.deepEqual((await peer.until(({ id, method }) => id === 900 && method === undefined))["result"], {
    received: true,
  });
  const told = toldTo(peer);
  const texts = told
    .filter(({ type, data }) => type === "agent_message_chunk" && data["final"] === false)
    .map(({ data }) => data["content"]);
  assert.deepEqual(texts, ["I will fix it.", "exit 0 All tests passed!"]);
  const statuses = told.filter(({ type }) => type.startsWith("tool_call")).map(({ data }) => data["status"]);
  assert.equal(statuses[0], "pending");
  assert.ok(statuses.includes("awaiting_permission"), statuses.join());
  assert.equal(statuses.at(-1), "completed");
  const diffs = told
    .map(({ data }) => data["output"] as Message | undefined)
    .filter((each) => each?.["type"] === "diff");
  assert.deepEqual(diffs[0]?.["hunks"], [
    { oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, content: "@@ -1,1 +1,1 @@\n-old\n+new" },
  ]);
  const changed = await peer.ask(5, "session/set_mode", { sessionId, mode: "ask" });
  assert.deepEqual(changed["result"], { previousMode: "plan", currentMode: "ask" });
  const option = await peer.ask(6, "session/set_config_option", {
    sessionId,
    key: "autoApprove",
    value: false,
  });
  assert.deepEqual(option["result"], { key: "autoApprove", previousValue: true, currentValue: false });
  const modes = toldTo(peer).filter(({ type }) => type === "current_mode_update");
  assert.deepEqual(
    modes.map(({ data }) => [data["previousMode"], data["currentMode"]]),
    [["plan", "ask"]],
  );
  await connection.close();
});

for (const edition of ["v1", "pharo", "scoped"] as const) {
  test(`a client of the document has the same session with an agent of ${edition}, through a relay`, async () => {
    const { peer, connection } = served(always, editionNamed(edition));
    await peer.ask(1, "initialize", hello);
    const sessionId = await open(peer);
    const turn = await peer.ask(4, "session/prompt", { sessionId, content: text("Fix the bug") });
    assert.equal((turn["result"] as Message)["stopReason"], "end_turn");
    const told = toldTo(peer);
    const texts = told
      .filter(({ type, data }) => type === "agent_message_chunk" && data["content"] !== "")
      .map(({ data }) => data["content"]);
    assert.deepEqual(texts, ["I will fix it.", "exit 0 All tests passed!"]);
    const statuses = told
      .filter(({ type }) => type.startsWith("tool_call"))
      .map(({ data }) => data["status"]);
    assert.ok(statuses.includes("awaiting_permission"), statuses.join());
    assert.equal(statuses.at(-1), "completed");
    assert.ok(told.some(({ data }) => (data["output"] as Message | undefined)?.["type"] === "diff"));
    await connection.close();
  });
}

test("a client of the document denies and cancels, and is told that a session is not there", async () => {
  const { peer, connection } = served({ granted: false });
  await peer.ask(1, "initialize", hello);
  const sessionId = await open(peer);
  await peer.ask(4, "session/prompt", { sessionId, content: text("Fix the bug") });
  assert.ok(!peer.got.some(({ method }) => method === "fs/write_text_file"));
  assert.equal(toldTo(peer).findLast(({ type }) => type === "tool_call_update")?.data["status"], "denied");
  const waiting = peer.ask(5, "session/prompt", { sessionId, content: text("wait") });
  peer.send({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId, reason: "user_requested" } });
  assert.deepEqual((await waiting)["result"], { stopReason: "cancelled" });
  const missing = await peer.ask(6, "session/prompt", { sessionId: "nobody", content: text("hi") });
  assert.equal((missing["error"] as { code: number }).code, -32000);
  const custom = await peer.ask(7, "_custom/analyzeCode", {});
  assert.equal((custom["error"] as { code: number }).code, -32601);
  await connection.close();
});

/** An agent of the document, which asks its client for everything in one turn. */
function documentAgent(log: Message, pushed: Message[]): (message: Message, self: RawPeer) => void {
  const run = async (prompt: Message, self: RawPeer): Promise<void> => {
    const { sessionId } = prompt["params"] as { sessionId: string };
    const update = (type: string, data: object) =>
      self.send({ jsonrpc: "2.0", method: "session/update", params: { sessionId, type, data } });
    const ask = async (id: number, method: string, params: object) => {
      const answer = await self.ask(id, method, params);
      log[method] = answer["result"] ?? answer["error"];
    };
    update("agent_message_chunk", { content: "I'll fix it", index: 0, final: true });
    update("tool_call", {
      id: "tc_002",
      tool: "fs/write_text_file",
      input: { path: "/w/a" },
      status: "pending",
    });
    const operation = { operation: "file_write", resource: "/w/a", reason: "Fix", toolCallId: "tc_002" };
    await ask(30, "session/request_permission", { sessionId, ...operation });
    await ask(31, "fs/read_text_file", { path: "a", startLine: 2, endLine: 3 });
    await ask(32, "fs/write_text_file", { path: "/w/a", content: "new" });
    await ask(33, "terminal/create", { command: "echo", args: ["Hello"], env: { A: "1" } });
    const { terminalId } = log["terminal/create"] as { terminalId: string };
    await ask(34, "terminal/wait_for_exit", { terminalId, timeout: 30_000 });
    log["pushed"] = pushed.map(({ data }) => data).join("");
    await ask(35, "terminal/release", { terminalId });
    update("tool_call_update", { id: "tc_002", status: "completed", output: { type: "text", text: "done" } });
    self.answer(prompt, { stopReason: "end_turn", usage: { inputTokens: 350, outputTokens: 520 } });
  };
  const results: Record<string, unknown> = {
    initialize: {
      protocolVersion: 1,
      agentInfo: { name: "Claude Agent", version: "1.0.0" },
      capabilities: {
        loadSession: true,
        mcpCapabilities: { servers: true, transport: ["stdio", "http"] },
        promptCapabilities: { streaming: true, cancellation: true, attachments: true },
        sessionCapabilities: { modes: ["default", "plan", "code"], configOptions: ["autoApprove"] },
      },
    },
    authenticate: { success: true },
    "session/new": { sessionId: "sess_1", createdAt: "2026-02-04T10:30:00Z" },
    "session/load": {
      sessionId: "sess_1",
      workingDirectory: "/w",
      mode: "plan",
      configOptions: { autoApprove: true },
      messageCount: 2,
    },
    "session/set_mode": { previousMode: "default", currentMode: "plan" },
    "session/set_config_option": { key: "autoApprove", previousValue: false, currentValue: true },
  };
  return (message, self) => {
    const { method, id } = message;
    if (typeof method !== "string" || id === undefined) return;
    if (method === "session/prompt") return void run(message, self);
    if (method !== "terminal/output") return self.answer(message, results[method]);
    pushed.push(message["params"] as Message);
    self.answer(message, { received: true });
  };
}

const services: Partial<ClientDefinition> = {
  requestPermission: ({ title, options }) => {
    assert.equal(title, "file_write: /w/a");
    return options.find(({ optionId }) => optionId === "workspace")?.optionId;
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

test("an agent of the document has a whole session with our client (Q8)", async () => {
  const [near, far] = memoryPair();
  const log: Message = {};
  new RawPeer(far, documentAgent(log, []));
  const connection = await client({
    name: "c",
    version: "1",
    editions: [editionNamed("scoped")],
    ...services,
  }).connect(near);
  assert.equal(connection.edition, "scoped");
  await connection.login("api_key");
  const session = await connection.newSession({ cwd: "/w" });
  assert.equal(session.configOptions[0]?.currentValue, "ask");
  const result = await session.prompt("Fix it");
  assert.equal(result.stopReason, "end_turn");
  const { terminalId } = log["terminal/create"] as { terminalId: string };
  assert.deepEqual(log, {
    "session/request_permission": { granted: true, remember: true, scope: "workspace" },
    "fs/read_text_file": { content: "/w/a 2 2", encoding: "utf-8" },
    "fs/write_text_file": { bytesWritten: 3, created: false },
    "terminal/create": { terminalId },
    "terminal/wait_for_exit": { exitCode: 0 },
    pushed: 'echo {"A":"1"}',
    "terminal/release": { released: true },
  });
  await session.setMode("architect");
  assert.equal(session.configOptions[0]?.currentValue, "architect");
  await connection.close();
});

test("an agent of the document loads a session for our client", async () => {
  const [near, far] = memoryPair();
  const peer = new RawPeer(far, documentAgent({}, []));
  const connection = await client({
    name: "c",
    version: "1",
    editions: [editionNamed("scoped")],
    ...services,
  }).connect(near);
  const session = await connection.loadSession("sess_1", { cwd: "/w" });
  assert.equal(session.configOptions[0]?.currentValue, "architect");
  const load = peer.got.find(({ method }) => method === "session/load");
  assert.deepEqual(load?.["params"], { sessionId: "sess_1" });
  await connection.close();
});

test("a client of the document loads a session that another connection left", async () => {
  const logins: unknown[] = [];
  let lists = 0;
  const kept = agent({
    name: "a",
    version: "1",
    editions: [editionNamed("scoped")],
    auth: {
      methods: [{ type: "agent", methodId: "oauth2", name: "OAuth" }],
      login: (methodId, { credentials }) => {
        logins.push([methodId, credentials]);
        return { expiresAt: "2026-12-01T00:00:00Z" };
      },
    },
    session: {
      open: (session) => session.setConfigOptions([mode, auto]),
      onList: (sessions) => {
        lists += 1;
        return sessions;
      },
    },
    prompt: (turn) => turn.say("done"),
  });
  const connect = async (): Promise<{ peer: RawPeer; close: () => Promise<void> }> => {
    const [near, far] = memoryPair();
    const connection = kept.connect(far);
    const peer = new RawPeer(near);
    await peer.ask(1, "initialize", hello);
    return { peer, close: () => connection.close() };
  };
  const first = await connect();
  const login = { method: "oauth2", credentials: { token: "t" } };
  assert.deepEqual((await first.peer.ask(2, "authenticate", login))["result"], {
    success: true,
    expiresAt: "2026-12-01T00:00:00Z",
  });
  assert.deepEqual(logins, [["oauth2", { token: "t" }]]);
  const sessionId = await open(first.peer);
  await first.peer.ask(4, "session/prompt", { sessionId, content: text("Hello") });
  await first.close();
  const second = await connect();
  assert.deepEqual((await second.peer.ask(5, "session/load", { sessionId }))["result"], {
    sessionId,
    workingDirectory: "/w",
    mode: "default",
    configOptions: { autoApprove: false },
    messageCount: 2,
  });
  assert.deepEqual(
    toldTo(second.peer)
      .filter(({ type, data }) => type.endsWith("message_chunk") && data["final"] === false)
      .map(({ type, data }) => [type, data["content"]]),
    [
      ["user_message_chunk", "Hello"],
      ["agent_message_chunk", "done"],
    ],
  );
  assert.equal(lists, 0, "the answer of the agent tells the place");
  await second.close();
});

test("what a command of our client writes is pushed to an agent of the document, each stream by itself", async () => {
  const [near, far] = memoryPair();
  const pushed: Message[] = [];
  const log: Message = {};
  new RawPeer(far, documentAgent(log, pushed));
  const terminals: ClientDefinition["terminals"] = {
    create: async () => ({
      terminalId: "t",
      pid: 77,
      onOutput: (listener) => {
        listener({ data: "out", stream: "stdout" });
        listener({ data: "err", stream: "stderr" });
        return () => undefined;
      },
      output: async () => ({ output: "outerr", truncated: false, exitStatus: { exitCode: 0 } }),
      waitForExit: async () => ({ exitCode: 0 }),
      kill: async () => undefined,
      release: async () => undefined,
    }),
  };
  const definition = {
    name: "c",
    version: "1",
    editions: [editionNamed("scoped")],
    ...services,
    terminals,
  } as const;
  const connection = await client(definition).connect(near);
  const session = await connection.newSession({ cwd: "/w" });
  await session.prompt("Fix it");
  const { terminalId, pid } = log["terminal/create"] as { terminalId: string; pid: number };
  assert.equal(pid, 77);
  assert.deepEqual(pushed, [
    { terminalId, data: "out", stream: "stdout" },
    { terminalId, data: "err", stream: "stderr" },
  ]);
  assert.equal(log["pushed"], "outerr", "all of it before the exit");
  await connection.close();
});
