// Hosted agents: one process for each connection, and never two on one session.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import type { Transport } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { hostAgent, startGateway } from "@parley/gateway";
import { WebSocket } from "ws";
import { until } from "../../test/support/served-echo.ts";

type Message = Readonly<Record<string, unknown>>;

/** A process that answers everything, says which one it is, and never answers a prompt. */
class FakeProcess {
  readonly got: Message[] = [];
  isOver = false;
  readonly transport: Transport;
  readonly #inside: Transport;

  constructor(name: string) {
    const [outside, inside] = memoryPair();
    this.transport = outside;
    this.#inside = inside;
    inside.start({
      message: (value) => {
        const message = value as Message; // what the test sends
        this.got.push(message);
        const { id, method } = message;
        if (id === undefined || method === "session/prompt") return;
        if (JSON.stringify(message).includes("unloadable"))
          return inside.send({ jsonrpc: "2.0", id, error: { code: -32002, message: "unknown" } });
        const sessionId = method === "session/new" ? { sessionId: "s1" } : {};
        inside.send({ jsonrpc: "2.0", id, result: { name, ...sessionId } });
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => undefined,
      end: () => {
        this.isOver = true;
      },
    });
  }

  crash(): Promise<void> {
    return this.#inside.close();
  }
}

async function host(t: TestContext, more: { readonly maxProcesses?: number } = {}) {
  const processes: FakeProcess[] = [];
  const hosted = hostAgent({
    start: async () => {
      const process = new FakeProcess(`p${processes.length}`);
      processes.push(process);
      return process;
    },
    ...more,
  });
  const gateway = await startGateway({ connect: hosted.connect });
  t.after(() => gateway.close());
  const open = async () => {
    const headers = { authorization: `Bearer ${gateway.token}` };
    const socket = new WebSocket(gateway.url.replace("http", "ws"), { headers });
    await once(socket, "open");
    return new Peer(socket);
  };
  return { processes, hosted, gateway, open };
}

class Peer {
  readonly socket: WebSocket;
  readonly got: Message[] = [];
  readonly closed: Promise<unknown>;
  #id = 0;

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => this.got.push(JSON.parse(String(data))));
    this.closed = once(socket, "close");
  }

  send(message: Message): void {
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  async ask(method: string, params: object = {}): Promise<Message> {
    const id = this.#id++;
    this.send({ id, method, params });
    const find = () => this.got.find((each) => each["id"] === id);
    await until(() => find() !== undefined, `no answer to ${method}`);
    return find() ?? {};
  }
}

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

test("a session of a client that was cut off is continued by a new process, after the old one has gone", async (t) => {
  const { processes, open, gateway } = await host(t);
  const one = await open();
  await one.ask("initialize");
  await one.ask("session/new", { cwd: "/", mcpServers: [] });
  one.socket.terminate();
  await until(() => gateway.connections[0]?.isAttached === false, "a cut is noticed");
  const two = await open();
  await two.ask("initialize");
  const loading = two.ask("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
  await until(
    () => processes[1]?.got.some(({ method }) => method === "session/load") === true,
    "it is loaded",
  );
  assert.equal(processes[0]?.isOver, true, "never two processes on one session");
  assert.deepEqual((await loading)["result"], { name: "p1" });
});

test("a session of a client that is there is held: -32066, unless it is taken over", async (t) => {
  const { processes, open } = await host(t);
  const [one, two] = [await open(), await open()];
  for (const each of [one, two]) await each.ask("initialize");
  await one.ask("session/new", { cwd: "/", mcpServers: [] });
  const params = { sessionId: "s1", cwd: "/", mcpServers: [] };
  const { error } = await two.ask("session/resume", params);
  assert.deepEqual(error, {
    code: -32066,
    message: "another client has this session; close it there, or take it over",
    data: { reason: "session_held" },
  });
  const taking = { ...params, _meta: { "_parley.dev/takeover": true } };
  assert.deepEqual((await two.ask("session/resume", taking))["result"], { name: "p1" });
  await one.closed;
  const notice = one.got.find(({ method }) => method === "_parley.dev/session_taken");
  assert.deepEqual(notice?.["params"], { sessionId: "s1" });
  assert.equal(processes[0]?.isOver, true);
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

test("a session that was closed can be opened anywhere", async (t) => {
  const { open, processes } = await host(t);
  const [one, two] = [await open(), await open()];
  for (const each of [one, two]) await each.ask("initialize");
  await one.ask("session/new", { cwd: "/", mcpServers: [] });
  await one.ask("session/close", { sessionId: "s1" });
  await two.ask("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
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

test("no more processes are started than there may be", async (t) => {
  const { open, processes } = await host(t, { maxProcesses: 1 });
  const one = await open();
  await one.ask("initialize");
  const two = await open();
  two.send({ id: 0, method: "initialize", params: {} });
  await two.closed;
  assert.equal(processes.length, 1);
});
