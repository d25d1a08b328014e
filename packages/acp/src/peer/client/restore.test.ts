// Tests connections that are put down and taken up again. The proof for every message of every scenario is in
// packages/conformance/test/restored.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { proxy } from "@parley/acp/proxy";
import type { Sink, Transport } from "../../jsonrpc/transport.ts";
import type { Entry } from "../../model/entry.ts";
import { memoryPair } from "../../transport/memory.ts";
import { agent } from "../agent/agent.ts";
import { type Client, client } from "./client.ts";
import type { ClientConnection } from "./client-connection.ts";
import type { ClientDefinition } from "./client-definition.ts";
import type { ConnectionSnapshot } from "./connection-snapshot.ts";

const limit = { timeout: 20_000 };

type Message = Readonly<Record<string, unknown>>;

/** An agent that says what the test says. The connection on the other side can be exchanged. */
class Wire {
  readonly sent: Message[] = [];
  /** What a connection sent after another one had taken its place. */
  readonly late: unknown[] = [];
  #sink: Sink | undefined;
  #generation = 0;

  attach(): Transport {
    const generation = ++this.#generation;
    return {
      start: (sink) => {
        this.#sink = sink;
      },
      send: (message) => {
        const copy = JSON.parse(JSON.stringify(message));
        if (generation === this.#generation) this.sent.push(copy);
        else this.late.push(copy);
        return true;
      },
      pause: () => undefined,
      resume: () => undefined,
      close: async () => undefined,
    };
  }

  say(message: object | readonly object[]): void {
    const text = JSON.stringify(message);
    this.#sink?.message(JSON.parse(text), text);
  }

  answer(result: unknown): void {
    this.say({ jsonrpc: "2.0", id: this.sent.at(-1)?.["id"], result });
  }
}

const initialized = {
  1: { protocolVersion: 1, agentInfo: { name: "a", version: "1" }, agentCapabilities: { loadSession: true } },
  2: { protocolVersion: 2, info: { name: "a", version: "1" }, capabilities: { session: {} } },
};

async function connected(version: 1 | 2, more: Partial<ClientDefinition> = {}) {
  const wire = new Wire();
  const app = client({ name: "c", version: "1", editions: [`v${version}`], ...more });
  const connecting = app.connect(wire.attach());
  await setImmediate();
  wire.answer(initialized[version]);
  const connection = await connecting;
  return { wire, app, connection };
}

async function withSession(version: 1 | 2, more: Partial<ClientDefinition> = {}) {
  const { wire, app, connection } = await connected(version, more);
  const entries: Entry[] = [];
  const opening = connection.newSession({ cwd: "/w", onEntry: (entry) => void entries.push(entry) });
  wire.answer({ sessionId: "s1" });
  return { wire, app, connection, session: await opening, entries };
}

/** Puts the connection down, and takes it up from JSON. */
async function again(app: Client, wire: Wire, connection: ClientConnection) {
  const snapshot = JSON.parse(JSON.stringify(connection.snapshot()));
  return app.restore(wire.attach(), snapshot);
}

const question = {
  jsonrpc: "2.0",
  id: "ask",
  method: "session/request_permission",
  params: {
    sessionId: "s1",
    toolCall: { toolCallId: "t", title: "Run ls" },
    options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
  },
};

test(
  "a restored connection sends no handshake, and knows the agent and the sessions (G11)",
  limit,
  async () => {
    const { wire, app, connection, session } = await withSession(1);
    session.data = "of the app";
    const before = wire.sent.length;
    const restored = await again(app, wire, connection);
    await setImmediate();
    assert.equal(wire.sent.length, before);
    const { edition, info, capabilities } = connection;
    assert.deepEqual(
      { edition: restored.edition, info: restored.info, capabilities: restored.capabilities },
      { edition, info, capabilities },
    );
    assert.deepEqual(
      restored.sessions.map(({ sessionId, cwd, data }) => ({ sessionId, cwd, data })),
      [{ sessionId: "s1", cwd: "/w", data: undefined }],
    );
  },
);

test("the answer to a prompt reaches its handle at the restored connection (G11)", limit, async () => {
  const { wire, app, connection, session } = await withSession(1);
  void session.prompt("hello", { key: "first" });
  const { id } = wire.sent.at(-1) ?? {};
  const restored = await again(app, wire, connection);
  const [prompt] = restored.sessions[0]?.prompts ?? [];
  assert.equal(prompt?.key, "first");
  wire.say({
    jsonrpc: "2.0",
    method: "session/update",
    params: {
      sessionId: "s1",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "hi" } },
    },
  });
  wire.say({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } });
  assert.equal(await prompt?.text(), "hi");
  assert.deepEqual(await restored.pending("first"), { stopReason: "end_turn" });
  assert.equal(restored.pending("second"), undefined);
  assert.deepEqual(wire.late, []);
});

