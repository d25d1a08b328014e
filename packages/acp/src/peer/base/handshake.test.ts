import assert from "node:assert/strict";
import { mock, test } from "node:test";
import {
  conversation,
  inEveryVersion,
  initialize,
  initialized,
  openSession,
  place,
  quiet,
  rejects,
  withScriptedAgent,
  withScriptedClient,
} from "../../../test/support/peer-probe.ts";
import { agent, type ConnectionError, client } from "../../index.ts";
import { memoryPair } from "../../transport.ts";

const prompt = () => undefined;

inEveryVersion("A1 A6 C3 X5 both sides introduce themselves", async (pair) => {
  let seen: unknown;
  const { agent: connected, session } = await openSession(
    pair,
    {
      title: "Probe",
      _meta: { "example.com/x": 1 },
      prompt: (turn) => {
        seen = [turn.client.info?.name, turn.client.capabilities._meta];
      },
    },
    { _meta: { "example.com/y": 2 } },
  );
  assert.equal(connected.edition, `v${pair.version}`);
  assert.deepEqual(connected.info, { name: "probe-agent", version: "1", title: "Probe" });
  await session.prompt("hi").result;
  assert.deepEqual(seen, ["probe-client", { "example.com/y": 2 }]);
});

test("G7 a definition without a name, a version or a prompt is refused when it is made", () => {
  for (const wrong of [{}, { name: "a" }, { name: "", version: "1" }, { name: "a", version: 1 }]) {
    assert.throws(() => agent({ prompt, ...wrong } as never), /^TypeError: agent: (?:name|version) must be/);
    assert.throws(() => client(wrong as never), /^TypeError: client: (?:name|version) must be/);
  }
  assert.throws(() => agent({ name: "a", version: "1" } as never), /prompt must be a function/);
});

test("a client that speaks both versions says so in one initialize that either agent reads", async () => {
  for (const version of [1, 2] as const) {
    const { agent: connected, wire } = await conversation(
      { editions: [`v${version}`], version },
      { prompt },
      {
        editions: ["v2", "v1"],
        files: { canRead: true, canWrite: false, readText: async () => "", writeText: async () => undefined },
      },
    );
    assert.equal(connected.edition, `v${version}`);
    const params = wire[0]?.message.params as Record<string, object>;
    assert.equal(params.protocolVersion, 2);
    assert.ok(params.info && params.clientInfo && params.capabilities);
    assert.deepEqual((params.clientCapabilities as { fs: object }).fs, {
      readTextFile: true,
      writeTextFile: false,
    });
  }
});

test("A3 E2 an agent that only speaks version 1 answers 1 to whatever is asked", async () => {
  for (const asked of [0, 2, 999]) {
    const { call } = withScriptedClient({ prompt, editions: ["v1"] });
    assert.equal(
      ((await call("initialize", { protocolVersion: asked })) as { protocolVersion: number }).protocolVersion,
      1,
    );
  }
});

test("A4 E2 N099 an agent of both versions answers the highest that is not above what was asked", async () => {
  for (const [asked, answered] of [
    [1, 1],
    [2, 2],
    [999, 2],
  ]) {
    const { call } = withScriptedClient({ prompt });
    const result = (await call("initialize", {
      protocolVersion: asked,
      ...(asked === 2 ? { info: { name: "x", version: "1" } } : {}),
    })) as { protocolVersion: number };
    assert.equal(result.protocolVersion, answered);
  }
});

test("A5 E2 N100 where no version fits the answer is -32022 with what there is", async () => {
  const only2 = withScriptedClient({ prompt, editions: ["v2"] });
  await rejects(only2.call("initialize", initialize(1)), -32022, { requested: 1, supported: [2] });
  await rejects(withScriptedClient({ prompt }).call("initialize", { protocolVersion: 0 }), -32022, {
    requested: 0,
    supported: [2, 1],
  });
  // a failed handshake may be tried again
  assert.ok(await only2.call("initialize", initialize(2)));
});

test("N096 N097 N098 a version that is no version is -32602", async () => {
  for (const protocolVersion of ["1", -1, 65_536, 1.5, null, undefined]) {
    await rejects(withScriptedClient({ prompt }).call("initialize", { protocolVersion }), -32602, {
      path: "/protocolVersion",
    });
  }
  await rejects(withScriptedClient({ prompt }).call("initialize", null), -32602);
});

test("N092 a request before initialize is -32600, and initialize still succeeds", async () => {
  const { call } = withScriptedClient({ prompt });
  await rejects(call("session/new", { cwd: "/", mcpServers: [] }), -32600, { reason: "not_initialized" });
  assert.ok(await call("initialize", initialize(1)));
});

test("G1 initialize and session/new in one write both succeed", async () => {
  for (const version of [1, 2] as const) {
    const { call } = withScriptedClient({ prompt });
    const [first, second] = await Promise.all([
      call("initialize", initialize(version)),
      call("session/new", { cwd: "/", mcpServers: [] }),
    ]);
    assert.equal((first as { protocolVersion: number }).protocolVersion, version);
    assert.ok((second as { sessionId: string }).sessionId);
  }
});

