// Clients that read nothing: they cost little memory, and the others are served.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { WebSocket as WsSocket } from "ws";
import { hostRemote, type RemoteHost } from "../../../test/support/remote-host.ts";
import type { Transport } from "../../index.ts";
import { remoteServer, type ServingPeer } from "../../server.ts";

const patience = { timeout: 120_000 };
const mebibyte = 1024 * 1024;
const chunk = "x".repeat(64 * 1024);
/** Much more than all buffers together. */
const chunks = 3_200;
const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}';
const json = { "content-type": "application/json" };

setFlagsFromString("--expose-gc");
// the flag gives it to new contexts only
const collect = runInNewContext("gc") as () => void;

function memory(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / mebibyte;
}

/** An agent that answers every request, and sends 200 MiB when it is asked to flood. */
class Flooder {
  /** Resolves when a client does not read. */
  readonly full = Promise.withResolvers<void>();
  readonly flooded = Promise.withResolvers<void>();
  sent = 0;
  readonly connect = (transport: Transport): ServingPeer => {
    let drained = (): void => undefined;
    const flood = async () => {
      while (this.sent < chunks) {
        this.sent++;
        if (transport.send({ jsonrpc: "2.0", method: "n", params: { chunk } })) {
          // others have their turn, as with an agent that waits for its model
          if (this.sent % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
          continue;
        }
        this.full.resolve();
        await new Promise<void>((resolve) => {
          drained = resolve;
        });
      }
      this.flooded.resolve();
    };
    transport.start({
      message(value) {
        const { id, method } = value as { id?: unknown; method?: string };
        if (id !== undefined) transport.send({ jsonrpc: "2.0", id, result: { protocolVersion: 1 } });
        if (method === "flood") void flood();
      },
      idle: () => undefined,
      reject: () => undefined,
      drain: () => drained(),
      end: () => drained(),
    });
    return { close: () => transport.close() };
  };
}

/** A client that asks for a flood, and reads nothing of it. */
const readers: Record<string, (t: TestContext, host: RemoteHost) => Promise<void>> = {
  HTTP: async (t, { url }) => {
    const post = (body: string, headers: Record<string, string> = {}) =>
      fetch(url, { method: "POST", headers: { ...json, ...headers }, body });
    const opened = await post(initialize);
    await opened.text();
    const names = { "acp-connection-id": opened.headers.get("acp-connection-id") ?? "" };
    const stop = new AbortController();
    t.after(() => stop.abort());
    await fetch(url, { headers: { ...names, accept: "text/event-stream" }, signal: stop.signal });
    await post('{"jsonrpc":"2.0","method":"flood"}', names);
  },
  WebSocket: (t, host) => silentSocket(t, host, []),
  "a WebSocket that resumes": (t, host) => silentSocket(t, host, ["parley.resume"]),
};

async function silentSocket(t: TestContext, host: RemoteHost, protocols: string[]): Promise<void> {
  const socket = await openSocket(t, host, protocols);
  socket.pause();
  socket.send('{"jsonrpc":"2.0","method":"flood"}');
}

async function openSocket(t: TestContext, host: RemoteHost, protocols: string[] = []): Promise<WsSocket> {
  const socket = new WsSocket(host.socketUrl, protocols);
  socket.on("error", () => undefined);
  t.after(() => socket.terminate());
  await once(socket, "open");
  socket.send(initialize);
  await once(socket, "message");
  return socket;
}

for (const [name, read] of Object.entries(readers)) {
  test(
    `a client over ${name} that never reads costs little memory, and another one is served meanwhile (N262)`,
    patience,
    async (t) => {
      const flooder = new Flooder();
      const server = remoteServer({
        connect: flooder.connect,
        heartbeatMs: 100,
        stallMs: 3_000,
        closeTimeoutMs: 50,
      });
      const host = await hostRemote(server);
      t.after(() => host.stop());
      const other = await openSocket(t, host);
      const before = memory();
      await read(t, host);
      await flooder.full.promise;
      const sentWhenFull = flooder.sent;
      for (let id = 2; id < 50; id++) {
        other.send(JSON.stringify({ jsonrpc: "2.0", id, method: "echo" }));
        const [data] = (await once(other, "message")) as [Buffer];
        assert.equal(JSON.parse(String(data)).id, id);
      }
      assert.ok(
        sentWhenFull < chunks / 4,
        `${sentWhenFull} of ${chunks} were sent before the agent had to wait`,
      );
      // the reader counts as cut off, and what is sent to it is forgotten beyond the limits
      await flooder.flooded.promise;
      const grown = memory() - before;
      assert.ok(grown < 60, `the memory has grown by ${Math.round(grown)} MiB`);
      assert.equal(server.connections.filter(({ isAttached }) => !isAttached).length, 1);
    },
  );
}
