// Output that our client pushes to an agent of the document: in order, one request at a time, all before the exit.

import assert from "node:assert/strict";
import test from "node:test";
import type { DialectMessage, DialectStep } from "@parley/acp/transport";
import { DialectDriver, only } from "../../test/support/dialect-driver.ts";
import { methods } from "../wire/scoped/methods.gen.ts";
import { scopedMachines as scoped } from "./machines.ts";

interface Opening {
  readonly pushes: boolean;
  readonly params?: object;
  readonly can?: object;
}

/** With a terminal "t" of a running turn. */
function withTerminal({ pushes, params = {}, can = {} }: Opening): DialectDriver {
  const driver = new DialectDriver(scoped, "client", methods, { unstable: true });
  const clientCapabilities = { terminal: true, ...can };
  driver.send({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities } });
  const agentInfo = { name: "A", version: "1" };
  driver.receive({ id: 1, result: { protocolVersion: 1, agentInfo, capabilities: {} } });
  driver.send({ id: 2, method: "session/new", params: { cwd: "/w", mcpServers: [] } });
  driver.receive({ id: 2, result: { sessionId: "s", createdAt: "now" } });
  driver.send({ id: 3, method: "session/prompt", params: { sessionId: "s", prompt: [] } });
  driver.receive({
    id: 10,
    method: "terminal/create",
    params: { command: "npm", args: ["test"], ...params },
  });
  const _meta = { "_parley.dev/pid": 77, ...(pushes ? { "_parley.dev/pushesOutput": true } : {}) };
  const { toPeer } = driver.send({ id: 10, result: { terminalId: "t", _meta } });
  assert.deepEqual(only(toPeer).result, { terminalId: "t", pid: 77 });
  return driver;
}

const output = (driver: DialectDriver, data: string, stream?: string): DialectStep =>
  driver.send({
    method: "_parley.dev/terminal_output",
    params: { terminalId: "t", data, ...(stream && { stream }) },
  });

const pushed = ({ toPeer }: DialectStep): DialectMessage[] =>
  toPeer.filter(({ method }) => method === "terminal/output");

const dataOf = ({ params }: DialectMessage): string => (params as { data: string }).data;

const metaOf = (message: DialectMessage | undefined): unknown =>
  (message?.params as { _meta?: unknown } | undefined)?._meta;

const taken = (driver: DialectDriver, { id }: DialectMessage): DialectStep =>
  driver.receive({ id, result: { received: true } });

test("terminal/create: the working directory, the environment and the limit are said in version 1 (8.3)", () => {
  const driver = withTerminal({ pushes: true });
  const params = { command: "ls", cwd: "sub", env: { A: "1" }, timeout: 50 };
  const { toUs } = driver.receive({ id: 11, method: "terminal/create", params });
  assert.deepEqual(only(toUs).params, {
    sessionId: "s",
    command: "ls",
    cwd: "/w/sub",
    env: [{ name: "A", value: "1" }],
    _meta: { "_parley.dev/timeoutMs": 50 },
  });
});

test("output is pushed in order, one request at a time, each stream by itself", () => {
  const driver = withTerminal({ pushes: true });
  const first = only(pushed(output(driver, "a", "stdout")));
  assert.deepEqual(first.params, { terminalId: "t", data: "a", stream: "stdout" });
  assert.deepEqual(pushed(output(driver, "b", "stdout")), []);
  assert.deepEqual(pushed(output(driver, "c", "stdout")), []);
  assert.deepEqual(pushed(output(driver, "E", "stderr")), []);
  const second = only(pushed(taken(driver, first)));
  assert.deepEqual(second.params, { terminalId: "t", data: "bc", stream: "stdout" });
  const third = only(pushed(taken(driver, second)));
  assert.deepEqual(third.params, { terminalId: "t", data: "E", stream: "stderr" });
  assert.deepEqual(taken(driver, third), { toUs: [], toPeer: [] });
});

test("at most 64 KiB go into one push, and no character is cut", () => {
  const driver = withTerminal({ pushes: true });
  const whole = `x${"é".repeat(100_000)}`;
  let text = "";
  let [next] = pushed(output(driver, whole));
  while (next !== undefined) {
    const data = dataOf(next);
    assert.ok(new TextEncoder().encode(data).length <= 64 * 1024);
    text += data;
    [next] = pushed(taken(driver, next));
  }
  assert.equal(text, whole);
});

