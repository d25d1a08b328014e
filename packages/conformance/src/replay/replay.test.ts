// A recorded conversation, played to live peers on the memory transport.

import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, client, type SessionUpdate, type Transport } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { readTrace, replayAgent, replayClient, type Trace, type TraceSide } from "@parley/conformance";

const patience = { timeout: 30_000 };

/** A transport that writes down what crosses it. */
function recorded(transport: Transport, from: TraceSide, lines: string[]): Transport {
  const add = (side: TraceSide, text: string) =>
    lines.push(JSON.stringify({ t: lines.length, from: side, bytes: text.length + 1, text }));
  const other = from === "client" ? "agent" : "client";
  return {
    start: (sink) =>
      transport.start({
        message(value, text) {
          add(other, text);
          sink.message(value, text);
        },
        idle: () => sink.idle(),
        reject: (fault) => sink.reject(fault),
        drain: () => sink.drain(),
        end: (reason) => sink.end(reason),
      }),
    send(message, text = JSON.stringify(message)) {
      add(from, text);
      return transport.send(message, text);
    },
    pause: () => transport.pause(),
    resume: () => transport.resume(),
    close: (reason) => transport.close(reason),
  };
}

function traceOf(lines: readonly (string | object)[]): Trace {
  const header = JSON.stringify({ parley: "trace", version: 1 });
  const rows = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  return readTrace([header, ...rows, ""].join("\n"));
}

/** One line per message: who sent it, and its fields. */
function script(...messages: readonly (readonly [TraceSide, object])[]): Trace {
  return traceOf(
    messages.map(([from, message], index) => {
      const text = JSON.stringify({ jsonrpc: "2.0", ...message });
      return { t: index, from, bytes: text.length + 1, text };
    }),
  );
}

test("a live peer that is silent when it should act diverges from the recording", patience, async () => {
  const trace = script(
    ["client", { id: 1, method: "initialize", params: { protocolVersion: 1 } }],
    ["agent", { id: 1, result: { protocolVersion: 1 } }],
  );
  const [near, far] = memoryPair();
  far.start({ message() {}, idle() {}, reject() {}, drain() {}, end() {} });
  const replay = replayClient(trace, near, { timeoutMs: 20 });
  assert.equal(replay.waitingFor(), "record 2 of the agent: the answer to initialize");
  const { divergence } = await replay.done;
  assert.equal(
    divergence?.message,
    "the agent left the recording at record 2: expected record 2 of the agent: the answer to initialize; got nothing for 20 ms",
  );
});

test("await using ends a replay at the end of its block", patience, async () => {
  const [near] = memoryPair();
  const replay = replayClient(script(["agent", { id: 1, method: "_x" }]), near);
  {
    await using _used = replay;
  }
  assert.match((await replay.done).divergence?.message ?? "", /got nothing, until the replay was closed$/);
});

const liveAgent = (sessionId?: string) =>
  agent({
    name: "live",
    version: "1.0.0",
    async prompt(turn) {
      await turn.think(sessionId ?? "hm");
      const allowed = await turn.tool({ title: "Edit", kind: "edit" }, (tool) => tool.requestPermission());
      await turn.say(allowed ? "done" : "not done");
    },
  });

/** What a client sees of one prompt. */
async function viewOf(transport: Transport): Promise<unknown> {
  const connected = await client({
    name: "viewer",
    version: "1.0.0",
    editions: ["v1"],
    requestPermission: ({ options }) => options[0]?.optionId,
  }).connect(transport);
  const session = await connected.newSession({ cwd: "/project" });
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => updates.push(update));
  const outcome = await session.prompt("Edit it").result;
  await connected.close();
  return { sessionId: session.sessionId, outcome, updates, info: connected.info };
}

async function record(): Promise<{ trace: Trace; view: unknown }> {
  const lines: string[] = [];
  const [left, right] = memoryPair();
  liveAgent().connect(right);
  const view = await viewOf(recorded(left, "client", lines));
  return { trace: traceOf([...lines, { t: 0, event: "eof", from: "client" }]), view };
}

/** Without what every client makes up anew. */
const comparable = (view: unknown) =>
  JSON.parse(JSON.stringify(view, (key, value) => (key === "messageId" ? undefined : value)));

test("a client sees the same from the replayed agent as from the live one", patience, async () => {
  const { trace, view } = await record();
  for (let round = 0; round < 2; round++) {
    const [left, right] = memoryPair();
    const replay = replayAgent(trace, right);
    assert.deepEqual(comparable(await viewOf(left)), comparable(view));
    const { divergence, missing, extra } = await replay.done;
    assert.deepEqual({ divergence, missing, extra }, { divergence: undefined, missing: 0, extra: 0 });
  }
});