test("prompts that wait are sent in their order by the restored connection (G11)", limit, async () => {
  const { wire, app, connection, session } = await withSession(1);
  for (const text of ["one", "two", "three"]) void session.prompt(text, { key: text });
  const restored = await again(app, wire, connection);
  for (const text of ["one", "two", "three"]) {
    const { id, params } = wire.sent.at(-1) ?? {};
    assert.deepEqual((params as { prompt: unknown }).prompt, [{ type: "text", text }]);
    wire.say({ jsonrpc: "2.0", id, result: { stopReason: "end_turn" } });
    assert.deepEqual(await restored.pending(text), { stopReason: "end_turn" });
    await setImmediate();
  }
});

test(
  "a withdrawn prompt is not withdrawn again, and a restored one can be cancelled (G11)",
  limit,
  async () => {
    const { wire, app, connection, session } = await withSession(2);
    session.prompt("one").cancel();
    const restored = await again(app, wire, connection);
    const cancels = () => wire.sent.filter(({ method }) => method === "$/cancel_request").length;
    assert.equal(cancels(), 1);
    const two = restored.sessions[0]?.prompt("two");
    const third = await again(app, wire, restored);
    assert.equal(cancels(), 1);
    third.sessions[0]?.prompts[1]?.cancel();
    assert.equal(cancels(), 2);
    assert.notEqual(two, undefined);
  },
);

test("a call that opens a session resolves at the restored connection, by its key (G11)", limit, async () => {
  const { wire, app, connection } = await connected(1);
  void connection.newSession({ cwd: "/w", additionalDirectories: [], key: "opening" });
  const restored = await again(app, wire, connection);
  wire.answer({ sessionId: "s9" });
  const session = await restored.pending("opening");
  assert.equal(session, restored.sessions[0]);
  assert.deepEqual(restored.sessions[0]?.roots, ["/w"]);
});

test("a call that is refused rejects at the restored connection (G11)", limit, async () => {
  const { wire, app, connection } = await connected(1);
  void connection.loadSession("s9", { cwd: "/w", key: "loading" });
  const restored = await again(app, wire, connection);
  assert.equal(restored.sessions.length, 1);
  const { id } = wire.sent.at(-1) ?? {};
  wire.say({ jsonrpc: "2.0", id, error: { code: -32002, message: "no such session" } });
  await assert.rejects(restored.pending("loading") ?? Promise.resolve(), { name: "RequestError" });
  assert.equal(restored.sessions.length, 0);
});

test("an extension's answer arrives by its key, and ids go on (G11)", limit, async () => {
  const { wire, app, connection } = await connected(2);
  void connection.request("_x/slow", {}, { key: "slow" });
  const restored = await again(app, wire, connection);
  wire.answer({ n: 1 });
  assert.deepEqual(await restored.pending("slow"), { n: 1 });
  const ids = wire.sent.map(({ id }) => id);
  void restored.request("_x/next").catch(() => undefined);
  assert.ok(!ids.includes(wire.sent.at(-1)?.["id"]));
});

test(
  "an open question is asked again, answered under its id, and stands in the history once",
  limit,
  async () => {
    let answer: (optionId: string) => void = () => undefined;
    let asked = 0;
    const { wire, app, connection, session, entries } = await withSession(1, {
      requestPermission: () => {
        asked++;
        return new Promise<string>((resolve) => {
          answer = resolve;
        });
      },
    });
    void session.prompt("hello");
    wire.say(question);
    const restored = await again(app, wire, connection);
    restored.sessions[0]?.onEntry((entry) => void entries.push(entry));
    assert.equal(asked, 2);
    answer("yes");
    await setImmediate();
    const outcome = { outcome: { outcome: "selected", optionId: "yes" } };
    assert.deepEqual(wire.sent.at(-1), { jsonrpc: "2.0", id: "ask", result: outcome });
    const asks = entries.filter(({ kind }) => kind === "ask" || kind === "answer");
    assert.deepEqual(
      asks.map(({ kind }) => kind),
      ["ask", "answer"],
    );
    assert.equal(new Set(asks.map((entry) => "askId" in entry && entry.askId)).size, 1);
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      entries.map((_, at) => at + 1),
    );
  },
);

test("a question of a policy is withdrawn and asked anew (G11)", limit, async () => {
  const { wire, app, connection, session, entries } = await withSession(1, {
    files: { readText: async () => "text" },
    policy: { decide: () => "ask" },
    requestPermission: () => new Promise<string>(() => undefined),
  });
  void session.prompt("hello");
  const params = { sessionId: "s1", path: "/w/a" };
  wire.say({ jsonrpc: "2.0", id: 7, method: "fs/read_text_file", params });
  await setImmediate();
  const restored = await again(app, wire, connection);
  restored.sessions[0]?.onEntry((entry) => void entries.push(entry));
  await setImmediate();
  const asks = entries.filter(({ kind }) => kind === "ask" || kind === "answer");
  assert.deepEqual(
    asks.map(({ kind }) => kind),
    ["ask", "answer", "ask"],
  );
});