test("everything is pushed before wait_for_exit is answered", () => {
  const driver = withTerminal({ pushes: true });
  const first = only(pushed(output(driver, "a")));
  output(driver, "b");
  driver.receive({ id: 11, method: "terminal/wait_for_exit", params: { terminalId: "t" } });
  assert.deepEqual(driver.send({ id: 11, result: { exitCode: 3 } }).toPeer, []);
  const second = only(pushed(taken(driver, first)));
  assert.deepEqual(only(taken(driver, second).toPeer), { jsonrpc: "2.0", id: 11, result: { exitCode: 3 } });
});

test("an agent that takes no output does not stop the terminal: what waits is bounded, the oldest is dropped", () => {
  const driver = withTerminal({ pushes: true });
  const first = only(pushed(output(driver, "first")));
  for (let i = 0; i < 64; i++) assert.deepEqual(pushed(output(driver, String(i % 10).repeat(32 * 1024))), []);
  let [next] = pushed(taken(driver, first));
  assert.deepEqual(metaOf(next), { "_parley.dev/details": { truncated: true } });
  let bytes = 0;
  let last = "";
  while (next !== undefined) {
    last = dataOf(next);
    bytes += last.length;
    [next] = pushed(taken(driver, next));
  }
  assert.equal(bytes, 1024 * 1024);
  assert.equal(last.at(-1), "3", "the newest output is there");
});

test("an agent that does not know the push is not asked again, and its waits are answered", () => {
  const driver = withTerminal({ pushes: true });
  const first = only(pushed(output(driver, "a")));
  output(driver, "b");
  driver.receive({ id: 11, method: "terminal/wait_for_exit", params: { terminalId: "t" } });
  driver.send({ id: 11, result: { signal: "SIGKILL" } });
  const refused = driver.receive({ id: first.id, error: { code: -32601, message: "no such method" } });
  assert.deepEqual(only(refused.toPeer).result, { exitCode: -1, signal: "SIGKILL" });
  assert.deepEqual(pushed(output(driver, "c")), []);
});

test("an agent that takes no output is answered all the same: after ten seconds, or when it releases the terminal", () => {
  for (const ending of ["time", "release"]) {
    const driver = withTerminal({ pushes: true });
    output(driver, "a");
    driver.receive({ id: 11, method: "terminal/wait_for_exit", params: { terminalId: "t" } });
    assert.deepEqual(driver.send({ id: 11, result: { exitCode: 3 } }).toPeer, []);
    const answered =
      ending === "time"
        ? driver.pass(10_000)
        : driver.receive({ id: 12, method: "terminal/release", params: { terminalId: "t" } });
    assert.deepEqual(answered.toPeer, [{ jsonrpc: "2.0", id: 11, result: { exitCode: 3 } }]);
  }
});

const poll = ({ toUs }: DialectStep): DialectMessage | undefined =>
  toUs.find(({ method }) => method === "terminal/output");

test("a client that does not push is asked, more seldom while nothing changes, and the new part is pushed", () => {
  const driver = withTerminal({ pushes: false });
  const asked = (ms: number): DialectMessage => {
    assert.equal(poll(driver.pass(ms - 1)), undefined);
    const found = poll(driver.pass(1));
    assert.ok(found, `no poll after ${ms} ms`);
    return found;
  };
  const answer = (id: DialectMessage["id"], text: string, more: object = {}): DialectStep =>
    driver.send({ id, result: { output: text, truncated: false, ...more } });
  let push = only(pushed(answer(asked(50).id, "one\n")));
  assert.equal(dataOf(push), "one\n");
  taken(driver, push);
  answer(asked(50).id, "one\n");
  answer(asked(100).id, "one\n");
  for (const ms of [200, 400, 800, 1000, 1000]) answer(asked(ms).id, "one\n");
  push = only(pushed(answer(asked(1000).id, "one\ntwo\n")));
  assert.equal(dataOf(push), "two\n");
  // a slow agent: nothing is asked for while output waits
  driver.pass(5000);
  taken(driver, push);
  push = only(pushed(answer(asked(50).id, "two\nthree\n", { truncated: true })));
  assert.equal(dataOf(push), "three\n", "the front was dropped");
  taken(driver, push);
  answer(asked(50).id, "two\nthree\n", { exitStatus: { exitCode: 0 } });
  assert.equal(driver.timers, 0, "an ended command is not asked for again");
});

test("a client that does not push is asked once more before the exit is told", () => {
  const driver = withTerminal({ pushes: false });
  driver.receive({ id: 11, method: "terminal/wait_for_exit", params: { terminalId: "t" } });
  const last = poll(driver.send({ id: 11, result: { exitCode: 0 } }));
  const step = driver.send({
    id: last?.id,
    result: { output: "all", truncated: false, exitStatus: { exitCode: 0 } },
  });
  const push = only(step.toPeer);
  assert.equal(dataOf(push), "all");
  assert.deepEqual(only(taken(driver, push).toPeer).result, { exitCode: 0 });
});

