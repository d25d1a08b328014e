import assert from "node:assert/strict";
import { test } from "node:test";
import {
  conversation,
  inEveryVersion,
  initialize,
  initialized,
  openSession,
  place,
  quiet,
  rejects,
  text,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { initializeParams, versionsOf } from "../../edition/negotiate.ts";
import {
  agent,
  type ClientConnection,
  type ClientDefinition,
  client,
  type Editions,
  type ElicitationRequest,
  type Files,
  type PermissionRequest,
  RequestError,
  type Terminals,
  type Transport,
} from "../../index.ts";
import { Connection } from "../../jsonrpc.ts";
import { memoryPair } from "../../transport.ts";
import { connectWith } from "./client.ts";
import { offeredFeatures } from "./client-definition.ts";

/** A client that shows forms and no addresses, as a relay makes it. */
function formsOnly(
  transport: Transport,
  editions: Editions,
  elicit: NonNullable<ClientDefinition["elicit"]>,
): Promise<ClientConnection> {
  const info = { name: "forms", version: "1" };
  const definition: ClientDefinition = { ...info, editions, elicit };
  const elicitationModes = ["form"] as const;
  const features = offeredFeatures(definition, elicitationModes);
  const offer = initializeParams({ info, features, meta: undefined }, versionsOf(editions));
  return connectWith(transport, definition, (connection) => connection.request("initialize", offer), {
    elicitationModes,
    otherRequest: () => assert.fail("no other request comes"),
    authStatusUpdated: () => undefined,
    otherNotification: () => assert.fail("no other notification comes"),
    updateDropped: () => assert.fail("nothing is dropped"),
  });
}

inEveryVersion("a permission carries the tool call, and the user's choice comes back", async (pair) => {
  const asks: PermissionRequest[] = [];
  const got: unknown[] = [];
  const { session } = await openSession(
    pair,
    {
      async prompt(turn) {
        await turn.tool({ title: "Write", kind: "edit" }, async (tool) => {
          await tool.diff({ path: "/project/a", newText: "new\n" });
          got.push(await tool.requestPermission());
        });
        got.push(await turn.requestPermission("Go on?"));
        got.push(
          await turn.requestPermission({
            title: "Which?",
            options: [{ optionId: "x", name: "X", kind: "reject_always" }],
          }),
        );
      },
    },
    {
      requestPermission: (ask) => {
        asks.push(ask);
        return ask.options[0]?.optionId;
      },
    },
  );
  await session.prompt("x").result;
  const allow = { optionId: "allow_once", name: "Allow", kind: "allow_once" };
  assert.deepEqual(got, [allow, allow, undefined]);
  assert.deepEqual(
    asks.map(({ title }) => title),
    ["Write", "Go on?", "Which?"],
  );
  const subject = asks[0]?.subject;
  assert.ok(subject?.type === "tool_call");
  const diff = subject.toolCall.content?.[0];
  assert.ok(diff?.type === "diff");
  assert.deepEqual(
    diff.changes.map(({ operation }) => operation),
    ["add"],
  );
});

inEveryVersion("a client without a permission handler, or with a strange answer, says no", async (pair) => {
  const strange = [
    undefined,
    "not offered",
    { outcome: "selected", optionId: "nor this" },
    { outcome: "who knows" },
  ];
  const got: unknown[] = [];
  const prompt = async (turn: { requestPermission(title: string): Promise<unknown> }) => {
    for (let i = 0; i < strange.length; i++) got.push(await turn.requestPermission("May I?"));
  };
  const silent = await openSession(pair, { prompt });
  await silent.session.prompt("x").result;
  let i = 0;
  const { session } = await openSession(pair, { prompt }, { requestPermission: () => strange[i++] as never });
  await session.prompt("x").result;
  assert.deepEqual(
    got,
    Array.from({ length: 8 }, () => undefined),
  );
});

test("A89 A90 N128 N129 N130 an agent takes nothing but an offered yes for a yes", async () => {
  for (const version of [1, 2] as const) {
    const answers = [
      { outcome: { outcome: "selected", optionId: "forged" } },
      { outcome: { outcome: "maybe" } },
      null,
      {},
      { outcome: null },
    ];
    const got: unknown[] = [];
    const { call } = withScriptedClient(
      {
        async prompt(turn) {
          for (let i = 0; i < 5; i++) got.push(await turn.requestPermission("?").catch(() => undefined));
        },
      },
      { "session/request_permission": () => answers.shift() },
    );
    await call("initialize", initialize(version));
    const { sessionId } = (await call("session/new", { cwd: "/", mcpServers: [] })) as { sessionId: string };
    await call("session/prompt", { sessionId, prompt: [text("x")] });
    while (got.length < 5) await quiet();
    assert.deepEqual(
      got,
      Array.from({ length: 5 }, () => undefined),
    );
  }
});

inEveryVersion("A92 a form is filled in; a mode that is not offered is not asked", async (pair) => {
  const form: ElicitationRequest = {
    mode: "form",
    message: "Who?",
    requestedSchema: { type: "object", properties: { name: { type: "string" } } },
  };
  const url: ElicitationRequest = {
    mode: "url",
    message: "Go",
    elicitationId: "e",
    url: "https://example.com",
  };
  const got: unknown[] = [];
  const prompt = async (turn: { elicit(ask: ElicitationRequest): Promise<unknown> }) => {
    for (const ask of [form, url])
      got.push(await turn.elicit(ask).catch((error: RequestError) => error.code));
  };
  const [left, right] = memoryPair();
  agent({ name: "probe-agent", version: "1", editions: pair.editions, prompt }).connect(left);
  const forms = await formsOnly(right, pair.editions, (ask) => ({
    action: "accept",
    content: { name: ask.message },
  }));
  const session = await forms.newSession(place);
  await session.prompt("x").result;
  const without = await openSession(pair, { prompt });
  await without.session.prompt("x").result;
  assert.deepEqual(got, [{ action: "accept", content: { name: "Who?" } }, -32601, -32601, -32601]);
});

test("N126 C45 what a client does not offer is -32601, and a mode of elicitation that it does not offer -32602", async () => {
  for (const version of [1, 2] as const) {
    const { agent: connected, peer } = await withScriptedAgent(version, {});
    await connected.newSession(place);
    for (const [method, params] of [
      ["fs/read_text_file", { path: "/a" }],
      ["fs/write_text_file", { path: "/a", content: "" }],
      ["terminal/create", { command: "ls" }],
      ["elicitation/create", { mode: "url", message: "m", elicitationId: "e", url: "https://example.com" }],
      ["craft/drainMidTurnQueue", {}],
    ] as const)
      await rejects(peer.connection.request(method, { sessionId: "s1", ...params }), -32601);
    const [left, right] = memoryPair();
    const forms = new Connection(left, {
      handlers: {
        request: (method) => (method === "initialize" ? initialized(version) : { sessionId: "s1" }),
        notification: () => undefined,
      },
    });
    const formsClient = await formsOnly(right, [`v${version}`], () => ({ action: "decline" }));
    await formsClient.newSession(place);
    await rejects(
      forms.request("elicitation/create", {
        sessionId: "s1",
        mode: "url",
        message: "m",
        elicitationId: "e",
        url: "https://example.com",
      }),
      -32602,
    );
  }
});

test("N126 files that can only be read, or only be written, are offered and served as such", async () => {
  for (const canRead of [true, false]) {
    const { agent, peer } = await withScriptedAgent(
      1,
      {},
      {
        files: {
          canRead,
          canWrite: !canRead,
          readText: async () => "text",
          writeText: async () => undefined,
        },
      },
    );
    const offered = peer.got[0]?.params.clientCapabilities as { fs: object } | undefined;
    assert.deepEqual(offered?.fs, { readTextFile: canRead, writeTextFile: !canRead });
    await agent.newSession(place);
    const read = peer.connection.request("fs/read_text_file", { sessionId: "s1", path: "/a" });
    const write = peer.connection.request("fs/write_text_file", { sessionId: "s1", path: "/a", content: "" });
    assert.deepEqual(await (canRead ? read : write), canRead ? { content: "text" } : {});
    await rejects(canRead ? write : read, -32601);
  }
});

test("files with one method are offered and served as such, with and without a policy", async () => {
  const files = { read: { readText: async () => "text" }, write: { writeText: async () => undefined } };
  for (const canRead of [true, false]) {
    for (const policy of [undefined, { decide: () => "allow" as const }]) {
      const offer = canRead ? files.read : files.write;
      // made for a session: only then it is known what is missing
      for (const given of [offer, () => offer]) {
        const { agent, peer } = await withScriptedAgent(1, {}, { files: given, ...(policy && { policy }) });
        const offered = peer.got[0]?.params.clientCapabilities as { fs: object } | undefined;
        const isMade = typeof given === "function";
        assert.deepEqual(offered?.fs, { readTextFile: isMade || canRead, writeTextFile: isMade || !canRead });
        await agent.newSession(place);
        const at = { sessionId: "s1", path: "/a" };
        const read = peer.connection.request("fs/read_text_file", at);
        const write = peer.connection.request("fs/write_text_file", { ...at, content: "" });
        const error = await rejects(canRead ? write : read, -32601);
        if (isMade)
          assert.match(String(error), canRead ? /offers no files to write/ : /offers no files to read/);
        assert.deepEqual(await (canRead ? read : write), canRead ? { content: "text" } : {});
        await agent.close();
      }
    }
  }
});

test("files with neither method are refused", () => {
  for (const files of [{}, { canRead: true }, { readText: true }, "/project"])
    assert.throws(() => client({ name: "c", version: "1", files: files as never }), {
      name: "TypeError",
      message: /^client: files must have readText, writeText or both/,
    });
});

test("a terminal that is still being created when its session ends is released", async () => {
  const created = Promise.withResolvers<void>();
  const released: string[] = [];
  const { agent, peer } = await withScriptedAgent(
    1,
    { "session/close": () => ({}) },
    {
      terminals: {
        async create() {
          await created.promise;
          return {
            terminalId: "t",
            output: async () => ({ output: "", truncated: false }),
            waitForExit: async () => ({}),
            kill: async () => undefined,
            release: async () => void released.push("t"),
          };
        },
      },
    },
  );
  const session = await agent.newSession(place);
  const creating = peer.connection.request("terminal/create", { sessionId: "s1", command: "sleep" });
  await quiet();
  await session.close();
  created.resolve();
  await rejects(creating, -32067);
  assert.deepEqual(released, ["t"]);
});

const disk = new Map<string, string>();
const files: Files = {
  canRead: true,
  canWrite: true,
  readText: async (path, { line, limit } = {}) => {
    const whole = disk.get(path);
    if (whole === undefined) throw new RequestError("not_found", "no such file");
    return whole
      .split("\n")
      .slice((line ?? 1) - 1, limit === undefined ? undefined : (line ?? 1) - 1 + limit)
      .join("\n");
  },
  writeText: async (path, content) => void disk.set(path, content),
};

function shell(): { terminals: Terminals; released: string[]; exit(): void } {
  const released: string[] = [];
  const ended = Promise.withResolvers<{ exitCode: number }>();
  return {
    released,
    exit: () => ended.resolve({ exitCode: 0 }),
    terminals: {
      create: async ({ command }) => ({
        terminalId: `t-${command}`,
        output: async () => ({ output: "out", truncated: false }),
        waitForExit: () => ended.promise,
        kill: async () => undefined,
        release: async () => void released.push(command),
      }),
    },
  };
}

inEveryVersion(
  "A86 C70 files and terminals of the client are served while a prompt is open in version 1, and nowhere else",
  async (pair) => {
    const { terminals, released, exit } = shell();
    const got: unknown[] = [];
    const { session } = await openSession(
      pair,
      {
        async prompt(turn) {
          const { files: theirs, terminals: shells } = turn.client;
          got.push(theirs !== undefined, shells !== undefined);
          if (theirs === undefined || shells === undefined) return;
          await theirs.writeText("/project/f", "1\n2\n3");
          got.push(await theirs.readText("/project/f", { line: 2, limit: 1 }));
          await theirs.readText("/project/none").catch((error: RequestError) => got.push(error.code));
          const terminal = await shells.create({ command: "ls", args: ["-l"], env: { A: "1" } });
          await turn.tool({ title: "Run" }, (tool) =>
            tool.add({ type: "terminal", terminalId: terminal.terminalId }),
          );
          got.push((await terminal.output()).output);
          exit();
          got.push(await terminal.waitForExit());
          await terminal.release();
          await terminal.release();
          await terminal.output().catch(({ code, data }: RequestError) => got.push(code, data));
          await shells.create({ command: "left" });
        },
      },
      { files, terminals },
    );
    await session.prompt("x").result;
    if (pair.version === 2) return assert.deepEqual(got, [false, false]);
    assert.deepEqual(got, [
      true,
      true,
      "2",
      -32002,
      "out",
      { exitCode: 0 },
      -32002,
      { reason: "terminal_not_found" },
    ]);
    await quiet();
    assert.deepEqual(released, ["ls", "left"], "A87 what a turn left is released with it");
  },
);

test("a terminal that the agent never released does not outlive its session", async () => {
  const { terminals, released } = shell();
  const { agent, peer } = await withScriptedAgent(1, { "session/close": () => ({}) }, { terminals });
  const session = await agent.newSession(place);
  await peer.connection.request("terminal/create", { sessionId: "s1", command: "left" });
  await session.close();
  await quiet();
  assert.deepEqual(released, ["left"]);
});

test("a cancelled turn stops waiting for a terminal, and can still release it", async () => {
  const { terminals, released } = shell();
  const { session } = await openSession(
    { editions: ["v1"], version: 1 },
    {
      async prompt(turn) {
        const terminal = await turn.client.terminals?.create({ command: "sleep" });
        try {
          await terminal?.waitForExit();
        } finally {
          await terminal?.release();
        }
      },
    },
    {
      terminals: {
        create: async (options) => ({
          ...(await terminals.create(options)),
          waitForExit: ({ signal } = {}) =>
            new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason))),
        }),
      },
    },
  );
  const prompt = session.prompt("x");
  await quiet();
  await quiet();
  session.cancel();
  assert.equal((await prompt.result).stopReason, "cancelled");
  assert.deepEqual(released, ["sleep"]);
});

