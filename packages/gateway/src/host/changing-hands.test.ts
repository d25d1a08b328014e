// A process changes hands: another connection of the same user goes on with it, or it is gone before the session is
// loaded elsewhere.

import assert from "node:assert/strict";
import { test } from "node:test";
import { memoryPair } from "@parley/acp/transport";
import { hostAgent } from "@parley/gateway";
import { FakeProcess, host, type Message, type Peer } from "../../test/support/hosted-probe.ts";
import { until } from "../../test/support/served-echo.ts";

const first = { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true } } };
const place = { cwd: "/", mcpServers: [] };
const load = { sessionId: "s1", ...place };
const taking = { ...load, _meta: { "_parley.dev/takeover": true } };
const prompt = { sessionId: "s1", prompt: [{ type: "text", text: "hello" }] };
const update = (text: string) => ({
  method: "session/update",
  params: {
    sessionId: "s1",
    update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text } },
  },
});

/** A client with a session, and a prompt in it that runs. */
async function busy({ open, processes }: Awaited<ReturnType<typeof host>>): Promise<Peer> {
  const one = await open();
  await one.ask("initialize", first);
  await one.ask("session/new", place);
  one.send({ id: 7, method: "session/prompt", params: prompt });
  await until(() => processes[0]?.asked.includes("session/prompt") === true, "it runs");
  return one;
}

function texts({ got }: Peer): string {
  const found = got.filter(({ method }) => method === "session/update");
  return found.map((message) => /"text":"(\w*)"/.exec(JSON.stringify(message))?.[1] ?? "").join(" ");
}

const question = (id: number, method = "session/request_permission"): Message => ({
  id,
  method,
  params: { sessionId: "s1", options: [] },
});

test("a connection that begins alike goes on with the process of a client that is away, and its turn (H18)", async (t) => {
  const probe = await host(t);
  const one = await busy(probe);
  const [process] = probe.processes as [FakeProcess];
  process.say(question(3));
  await one.until(({ id, method }) => id === 3 && method !== undefined, "it is asked");
  await probe.cut(one);
  const two = await probe.open();
  // the members of an object have no order
  const { protocolVersion, clientCapabilities } = first;
  const again = { clientCapabilities, protocolVersion };
  assert.deepEqual((await two.ask("initialize", again))["result"], { name: "p0" });
  assert.deepEqual((await two.ask("session/load", load))["result"], { name: "p0" });
  const asked = await two.until(({ method }) => method === "session/request_permission", "it is asked again");
  assert.notEqual(asked["id"], 3);
  two.send({ id: 3, result: { outcome: "late" } });
  two.send({ id: asked["id"], result: { outcome: "answered" } });
  process.say(update("more"));
  process.say({ id: 7, result: { stopReason: "end_turn" } });
  assert.deepEqual((await two.ask("ping"))["result"], { name: "p0" });
  const answers = process.got.filter(({ method }) => method === undefined);
  assert.deepEqual(answers, [{ jsonrpc: "2.0", id: 3, result: { outcome: "answered" } }]);
  assert.equal(texts(two), "more");
  assert.ok(
    !two.got.some(({ id }) => id === 7),
    "the answer to the old client's prompt is not for the new one",
  );
  assert.equal(probe.processes.length, 1, "nothing was started");
  assert.deepEqual(
    process.asked.filter((method) => method === "initialize" || method === "session/load"),
    ["initialize", "session/load"],
  );
});

test("a connection that begins differently gets a process of its own, after the old one has gone", async (t) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  t.after(() => resolve());
  const probe = await host(t, { lingering: promise });
  const one = await busy(probe);
  await probe.cut(one);
  const two = await probe.open();
  await two.ask("initialize", { ...first, clientCapabilities: {} });
  const loading = two.ask("session/load", load);
  await until(() => probe.processes[0]?.isOver === true, "the old one is ended");
  assert.ok(!probe.processes[1]?.asked.includes("session/load"), "and has not gone yet");
  resolve();
  assert.deepEqual((await loading)["result"], { name: "p1" });
});

