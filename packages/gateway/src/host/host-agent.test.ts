// Hosted agents: one process for each connection, and never two on one session.

import assert from "node:assert/strict";
import { test } from "node:test";
import { host } from "../../test/support/hosted-probe.ts";
import { initialize, until } from "../../test/support/served-echo.ts";

test("each connection has a process of its own, which ends with it", async (t) => {
  const { processes, open, gateway } = await host(t);
  const [one, two] = [await open(), await open()];
  assert.deepEqual((await one.ask("initialize"))["result"], { name: "p0" });
  assert.deepEqual((await two.ask("initialize"))["result"], { name: "p1" });
  one.socket.close(1000);
  await until(() => processes[0]?.isOver === true, "a clean close ends it");
  two.socket.terminate();
  await until(() => gateway.connections[0]?.isAttached === false, "a cut is noticed");
  assert.equal(processes[1]?.isOver, false, "it waits for its client");
});

test("a process that ends closes its connection, and no other", async (t) => {
  const { processes, open } = await host(t);
  const [one, two] = [await open(), await open()];
  await one.ask("initialize");
  await two.ask("initialize");
  await processes[0]?.crash();
  await one.closed;
  assert.deepEqual((await two.ask("ping"))["result"], { name: "p1" });
});

test("of two clients that load one session at once, one gets it", async (t) => {
  const { open } = await host(t);
  const [one, two] = [await open(), await open()];
  for (const each of [one, two]) await each.ask("initialize");
  const params = { sessionId: "stored", cwd: "/", mcpServers: [] };
  const answers = await Promise.all([one, two].map((each) => each.ask("session/load", params)));
  assert.deepEqual(answers.map((answer) => "result" in answer).sort(), [false, true]);
});

test("a session that could not be loaded can be tried elsewhere", async (t) => {
  const { open } = await host(t);
  const [one, two] = [await open(), await open()];
  for (const each of [one, two]) await each.ask("initialize");
  const params = { sessionId: "unloadable", cwd: "/", mcpServers: [] };
  for (const each of [one, two])
    assert.match(JSON.stringify(await each.ask("session/load", params)), /-32002/);
});