inEveryVersion(
  "X3 X4 extension requests and notifications go both ways; unknown ones are -32601 or nothing",
  async (pair) => {
    const notes: unknown[] = [];
    const { agent, session, served } = await openSession(
      pair,
      {
        prompt: async (turn) => void notes.push(await turn.client.request("_x/ask", { a: 1 })),
        extensions: {
          requests: {
            "_x/double": async (params, context) => [
              params,
              await context.request("_x/ask", { nested: true }),
            ],
          },
          notifications: { "_x/note": (params) => void notes.push(params) },
        },
      },
      {
        extensions: {
          requests: { "_x/ask": (params) => ({ asked: params }) },
          notifications: { "_x/tell": (params) => void notes.push(params) },
        },
      },
    );
    assert.deepEqual(await agent.request("_x/double", { b: 2 }), [{ b: 2 }, { asked: { nested: true } }]);
    void agent.notify("_x/note", { c: 3 });
    void agent.notify("_x/unknown", {});
    void served.notify("_x/tell", { d: 4 });
    await session.prompt("x").result;
    assert.deepEqual(notes, [{ c: 3 }, { d: 4 }, { asked: { a: 1 } }]);
    await rejects(agent.request("_x/none", {}), -32601);
    await rejects(agent.request("_toString" as never, {}), -32601);
    for (const name of ["x/double", "session/prompt", ""] as never[]) {
      assert.throws(() => agent.request(name), /begins with "_"/);
      assert.throws(() => agent.notify(name), TypeError);
      assert.throws(() => served.notify(name), TypeError);
    }
  },
);