test("a live agent is driven by the recorded client, in a session of its own name", patience, async () => {
  const { trace } = await record();
  const [left, right] = memoryPair();
  const live = liveAgent("another").connect(right);
  const replay = replayClient(trace, left);
  const report = await replay.done;
  assert.equal(report.divergence, undefined);
  assert.equal(report.missing, 0);
  assert.ok(report.sent >= 4 && report.matched > report.sent);
  await live.closed;
});

test("a client that sends another request gets the position of the divergence", patience, async () => {
  const trace = script(
    ["client", { id: 1, method: "initialize", params: {} }],
    ["agent", { id: 1, result: { protocolVersion: 1 } }],
    ["client", { id: 2, method: "authenticate", params: {} }],
    ["agent", { id: 2, result: {} }],
    ["client", { id: 3, method: "session/new", params: {} }],
  );
  const [left, right] = memoryPair();
  const answers: unknown[] = [];
  const ended = new Promise((resolve) => {
    left.start({ message: (value) => answers.push(value), idle() {}, reject() {}, drain() {}, end: resolve });
  });
  const replay = replayAgent(trace, right);
  left.send({ jsonrpc: "2.0", id: "a", method: "initialize", params: {} });
  left.send({ jsonrpc: "2.0", id: "b", method: "session/new", params: {} });
  await ended;
  const { divergence } = await replay.done;
  assert.equal(divergence?.record, 3);
  assert.equal(
    divergence?.message,
    "the client left the recording at record 3: expected record 3 of the client: request authenticate; got request session/new",
  );
  assert.deepEqual(answers[0], { jsonrpc: "2.0", id: "a", result: { protocolVersion: 1 } });
});

test("a client that disconnects early is reported, with the missing record", patience, async () => {
  const trace = script(
    ["client", { id: 1, method: "initialize" }],
    ["agent", { id: 1, result: {} }],
    ["client", { id: 2, method: "session/new" }],
  );
  const [left, right] = memoryPair();
  const replay = replayAgent(trace, right);
  left.start({ message() {}, idle() {}, reject() {}, drain() {}, end() {} });
  assert.match(replay.waitingFor() ?? "", /record 1 of the client: request initialize/);
  left.send({ jsonrpc: "2.0", id: 1, method: "initialize" });
  await left.close();
  const { divergence } = await replay.done;
  assert.match(
    divergence?.message ?? "",
    /at record 3: expected .* request session\/new; got the end of its output/,
  );
});

test(
  "a recorded request goes out under a fresh id, and an error instead of a result is a divergence",
  patience,
  async () => {
    const ask = { id: "x", method: "fs/read_text_file", params: { path: "/a" } };
    const trace = script(["agent", ask], ["client", { id: "x", result: { content: "" } }]);
    const [left, right] = memoryPair();
    const error = { code: -32603, message: "no" };
    left.start({
      message(value) {
        const { id } = value as { id: unknown };
        assert.notEqual(id, "x");
        left.send({ jsonrpc: "2.0", id, error });
      },
      idle() {},
      reject() {},
      drain() {},
      end() {},
    });
    const { divergence } = await replayAgent(trace, right).done;
    assert.match(divergence?.message ?? "", /expected .*the answer to fs\/read_text_file; got error .*"no"/);
  },
);

test("recorded pauses are kept when asked for, by the clock that is given", patience, async () => {
  const { trace } = await record();
  const pauses: number[] = [];
  const clock = {
    sleep: async (ms: number) => {
      pauses.push(ms);
    },
  };
  const [left, right] = memoryPair();
  const replay = replayAgent(trace, right, { pace: "recorded", clock });
  await viewOf(left);
  assert.equal((await replay.done).divergence, undefined);
  assert.ok(pauses.length > 3 && pauses.every((ms) => ms >= 1));
});

test(
  "a line that was no JSON is sent again as it was, and a recording with holes is refused",
  patience,
  async () => {
    const [left, right] = memoryPair();
    const faults: string[] = [];
    const ended = new Promise<void>((resolve) => {
      left.start({
        message() {},
        idle() {},
        reject: ({ head }) => faults.push(head),
        drain() {},
        end: () => resolve(),
      });
    });
    replayAgent(
      traceOf([
        { t: 0, from: "agent", bytes: 6, text: "oops!" },
        { t: 1, event: "exit", code: 3 },
      ]),
      right,
    );
    await ended;
    assert.deepEqual(faults, ["oops!"]);
    const holed = traceOf([{ t: 0, event: "dropped", reason: "slow", stream: "agent", bytes: 9 }]);
    assert.throws(() => replayAgent(holed, memoryPair()[0]), /record 1: the recorder dropped messages here/);
    const cut = traceOf([{ t: 0, from: "agent", bytes: 9_000_000, head: '{"jsonrpc"' }]);
    assert.throws(() => replayAgent(cut, memoryPair()[0]), /record it again with a larger --max-line/);
  },
);
