// An agent as an object: its connections, and how it is closed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { conversation, inEveryVersion, place, quiet } from "../../../test/support/peer-probe.ts";
import { agent, client } from "../../index.ts";
import type { LogLevel } from "../../jsonrpc.ts";
import { memoryStore, type SessionStore } from "../../store.ts";
import { memoryPair } from "../../transport.ts";

const who = { name: "a", version: "1" };

inEveryVersion(
  "a connection knows its client, and sends and asks what is outside the protocol",
  async (pair) => {
    const noted: unknown[] = [];
    const { served, agent: connected } = await conversation(
      pair,
      { prompt: () => undefined },
      {
        _meta: { "example.com/y": 2 },
        elicit: () => ({ action: "cancel" }),
        extensions: {
          requests: { "_acme/echo": (params) => params, "_acme/never": () => new Promise(() => undefined) },
          notifications: {
            "_acme/note"(params) {
              noted.push(params);
              return undefined;
            },
          },
        },
      },
    );
    assert.equal(served.edition, `v${pair.version}`);
    assert.deepEqual(served.clientInfo, { name: "probe-client", version: "1" });
    assert.equal(served.clientCapabilities.elicitationForm, true);
    assert.deepEqual(served.clientCapabilities._meta, { "example.com/y": 2 });
    assert.deepEqual(await served.request("_acme/echo", { a: 1 }), { a: 1 });
    await assert.rejects(served.request("_acme/never", {}, { signal: AbortSignal.abort() }));
    assert.equal(await served.notify("_acme/note", { b: 2 }), undefined);
    await quiet();
    assert.deepEqual(noted, [{ b: 2 }]);
    await connected.close();
  },
);

test("before the handshake a connection has no edition, and its client no features", async () => {
  const [near] = memoryPair();
  const connection = agent({ ...who, prompt: () => undefined }).connect(near);
  assert.deepEqual([connection.edition, connection.clientInfo], [undefined, undefined]);
  assert.ok(Object.values(connection.clientCapabilities).every((value) => value === false));
  await connection[Symbol.asyncDispose]();
});

test("an agent that is closed closes its connections, then its store, once, and serves nobody after", async () => {
  const order: string[] = [];
  const memory = memoryStore();
  const store: SessionStore = {
    ...memory,
    release: async (claim) => {
      order.push("session released");
      await memory.release(claim);
    },
    close: async () => {
      order.push("store closed");
      await memory.close();
    },
  };
  const made = agent({
    ...who,
    session: { store, close: () => void order.push("session closed") },
    prompt: () => undefined,
  });
  const ends = [];
  for (let clients = 0; clients < 2; clients++) {
    const [near, far] = memoryPair();
    const { closed } = made.connect(far);
    const connected = await client({ name: "c", version: "1" }).connect(near);
    await connected.newSession(place);
    ends.push(closed, connected.closed);
  }
  await Promise.all([made.close(), made.close(), made[Symbol.asyncDispose]()]);
  await Promise.all(ends);
  assert.deepEqual(order.slice(0, -1).sort(), [
    "session closed",
    "session closed",
    "session released",
    "session released",
  ]);
  assert.equal(order.at(-1), "store closed");
  assert.throws(() => made.connect(memoryPair()[0]), /^Error: agent\.connect: the agent has been closed$/);
});

test("a signal closes the connection that it was given with, and no other", async () => {
  const made = agent({ ...who, prompt: () => undefined });
  const controller = new AbortController();
  const [near, far] = memoryPair();
  const [otherNear, otherFar] = memoryPair();
  const connection = made.connect(far, { signal: controller.signal });
  made.connect(otherFar);
  const connected = await client({ name: "c", version: "1" }).connect(near);
  const other = await client({ name: "c", version: "1" }).connect(otherNear);
  controller.abort();
  await Promise.all([connection.closed, connected.closed]);
  assert.ok(await other.newSession(place));
  const [, late] = memoryPair();
  await made.connect(late, { signal: controller.signal }).closed;
  await made.close();
});

test("the log of a connection is for an agent that has none", async () => {
  const lines: string[] = [];
  const log = (level: LogLevel, message: string) => void lines.push(`${level}: ${message}`);
  const made = agent({
    ...who,
    prompt() {
      throw new Error("a bug");
    },
  });
  const [near, far] = memoryPair();
  made.connect(far, { log });
  const connected = await client({ name: "c", version: "1" }).connect(near);
  await (await connected.newSession(place)).prompt("x").result;
  assert.deepEqual(lines, ["error: a prompt handler failed"]);
  await made.close();
});