inEveryVersion(
  "X14 a handler that aborts its own work is answered -32800, by whichever side",
  async (pair) => {
    const abort = () => {
      throw new DOMException("no longer needed", "AbortError");
    };
    const { agent, session } = await openSession(
      pair,
      {
        prompt: (turn) => void turn.client.request("_x/stop").catch(() => undefined),
        extensions: {
          requests: { "_x/stop": abort, "_x/ask": (_params, context) => context.request("_x/stop") },
        },
      },
      { extensions: { requests: { "_x/stop": async () => abort() } } },
    );
    await rejects(agent.request("_x/stop"), -32800);
    await rejects(agent.request("_x/ask"), -32800);
    assert.equal((await session.prompt("x").result).stopReason, "end_turn");
  },
);

inEveryVersion("`_meta` of updates arrives as it was sent", async (pair) => {
  const { session, updates } = await openSession(pair, {
    prompt: (turn) =>
      void turn.update({
        sessionUpdate: "agent_message_chunk",
        messageId: "m",
        content: text("x"),
        _meta: { "example.com/trace": [1] },
      }),
  });
  await session.prompt("x").result;
  const chunk = updates.find(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
  assert.deepEqual((chunk as { _meta?: unknown })._meta, { "example.com/trace": [1] });
  await conversation(pair, { prompt: () => undefined });
});

test("an agent that asks for more than it reads gets every answer, one by one and in batches", async () => {
  const limits = { highWaterBytes: 1_000, maxQueuedBytes: 150_000 };
  const [near, far] = memoryPair({ limits });
  const answers: unknown[] = [];
  const send = (...messages: object[]) =>
    far.send(messages.length === 1 ? (messages[0] as object) : messages);
  far.start({
    message(value) {
      for (const message of Array.isArray(value) ? value : [value]) {
        const { id, method, result } = message as { id: unknown; method?: string; result?: unknown };
        if (method === "initialize") send({ jsonrpc: "2.0", id, result: initialized(1) });
        else if (method === "session/new") send({ jsonrpc: "2.0", id, result: { sessionId: "s" } });
        else if (result !== undefined) answers.push(id);
      }
    },
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: () => undefined,
  });
  const files = {
    canRead: true,
    canWrite: false,
    // late files are read when the agent has more answers than it takes
    async readText(path: string) {
      if (path.endsWith("late")) await quiet();
      return "x".repeat(10_000);
    },
  };
  const connected = await client({ name: "c", version: "1", files: files as never }).connect(near);
  await connected.newSession(place);
  const read = (id: string, path = "/project/a") => ({
    jsonrpc: "2.0",
    id,
    method: "fs/read_text_file",
    params: { sessionId: "s", path },
  });
  const ids = Array.from({ length: 20 }, (_, at) => `one-${at}`);
  far.pause();
  const batch = ["batch-1", "batch-2", "batch-3"];
  send(...batch.map((id) => read(id, "/project/late")));
  for (const id of ids) send(read(id));
  for (let turns = 0; turns < 5; turns++) await quiet();
  far.resume();
  for (let turns = 0; turns < 1_000 && answers.length < 23; turns++) await quiet();
  assert.deepEqual(new Set(answers), new Set([...ids, ...batch]));
  await connected.close();
});