test("a batch of requests is answered as one array, also with answers from before (G11)", limit, async () => {
  let answer: () => void = () => undefined;
  const { wire, app, connection } = await connected(1, {
    extensions: {
      requests: {
        "_x/now": async () => ({ now: true }),
        "_x/later": () =>
          new Promise((resolve) => {
            answer = () => resolve({ later: true });
          }),
      },
    },
  });
  wire.say([
    { jsonrpc: "2.0", id: 1, method: "_x/now" },
    { jsonrpc: "2.0", id: 2, method: "_x/later" },
  ]);
  await setImmediate();
  await again(app, wire, connection);
  answer();
  await setImmediate();
  assert.deepEqual(wire.sent.at(-1), [
    { jsonrpc: "2.0", id: 1, result: { now: true } },
    { jsonrpc: "2.0", id: 2, result: { later: true } },
  ]);
});

test("a request that the agent has cancelled is handled again as a cancelled one (G11)", limit, async () => {
  const signals: AbortSignal[] = [];
  const { wire, app, connection } = await connected(1, {
    extensions: {
      requests: {
        "_x/slow": (_params, { signal }) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    },
  });
  wire.say({ jsonrpc: "2.0", id: 12345678901234567890n.toString(), method: "_x/slow" });
  wire.say({
    jsonrpc: "2.0",
    method: "$/cancel_request",
    params: { requestId: 12345678901234567890n.toString() },
  });
  await again(app, wire, connection);
  assert.deepEqual(
    signals.map(({ aborted }) => aborted),
    [true, true],
  );
});

test("a snapshot stays as it was when it was taken (G11)", limit, async () => {
  const { wire, connection, session } = await withSession(2);
  const snapshot = connection.snapshot();
  const text = JSON.stringify(snapshot);
  void session.prompt("hello");
  wire.say(question);
  assert.equal(JSON.stringify(snapshot), text);
});

test(
  "what is no snapshot, or not one for this client, is refused with what was got and wanted",
  limit,
  async () => {
    const { app, connection } = await withSession(2);
    const snapshot = connection.snapshot();
    const wrong: readonly [unknown, RegExp][] = [
      [JSON.stringify(snapshot), /expected a snapshot, got a text; pass JSON\.parse/],
      [undefined, /expected a snapshot, as connection\.snapshot\(\) returns it, got nothing/],
      [
        { ...snapshot, version: 2 },
        /expected a snapshot of version 1, got one of version 2; restore it with/,
      ],
      [{ ...snapshot, edition: "v1" }, /expected a snapshot of edition v2, .* got "v1"/],
      [{ ...snapshot, state: {} }, /broken: expected an object at \/state\/introduction, got nothing/],
      [
        changed(snapshot, "connection", { nextId: "7" }),
        /expected a whole number from 0 on at \/state\/conn.*"7"/,
      ],
      [
        changed(snapshot, "sessions", [{}]),
        /expected a text at \/state\/sessions\/0\/sessionId, got nothing/,
      ],
    ];
    for (const [given, message] of wrong) {
      const wire = new Wire();
      // as: a caller without types
      const restoring = app.restore(wire.attach(), given as ConnectionSnapshot);
      await assert.rejects(restoring, { name: "TypeError", message });
    }
  },
);

function changed(snapshot: ConnectionSnapshot, part: string, value: object): ConnectionSnapshot {
  const state = snapshot.state as Readonly<Record<string, object>>;
  const next = Array.isArray(value) ? value : { ...state[part], ...value };
  return { ...snapshot, state: { ...state, [part]: next } };
}

test("a connection that has ended, or has proxies, has no snapshot (G11)", limit, async () => {
  const [near, far] = memoryPair();
  agent({ name: "a", version: "1", prompt: () => undefined }).connect(far);
  const connection = await client({ name: "c", version: "1" }).connect(near);
  await connection.close();
  assert.throws(() => connection.snapshot(), { name: "ConnectionError", message: /has ended/ });
});

test(
  "a connection with proxies has no snapshot, and none can be restored with them (G11)",
  limit,
  async () => {
    const [near, far] = memoryPair();
    agent({ name: "a", version: "1", prompt: () => undefined }).connect(far);
    const proxies = [proxy({ name: "p", version: "1" })];
    const app = client({ name: "c", version: "1", unstable: ["proxies"], proxies });
    await using connection = await app.connect(near);
    assert.throws(() => connection.snapshot(), {
      name: "TypeError",
      message: /with proxies cannot be put down/,
    });
    const snapshot = (await connected(1)).connection.snapshot();
    const restoring = app.restore(new Wire().attach(), snapshot);
    await assert.rejects(restoring, { name: "TypeError", message: /with proxies cannot restore/ });
  },
);