for (const end of ["close", "archive"])
  test(`a session can be opened anywhere after session/${end}`, async (t) => {
    const { open, processes } = await host(t);
    const [one, two] = [await open(), await open()];
    for (const each of [one, two]) await each.ask("initialize");
    await one.ask("session/new", { cwd: "/", mcpServers: [] });
    await one.ask(`session/${end}`, { sessionId: "s1" });
    const loaded = await two.ask("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
    assert.ok("result" in loaded, JSON.stringify(loaded));
    assert.equal(processes[0]?.isOver, false);
  });

test("a server that stops waits for open requests, and not for ever", async (t) => {
  const { open, hosted } = await host(t);
  const one = await open();
  await one.ask("initialize");
  await hosted.idle(60_000);
  one.send({ id: 99, method: "session/prompt", params: { sessionId: "s1", prompt: [] } });
  await one.ask("ping");
  const started = performance.now();
  await hosted.idle(100);
  assert.ok(performance.now() - started >= 100);
});

test("a server that stops waits for a turn of v2 too, whose prompt is answered when it begins", async (t) => {
  const { open, hosted, processes } = await host(t);
  const one = await open();
  await one.ask("initialize");
  await one.ask("session/new", { cwd: "/", mcpServers: [] });
  const state = (name: string) =>
    processes[0]?.say({
      method: "session/update",
      params: { sessionId: "s1", update: { sessionUpdate: "state_update", state: name } },
    });
  state("running");
  await one.ask("ping");
  let isIdle = false;
  const idle = hosted.idle(60_000).then(() => {
    isIdle = true;
  });
  await one.ask("ping");
  assert.equal(isIdle, false);
  state("idle");
  await idle;
});

test("no more processes are started than there may be", async (t) => {
  const { open, processes, gateway } = await host(t, { maxProcesses: 1 });
  const one = await open();
  await one.ask("initialize");
  const two = await open();
  two.send({ id: 0, method: "initialize", params: {} });
  const [, reason] = (await two.closed) as [number, Buffer];
  assert.match(String(reason), /already 1 agents run here/);
  const three = await fetch(gateway.url, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.token}`, "content-type": "application/json" },
    body: initialize,
  });
  assert.equal(three.status, 503);
  assert.match(await three.text(), /already 1 agents run here; try again later/);
  assert.equal(processes.length, 1);
});

test("at the limit a new client gets the place of the one that has been away longest, unless its turn runs", async (t) => {
  let now = performance.now();
  t.mock.method(performance, "now", () => now);
  const { open, cut, processes } = await host(t, { maxProcesses: 3 });
  const [busy, old, young] = [await open(), await open(), await open()];
  for (const [n, each] of [busy, old, young].entries()) await each.ask("initialize", { n });
  await busy.ask("session/new", { cwd: "/", mcpServers: [] });
  busy.send({ id: 99, method: "session/prompt", params: { sessionId: "s1", prompt: [] } });
  await busy.ask("ping");
  for (const each of [busy, old, young]) {
    await cut(each);
    now += 3_000;
  }
  const next = await open();
  assert.ok("result" in (await next.ask("initialize", { n: 3 })));
  assert.deepEqual(
    processes.map(({ isOver }) => isOver),
    [false, true, false, false],
  );
  const last = await open();
  assert.ok("result" in (await last.ask("initialize", { n: 4 })));
  assert.deepEqual(
    processes.map(({ isOver }) => isOver),
    [false, true, true, false, false],
  );
  const refused = await open();
  refused.send({ id: 0, method: "initialize", params: {} });
  const [, reason] = (await refused.closed) as [number, Buffer];
  assert.match(String(reason), /already 3 agents run here/);
});

test("a process that makes room is gone before the next one starts", async (t) => {
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  let now = performance.now();
  t.mock.method(performance, "now", () => now);
  const { open, cut, processes } = await host(t, { maxProcesses: 1, lingering: gone });
  const away = await open();
  await away.ask("initialize", { n: 0 });
  await cut(away);
  const next = await open();
  now += 3_000;
  next.send({ id: 0, method: "initialize", params: { n: 1 } });
  await until(() => processes[0]?.isOver === true, "it is ended");
  assert.equal(processes.length, 1);
  resolve();
  await next.until(({ id }) => id === 0, "it is answered by the next process");
  assert.equal(processes.length, 2);
});

test("a process without a session ends when its client has been away for a minute, and the client gets another one", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { open, cut, processes } = await host(t);
  const [idle, holder] = [await open(undefined, ["parley.resume"]), await open()];
  await idle.ask("initialize", { n: 0 });
  await holder.ask("initialize", { n: 1 });
  await holder.ask("session/new", { cwd: "/", mcpServers: [] });
  for (const each of [idle, holder]) await cut(each);
  t.mock.timers.tick(59_999);
  assert.equal(processes[0]?.isOver, false);
  t.mock.timers.tick(1);
  await until(() => processes[0]?.isOver === true, "it is ended");
  assert.equal(processes[1]?.isOver, false, "a session is kept for its client");
  const hello = await idle.until(({ method }) => method === "_parley.dev/resume", "it can resume");
  const { connectionId } = hello["params"] as { connectionId: string }; // as docs/remote.md has it
  const back = await open({ "acp-connection-id": connectionId }, ["parley.resume"]);
  back.send({ method: "_parley.dev/resume", params: { received: 1 } });
  assert.deepEqual((await back.ask("ping"))["result"], { name: "p2" });
});

const offering = {
  protocolVersion: 1,
  clientCapabilities: {
    fs: { readTextFile: true, writeTextFile: true },
    terminal: true,
    session: { notices: {} },
  },
};

test("a hosted agent works on the server's files: it is offered none of the client's, and cannot use them (TH20)", async (t) => {
  const { processes, open, cut } = await host(t);
  const one = await open();
  await one.ask("initialize", offering);
  const [process] = processes;
  assert.deepEqual(process?.got[0]?.["params"], {
    protocolVersion: 1,
    clientCapabilities: { session: { notices: {} } },
  });
  process?.say({ id: "f1", method: "fs/read_text_file", params: { sessionId: "s1", path: "/etc/passwd" } });
  process?.say({ method: "terminal/kill", params: { sessionId: "s1", terminalId: "t1" } });
  await until(() => process?.got.at(-1)?.["id"] === "f1", "it is answered");
  assert.match(JSON.stringify(process?.got.at(-1)), /-32601.*files and commands of its own machine/);
  await one.ask("session/new", { cwd: "/", mcpServers: [] });
  assert.ok(!one.got.some(({ method }) => method !== undefined), "the client is not asked");
  // what clients have sent is compared, and not what the agent was told
  await cut(one);
  const other = await open();
  await other.ask("initialize", { ...offering, clientCapabilities: { session: { notices: {} } } });
  assert.equal(processes.length, 2);
  const same = await open();
  await same.ask("initialize", offering);
  assert.equal(processes.length, 2);
});

test("whoever runs the server can let the agent use the files and terminals of clients", async (t) => {
  const { processes, open } = await host(t, { useClientFiles: true });
  const one = await open();
  await one.ask("initialize", offering);
  assert.deepEqual(processes[0]?.got[0]?.["params"], offering);
  processes[0]?.say({ id: 1, method: "fs/read_text_file", params: { sessionId: "s1", path: "/x" } });
  await one.until(({ method }) => method === "fs/read_text_file", "it is asked");
});