test("the turns and questions of a process that is ended are cancelled first, never denied in silence (H18)", async (t) => {
  const probe = await host(t, { graceMs: 50, useClientFiles: true });
  const one = await busy(probe);
  const [process] = probe.processes;
  process?.say(question(70));
  process?.say(question(71, "fs/read_text_file"));
  await one.until(({ id }) => id === 71, "it is asked");
  const before = process?.got.length;
  await probe.cut(one);
  // the grace time ends
  await until(() => process?.isOver === true, "it is ended");
  assert.deepEqual(process?.got.slice(before), [
    { jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s1" } },
    { jsonrpc: "2.0", id: 70, result: { outcome: { outcome: "cancelled" } } },
    { jsonrpc: "2.0", id: 71, error: { code: -32800, message: "the request was cancelled" } },
  ]);
});

for (const begins of ["alike", "differently"])
  test(`of two connections that begin ${begins} and load the session of one that is away, one gets it`, async (t) => {
    const probe = await host(t);
    await probe.cut(await busy(probe));
    const both = [await probe.open(), await probe.open()];
    for (const each of both) await each.ask("initialize", begins === "alike" ? first : {});
    const answers = await Promise.all(both.map((each) => each.ask("session/load", load)));
    assert.deepEqual(answers.map((answer) => "result" in answer).sort(), [false, true]);
    assert.match(JSON.stringify(answers), /-32066/);
    const loading = probe.processes.filter(({ asked }) => asked.includes("session/load"));
    assert.equal(loading.length, 1);
    const others = probe.processes.filter(
      (each) => each !== loading[0] && each.asked.includes("session/new"),
    );
    assert.ok(others.every(({ isOver }) => isOver));
  });

test("a session of a client that is there is held: -32066, unless it is taken over; the old client is told and goes on (H18)", async (t) => {
  const probe = await host(t);
  const one = await busy(probe);
  const [process] = probe.processes as [FakeProcess];
  process.say(question(3));
  await one.until(({ id, method }) => id === 3 && method !== undefined, "it is asked");
  const two = await probe.open();
  assert.deepEqual((await two.ask("initialize", first))["result"], { name: "p1" });
  const { error } = await two.ask("session/resume", load);
  assert.deepEqual(error, {
    code: -32066,
    message:
      'another client has this session; close it there, or take it over with _meta: { "_parley.dev/takeover": true }',
    data: { reason: "session_held" },
  });
  assert.deepEqual((await two.ask("session/resume", taking))["result"], { name: "p0" });
  await until(() => probe.processes[1]?.isOver === true, "the new client needs no other process");
  const notice = await one.until(({ method }) => method === "_parley.dev/session_taken", "no notice");
  assert.deepEqual(notice["params"], { sessionId: "s1" });
  const withdrawn = one.got.find(({ method }) => method === "$/cancel_request");
  assert.deepEqual(withdrawn?.["params"], { requestId: 3 });
  process.say({ id: 7, result: { stopReason: "end_turn" } });
  await one.until(({ id }) => id === 7, "the old client hears how its prompt ended");
  one.send({ id: 3, result: { outcome: "late" } });
  assert.deepEqual((await one.ask("session/list"))["result"], { name: "p2" });
  for (const { got } of probe.processes) assert.ok(!JSON.stringify(got).includes("late"));
});

test("a connection that has listed the sessions first takes one up all the same", async (t) => {
  const probe = await host(t);
  await probe.cut(await busy(probe));
  const two = await probe.open();
  await two.ask("initialize", first);
  assert.deepEqual((await two.ask("session/list"))["result"], { name: "p1" });
  assert.deepEqual((await two.ask("session/load", load))["result"], { name: "p0" });
  await until(() => probe.processes[1]?.isOver === true, "the process that listed them has ended");
});

test("a prompt waits for the turn of the client before, and is cancelled with it (v1)", async (t) => {
  const probe = await host(t);
  await probe.cut(await busy(probe));
  const [process] = probe.processes as [FakeProcess];
  const two = await probe.open();
  await two.ask("initialize", first);
  await two.ask("session/load", load);
  const prompts = () => process.asked.filter((method) => method === "session/prompt").length;
  two.send({ id: 20, method: "session/prompt", params: prompt });
  two.send({ id: 21, method: "session/prompt", params: prompt });
  two.send({ method: "$/cancel_request", params: { requestId: 21 } });
  assert.match(JSON.stringify(await two.until(({ id }) => id === 21, "no answer")), /-32800/);
  assert.equal(prompts(), 1);
  two.send({ method: "session/cancel", params: { sessionId: "s1" } });
  const { result } = await two.until(({ id }) => id === 20, "no answer");
  assert.deepEqual(result, { stopReason: "cancelled" });
  await until(() => process.asked.includes("session/cancel"), "the turn is cancelled too");
  two.send({ id: 22, method: "session/prompt", params: prompt });
  process.say({ id: 7, result: { stopReason: "cancelled" } });
  await until(() => prompts() === 2, "it runs now");
});

test("sessions that the new client has not taken up are silent, and the terminals of the old one are gone", async (t) => {
  const probe = await host(t, { useClientFiles: true });
  const one = await busy(probe);
  const [process] = probe.processes as [FakeProcess];
  await one.ask("session/load", { ...load, sessionId: "s2" });
  process.say(question(4, "terminal/wait_for_exit"));
  await one.until(({ id, method }) => id === 4 && method !== undefined, "it is asked");
  await probe.cut(one);
  const two = await probe.open();
  await two.ask("initialize", first);
  await two.ask("session/load", { ...load, sessionId: "s2" });
  process.say(update("unseen"));
  process.say(question(5));
  await two.ask("ping");
  assert.deepEqual(
    two.got.filter(({ method }) => method !== undefined),
    [],
  );
  const [refused] = process.got.filter(({ method }) => method === undefined);
  assert.match(JSON.stringify(refused), /"id":4.*-32067.*its terminals/);
  await two.ask("session/load", load);
  await two.until(({ method }) => method === "session/request_permission", "it is asked now");
});

test("a session that a client was cut off from is closed by another one", async (t) => {
  const probe = await host(t);
  await probe.cut(await busy(probe));
  const two = await probe.open();
  await two.ask("initialize", first);
  assert.deepEqual((await two.ask("session/close", { sessionId: "s1" }))["result"], { name: "p0" });
  const three = await probe.open();
  await three.ask("initialize", {});
  assert.ok("result" in (await three.ask("session/load", load)));
});

test("the session of another principal is as unknown as none, also to a takeover", async () => {
  const processes: FakeProcess[] = [];
  const hosted = hostAgent({
    start: async () => {
      const process = new FakeProcess(`p${processes.length}`, Promise.resolve());
      processes.push(process);
      return process;
    },
  });
  const open = (principal: string) => {
    const [near, far] = memoryPair();
    const got: Message[] = [];
    const noop = () => undefined;
    near.start({
      message: (value) => void got.push(value as Message), // what the test sends
      idle: noop,
      reject: noop,
      drain: noop,
      end: noop,
    });
    const request = new Request("http://localhost/acp");
    const peer = hosted.connect(far, { connectionId: principal, principal, request });
    const ask = async (id: number, method: string, params: object) => {
      near.send({ jsonrpc: "2.0", id, method, params });
      const find = () => got.find((each) => each["id"] === id);
      await until(() => find() !== undefined, `no answer to ${method}`);
      return find() ?? {};
    };
    return { ask, peer };
  };
  const [one, two] = [open("one"), open("two")];
  for (const { ask } of [one, two]) await ask(0, "initialize", first);
  await one.ask(1, "session/new", place);
  await two.ask(1, "session/load", taking);
  const asked = processes[1]?.got.find(({ method }) => method === "session/load");
  assert.ok(
    asked !== undefined && !JSON.stringify(asked).includes('"s1"'),
    "the agent looks for one that nobody has",
  );
  assert.equal(processes[0]?.isOver, false);
  assert.deepEqual((await one.ask(2, "ping", {}))["result"], { name: "p0" });
  for (const { peer } of [one, two]) await peer.close();
});