test("a wait with a limit is answered when the time is over, and taken back (8.3)", () => {
  const driver = withTerminal({ pushes: true });
  const params = { terminalId: "t", timeout: 200 };
  const { toUs } = driver.receive({ id: 11, method: "terminal/wait_for_exit", params });
  assert.deepEqual(only(toUs).params, {
    sessionId: "s",
    terminalId: "t",
    _meta: { "_parley.dev/timeoutMs": 200 },
  });
  assert.deepEqual(driver.pass(199), { toUs: [], toPeer: [] });
  const over = driver.pass(1);
  assert.deepEqual(only(over.toPeer).result, { exitCode: -1, timedOut: true });
  assert.deepEqual(only(over.toUs).params, { requestId: 11 });
  const late = driver.send({ id: 11, error: { code: -32800, message: "cancelled" } });
  assert.deepEqual(late, { toUs: [], toPeer: [] });
  driver.receive({ id: 12, method: "terminal/wait_for_exit", params });
  const own = driver.send({ id: 12, result: { _meta: { "_parley.dev/timedOut": true } } });
  assert.deepEqual(only(own.toPeer).result, { exitCode: -1, timedOut: true });
  assert.equal(driver.timers, 0);
});

test("a command that runs longer than its limit is killed; one that ended is not (8.3)", () => {
  const driver = withTerminal({ pushes: true, params: { timeout: 100 } });
  const kill = only(driver.pass(100).toUs);
  assert.deepEqual([kill.method, kill.params], ["terminal/kill", { sessionId: "s", terminalId: "t" }]);
  assert.deepEqual(driver.send({ id: kill.id, result: {} }), { toUs: [], toPeer: [] });
  const ended = withTerminal({ pushes: true, params: { timeout: 100 } });
  ended.receive({ id: 11, method: "terminal/wait_for_exit", params: { terminalId: "t" } });
  ended.send({ id: 11, result: { exitCode: 0 } });
  assert.deepEqual(ended.pass(1000), { toUs: [], toPeer: [] });
});

test("kill has a signal or force, and release ends the terminal (8.3)", () => {
  const driver = withTerminal({ pushes: false });
  const signalOf = (params: object): unknown => {
    const { toUs } = driver.receive({
      id: 11,
      method: "terminal/kill",
      params: { terminalId: "t", ...params },
    });
    assert.deepEqual(only(driver.send({ id: 11, result: {} }).toPeer).result, { killed: true });
    return (only(toUs).params as { _meta?: Record<string, unknown> })._meta?.["_parley.dev/signal"];
  };
  assert.deepEqual(
    [signalOf({}), signalOf({ signal: "SIGINT" }), signalOf({ signal: "SIGINT", force: true })],
    [undefined, "SIGINT", "SIGKILL"],
  );
  driver.receive({ id: 11, method: "terminal/release", params: { terminalId: "t" } });
  assert.deepEqual(only(driver.send({ id: 11, result: {} }).toPeer).result, { released: true });
  assert.equal(driver.timers, 0, "nothing is asked for any more");
  const after = driver.receive({ id: 12, method: "terminal/kill", params: { terminalId: "t" } });
  assert.equal(only(after.toPeer).error?.code, -32004);
});

test("an agent that asks for output is answered too", () => {
  const driver = withTerminal({ pushes: true });
  driver.receive({ id: 11, method: "terminal/output", params: { terminalId: "t" } });
  const { toPeer } = driver.send({
    id: 11,
    result: { output: "all", truncated: true, exitStatus: { exitCode: 2 } },
  });
  assert.deepEqual(only(toPeer).result, { received: true, output: "all", truncated: true, exitCode: 2 });
  const wrong = driver.receive({ id: 12, method: "terminal/output", params: { terminalId: "t", data: "x" } });
  assert.equal(only(wrong.toPeer).error?.code, -32602);
});

test("no more terminals run than our client declared (Q4)", () => {
  const declared = { "_parley.dev/capabilities": { terminal: { create: true, maxConcurrent: 1 } } };
  const driver = withTerminal({ pushes: true, can: { _meta: declared } });
  const { error } = only(
    driver.receive({ id: 11, method: "terminal/create", params: { command: "ls" } }).toPeer,
  );
  assert.equal(error?.code, -32008);
  assert.match(error?.message ?? "", /at most 1 terminals at once: release one first/);
});
