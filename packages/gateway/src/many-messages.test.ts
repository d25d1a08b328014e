// Streams and many clients on a gateway: every size of message arrives, nobody has to wait for another, nothing is left.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { agent, client, httpTransport, type Transport, webSocketTransport } from "@parley/acp";
import { WebSocket } from "ws";
import { initialize, type ServedEcho, serveEcho } from "../test/support/served-echo.ts";

const transports = {
  HTTP: ({ gateway: { url, token } }: ServedEcho) =>
    httpTransport(url, { headers: { Authorization: `Bearer ${token}` } }),
  WebSocket: (server: ServedEcho) => webSocketTransport((protocols) => socketTo(server, protocols)),
};

function socketTo({ gateway: { url, token } }: ServedEcho, protocols: string[] = []): WebSocket {
  const headers = { Authorization: `Bearer ${token}` };
  return new WebSocket(url.replace("http", "ws"), protocols, { headers });
}

async function prompted(transport: Transport): Promise<string> {
  await using connection = await client({ name: "test", version: "1.0.0" }).connect(transport);
  const session = await connection.newSession({ cwd: "/" });
  return await session.prompt("hello").text();
}

test("messages of every length arrive whole and in order over a WebSocket, those of one turn too (W3)", async (t) => {
  // 125 and 65,535 bytes are the longest frames with a head of two and of four bytes
  const lengths = [126, 65_536].flatMap((bytes) => Array.from({ length: 80 }, (_, less) => bytes - less));
  lengths.push(1_000_000);
  const textOf = (length: number) => `${"é".repeat(length % 3)}${"x".repeat(length)}`.slice(0, length);
  const app = agent({
    name: "lengths",
    version: "1.0.0",
    extensions: { requests: { "_test/text": (params) => textOf((params as { length: number }).length) } },
    prompt: () => undefined,
  });
  const server = await serveEcho(t, { connect: (transport) => app.connect(transport) });
  const socket = socketTo(server);
  t.after(() => socket.terminate());
  await once(socket, "open");
  socket.send(initialize);
  await once(socket, "message");
  const sizes = new Set<number>();
  const all = new Promise<void>((resolve) => {
    let next = 0;
    socket.on("message", (data: Buffer) => {
      sizes.add(data.byteLength);
      const { id, result } = JSON.parse(data.toString());
      assert.equal(id, next + 1);
      assert.equal(result, textOf(lengths[next] ?? 0));
      next++;
      if (next === lengths.length) resolve();
    });
  });
  for (const [nth, length] of lengths.entries())
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: nth + 1, method: "_test/text", params: { length } }));
  await all;
  for (const size of [125, 126, 65_535, 65_536]) assert.ok(sizes.has(size), `no message had ${size} bytes`);
});

for (const [kind, transportTo] of Object.entries(transports)) {
  test(`an agent that streams without a pause over ${kind} leaves other clients their turn`, async (t) => {
    let turns = 0;
    const app = agent({
      name: "talker",
      version: "1.0.0",
      async prompt(turn) {
        let isOver = false;
        const count = () => {
          turns++;
          if (!isOver) setImmediate(count);
        };
        setImmediate(count);
        // less than the kernel takes at once, so that only the gateway can make it wait
        for (let i = 0; i < 1_000; i++) await turn.say("x".repeat(1_000));
        isOver = true;
      },
    });
    const server = await serveEcho(t, { connect: (transport) => app.connect(transport) });
    assert.equal((await prompted(transportTo(server))).length, 1_000_000);
    assert.ok(turns > 1, `the event loop turned ${turns} times`);
  });

  test(`nothing is left in the server of clients that came and went over ${kind}`, async (t) => {
    const seen: WeakRef<Transport>[] = [];
    const echo = agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) });
    const server = await serveEcho(t, {
      connect(transport) {
        seen.push(new WeakRef(transport));
        return echo.connect(transport);
      },
    });
    for (let i = 0; i < 50; i++) assert.equal(await prompted(transportTo(server)), "hello");
    assert.deepEqual(server.gateway.connections, []);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const left = () => seen.filter((each) => each.deref() !== undefined).length;
    // the last ones may still be on somebody's stack, or wait for a finalizer
    for (let i = 0; i < 100 && left() > 5; i++) {
      await nextTurn();
      collect();
    }
    assert.ok(left() <= 5, `${left()} of 50 connections are still in memory`);
  });
}