test("a prompt that is cancelled while the version loads is answered, and its handler never runs", async () => {
  for (const version of [1, 2] as const) {
    let ran = 0;
    const { call } = withScriptedClient({ prompt: () => void ran++ });
    const abort = new AbortController();
    const first = call("initialize", initialize(version));
    const refused = call(
      "session/prompt",
      { sessionId: "none", prompt: [{ type: "text", text: "x" }] },
      { signal: abort.signal },
    );
    abort.abort();
    await first;
    await rejects(refused, -32002);
    assert.equal(ran, 0);
  }
});

test("N094 a second initialize is -32600 on version 1 and changes nothing", async () => {
  const { call, served } = withScriptedClient({ prompt });
  await call("initialize", initialize(1));
  await rejects(call("initialize", initialize(2)), -32600, { reason: "already_initialized" });
  assert.equal(served.edition, "v1");
});

test("E20 version 2 may repeat initialize until the first other request", async () => {
  const { call } = withScriptedClient({ prompt });
  await call("initialize", initialize(2));
  await call("initialize", initialize(2));
  await call("session/new", { cwd: "/" });
  await rejects(call("initialize", initialize(2)), -32600);
});

test("N095 an initialize without an id does nothing", async () => {
  const { peer, call } = withScriptedClient({ prompt });
  peer.notify("initialize", initialize(1));
  await rejects(call("session/new", { cwd: "/", mcpServers: [] }), -32600);
});

test("X1 an agent that echoes 2 but speaks version 1 is spoken to in version 1", async () => {
  const { agent: connected, peer } = await withScriptedAgent(1, {
    initialize: () => ({ ...initialized(1), protocolVersion: 2 }),
    "session/prompt": () => ({ stopReason: "end_turn" }),
  });
  assert.equal(connected.edition, "v1");
  const session = await connected.newSession(place);
  assert.equal((await session.prompt("x").result).stopReason, "end_turn");
  assert.deepEqual(peer.methods(), ["initialize", "session/new", "session/prompt"]);
});

test("an agent that chokes on version 2 is asked again with version 1 alone (Q10)", async () => {
  const { agent: connected, peer } = await withScriptedAgent(1, {
    initialize: (params) => {
      if (params.protocolVersion !== 1) throw new Error("what is 2?");
      return initialized(1);
    },
  });
  assert.equal(connected.edition, "v1");
  assert.deepEqual(Object.keys(peer.got[1]?.params ?? {}).sort(), [
    "clientCapabilities",
    "clientInfo",
    "protocolVersion",
  ]);
});

test("C4 Q3 an agent that chose a version which the client does not speak is left, and the error says which", async () => {
  for (const [editions, chosen] of [
    [["v2", "v1"], 7],
    [["v1"], 2],
    [["v2"], 1],
  ] as const) {
    const [left, right] = memoryPair();
    const hungUp = Promise.withResolvers<void>();
    left.start({
      message: (value) => {
        const { id } = value as { id?: number };
        const result = { protocolVersion: chosen, info: { name: "a", version: "1" }, capabilities: {} };
        if (id !== undefined) left.send({ jsonrpc: "2.0", id, result });
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => undefined,
      end: () => hungUp.resolve(),
    });
    await assert.rejects(client({ name: "c", version: "1", editions }).connect(right), {
      name: "ConnectionError",
      kind: "protocol",
      message: new RegExp(`version ${chosen}`),
    });
    await hungUp.promise;
  }
});

test("an agent that does not answer initialize is given up after the time that the client allows", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const [, right] = memoryPair();
    const connecting = client({ name: "c", version: "1", connection: { handshakeTimeoutMs: 5_000 } }).connect(
      right,
    );
    const failed = assert.rejects(
      connecting,
      (error: ConnectionError) => error.kind === "handshake_timeout" && /5000 ms/.test(error.message),
    );
    mock.timers.tick(5_000);
    await failed;
  } finally {
    mock.timers.reset();
  }
});

test("F an agent that dies in the handshake fails the connect with the reason, at once", async () => {
  const [left, right] = memoryPair();
  const connecting = client({ name: "c", version: "1" }).connect(right);
  await left.close();
  await assert.rejects(connecting, (error: ConnectionError) => error.kind === "closed");
});

test("requests of an agent that fails its handshake are answered, and nothing waits for them", async () => {
  const [left, right] = memoryPair();
  const { Connection } = await import("../../jsonrpc.ts");
  const peer = new Connection(left, {
    handlers: {
      request: () => ({ protocolVersion: 7 }),
      notification: () => undefined,
    },
  });
  const early = peer.request("_hello", {});
  early.catch(() => undefined);
  await assert.rejects(
    client({ name: "c", version: "1", extensions: { requests: { _hello: () => "hi" } } }).connect(right),
  );
  await assert.rejects(early);
});

test("C5 G7 capabilities that are no capabilities are off", async () => {
  const { call } = withScriptedClient({ prompt });
  const result = await call("initialize", {
    protocolVersion: 1,
    clientCapabilities: { fs: 7, terminal: "yes" },
    clientInfo: 3,
  });
  assert.ok(result);
  const { agent: connected } = await withScriptedAgent(1, {
    initialize: () => ({ protocolVersion: 1, agentCapabilities: "all", authMethods: 4 }),
  });
  assert.equal(connected.capabilities.load, false);
  await assert.rejects(connected.loadSession("s", place), TypeError);
  await assert.rejects(connected.resumeSession("s", place), TypeError);
  await assert.rejects(connected.listSessions(), TypeError);
  await assert.rejects(connected.logout(), TypeError);
  await quiet();
});
