import assert from "node:assert/strict";
import { test } from "node:test";
import { gone } from "../../test/support/channel-probe.ts";
import { Connection } from "../jsonrpc/connection.ts";
import { ConnectionError } from "../jsonrpc/errors.ts";
import type { SpawnTransportOptions } from "./spawn.ts";
import { type SpawnedTransport, spawnTransport } from "./transports.ts";

const patience = { timeout: 60_000 };

/** A client connected to a real agent process, which answers by the given body of `request(method, params, request)`. */
function clientOf(
  body: string,
  options: SpawnTransportOptions = {},
): { connection: Connection; agent: SpawnedTransport; seen: string[] } {
  const source = `
    import { Connection } from ${JSON.stringify(import.meta.resolve("../jsonrpc/connection.ts"))};
    import { stdioTransport } from ${JSON.stringify(import.meta.resolve("./transports.ts"))};
    import { spawn } from "node:child_process";
    const connection = new Connection(stdioTransport(), {
      handlers: { notification() {}, request(method, params, request) { ${body} } },
    });
    const reason = await connection.closed;
    console.error("closed:", reason.kind);
  `;
  const flags = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e"];
  const agent = spawnTransport(process.execPath, [...flags, source], options);
  const seen: string[] = [];
  const connection = new Connection(agent, {
    noise: "skip",
    handlers: {
      request: () => null,
      notification(method) {
        seen.push(method);
        return undefined;
      },
    },
  });
  return { connection, agent, seen };
}

test(
  "an agent answers over stdio, and exits with code 0 when the client closes (T1, X18, G10)",
  patience,
  async () => {
    const { connection, agent } = clientOf("console.log('noise'); return { echo: params };");
    assert.deepEqual(await connection.request("echo", { text: "ü" }), { echo: { text: "ü" } });
    await connection.close();
    assert.deepEqual(await agent.exited, { exitCode: 0 });
    assert.equal(connection.counters.noise, 0);
    assert.equal(agent.stderrTail(), "noise\nclosed: closed\n");
  },
);

test("closing a spawned transport ends the connection that uses it (G4)", patience, async () => {
  const { connection, agent } = clientOf("return new Promise(() => {});");
  const asked = assert.rejects(connection.request("never"), { name: "ConnectionError", kind: "closed" });
  await agent.close();
  await asked;
  assert.equal((await connection.closed).message, "the transport was closed");
});

test(
  "50,000 notifications arrive in order before the answer that follows them (T6, G1)",
  patience,
  async () => {
    const { connection, seen } = clientOf(`
    for (let index = 0; index < 50_000; index += 1) connection.notify("n" + index, { text: "x".repeat(100) });
    return "done";
  `);
    assert.equal(await connection.request("go"), "done");
    assert.equal(seen.length, 50_000);
    assert.ok(seen.every((method, index) => method === `n${index}`));
    await connection.close();
  },
);

test(
  "an agent that dies fails the pending request with its exit code and stderr (T7, G4)",
  patience,
  async () => {
    const { connection } = clientOf("console.error('no API key'); process.exit(9);");
    await assert.rejects(connection.request("go"), (error) => {
      assert.ok(error instanceof ConnectionError);
      assert.equal(error.kind, "exited");
      assert.equal(error.exitCode, 9);
      assert.equal(error.stderr, "no API key\n");
      return true;
    });
    await connection.close();
  },
);

test("an answer right before the exit is delivered", patience, async () => {
  const { connection } = clientOf("setImmediate(() => process.exit(1)); return 'heard';");
  assert.equal(await connection.request("go"), "heard");
  await connection.close();
});

test("an agent whose handler runs when stdin ends still exits by itself with code 0", patience, async () => {
  const { connection, agent, seen } = clientOf(`
    connection.notify("started");
    return new Promise((resolve) => request.signal.addEventListener("abort", () => resolve("cut short")));
  `);
  const pending = assert.rejects(connection.request("go"), ConnectionError);
  while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await connection.close();
  await pending;
  assert.deepEqual(await agent.exited, { exitCode: 0 });
});

test("closing the connection ends what the agent had started (G10)", patience, async () => {
  // The agent waits for its child, so it does not leave by itself.
  const options = { graceMs: 100 };
  const { connection } = clientOf("return spawn('sleep', ['1000'], { stdio: 'inherit' }).pid;", options);
  const pid = await connection.request<number>("go");
  await connection.close();
  await gone(pid);
});

test(
  "a spawned transport has the agent's pid, and ends it when it is disposed of (G10)",
  patience,
  async () => {
    let pid = 0;
    {
      await using agent = spawnTransport("sleep", ["1000"]);
      pid = agent.pid ?? assert.fail("it was not started");
      process.kill(pid, 0);
    }
    await gone(pid);
  },
);

test(
  "a program without arguments needs no list, and one that is missing ends the connection",
  patience,
  async () => {
    const agent = spawnTransport("parley-has-no-such-agent");
    assert.equal(agent.pid, undefined);
    const connection = new Connection(agent, {
      handlers: { request: () => null, notification: () => undefined },
    });
    assert.equal((await connection.closed).kind, "spawn_failed");
    assert.deepEqual(await agent.exited, {});
  },
);

test("aborting its signal kills an agent at once, also during its grace time", patience, async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const stubborn = "process.on('SIGTERM', () => {}); console.error('ready'); setInterval(() => {}, 1000)";
  const ready = Promise.withResolvers<void>();
  const onStderr = () => ready.resolve();
  const agent = spawnTransport(process.execPath, ["-e", stubborn], { signal, onStderr, graceMs: 3_600_000 });
  await ready.promise;
  const closed = agent.close();
  controller.abort();
  await closed;
  assert.deepEqual(await agent.exited, { signal: "SIGKILL" });
  const late = spawnTransport(process.execPath, ["-e", stubborn], { signal });
  assert.deepEqual(await late.exited, { signal: "SIGKILL" });
});
