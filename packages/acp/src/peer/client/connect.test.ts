// Connecting: to an agent in this process, with a signal, and to what is neither agent nor transport.

import assert from "node:assert/strict";
import { test } from "node:test";
import { inEveryVersion, initialized, place, quiet } from "../../../test/support/peer-probe.ts";
import { type AgentConnection, agent, type Client, client, RequestError } from "../../index.ts";
import { Connection } from "../../jsonrpc.ts";
import { memoryPair } from "../../transport.ts";

const probe: Client = client({ name: "probe-client", version: "1" });
const echo = agent({
  name: "echo",
  version: "1",
  prompt: async (turn) => void (await turn.say(turn.text)),
  extensions: { requests: { "_probe/echo": (params) => params } },
});

/** Whether it has settled, without waiting for it. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  const pending = {};
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending;
}

/** An agent that tells what serves the client. */
function watched(): { target: { connect: typeof echo.connect }; served: () => AgentConnection } {
  let served: AgentConnection | undefined;
  const target = {
    connect: (...given: Parameters<typeof echo.connect>) => {
      served = echo.connect(...given);
      return served;
    },
  };
  return { target, served: () => served ?? assert.fail("nobody has connected") };
}

inEveryVersion("an agent of this process is connected without a transport", async ({ editions }) => {
  const connection = await client({ name: "c", version: "1", editions }).connect(echo);
  assert.equal(connection.edition, editions[0]);
  assert.equal(connection.info?.name, "echo");
  const session = await connection.newSession(place);
  assert.equal((await session.prompt("hi")).stopReason, "end_turn");
  assert.deepEqual(await connection.request("_probe/echo", { a: 1 }), { a: 1 });
  await connection.close();
});

test("an agent that refuses initialize and closes is reported with its reason, not with its end", async () => {
  const [near, far] = memoryPair();
  const refusing = new Connection(far, {
    handlers: {
      request() {
        queueMicrotask(() => void refusing.close());
        throw new RequestError("unavailable", "the proxy has gone");
      },
      notification: () => undefined,
    },
  });
  await assert.rejects(probe.connect(near), { name: "RequestError", message: "the proxy has gone" });
});

test("closing the connection to an agent of this process closes the agent's side before it resolves", async () => {
  const { target, served } = watched();
  const connection = await probe.connect(target);
  await connection.close();
  assert.ok(await isSettled(served().closed));
});

test("an agent of this process that closes its side closes the client's", async () => {
  const { target, served } = watched();
  const connection = await probe.connect(target);
  await served().close("enough");
  assert.equal((await connection.closed).kind, "closed");
  await assert.rejects(connection.newSession(place), { name: "ConnectionError", kind: "closed" });
});

test("a connection is closed at the end of its block", async () => {
  const { target, served } = watched();
  const connection = await probe.connect(target);
  // what `await using` calls, which not every supported Node can read
  await connection[Symbol.asyncDispose]();
  assert.ok(await isSettled(served().closed));
});

test("a signal that aborts during the handshake closes the transport and rejects", async () => {
  const [left, right] = memoryPair();
  const ended = Promise.withResolvers<string>();
  const asked = Promise.withResolvers<void>();
  left.start({
    message: () => asked.resolve(),
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: ({ kind }) => ended.resolve(kind),
  });
  const controller = new AbortController();
  const reason = new Error("the user has left");
  const connecting = probe.connect(right, { signal: controller.signal });
  await asked.promise;
  controller.abort(reason);
  await assert.rejects(connecting, { name: "ConnectionError", kind: "aborted", cause: reason });
  assert.equal(await ended.promise, "closed");
});

test("a signal that has aborted before closes the transport, and nothing is sent", async () => {
  const [left, right] = memoryPair();
  const got: string[] = [];
  const ended = Promise.withResolvers<void>();
  left.start({
    message: (_, text) => got.push(text),
    idle: () => undefined,
    reject: () => undefined,
    drain: () => undefined,
    end: () => ended.resolve(),
  });
  const connecting = probe.connect(right, { signal: AbortSignal.abort() });
  await assert.rejects(connecting, { name: "ConnectionError", kind: "aborted" });
  await ended.promise;
  assert.deepEqual(got, []);
});

test("a signal that aborts after the handshake does nothing", async () => {
  const controller = new AbortController();
  const connection = await probe.connect(echo, { signal: controller.signal });
  controller.abort();
  await quiet();
  const session = await connection.newSession(place);
  assert.equal((await session.prompt("still there?")).stopReason, "end_turn");
  await connection.close();
});

test("what is neither an agent nor a transport is refused by name", async () => {
  for (const [wrong, message] of [
    [undefined, /expected a transport .*got nothing/],
    ["my-agent", /expected a transport .*got "my-agent"/],
    [{}, /expected a transport .*got an object/],
    [{ transport: memoryPair()[0] }, /got an object; create one, for example with spawnTransport/],
  ] as const)
    await assert.rejects(probe.connect(wrong as never), { name: "TypeError", message });
});

test("the capabilities of an agent have its custom data", async () => {
  for (const version of [1, 2] as const) {
    const [left, right] = memoryPair();
    const said = initialized(version) as Record<string, object>;
    const field = version === 1 ? "agentCapabilities" : "capabilities";
    const answer = { ...said, [field]: { ...said[field], _meta: { "acme.dev/plan": "gold" } } };
    new Connection(left, { handlers: { request: () => answer, notification: () => undefined } });
    const connection = await probe.connect(right);
    assert.deepEqual(connection.capabilities._meta, { "acme.dev/plan": "gold" });
    assert.equal(connection.capabilities.delete, true);
  }
});
