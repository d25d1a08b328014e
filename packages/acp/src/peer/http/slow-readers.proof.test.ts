// Clients that read nothing: they cost little memory, and the others are served.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { WebSocket as WsSocket } from "ws";
import { chunks, Flooder, usedMebibytes } from "../../../test/support/flooder.ts";
import { hostRemote, type RemoteHost } from "../../../test/support/remote-host.ts";
import { remoteServer } from "../../server.ts";

const patience = { timeout: 120_000 };
const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}';
const json = { "content-type": "application/json" };

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
      const before = usedMebibytes();
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
      const grown = usedMebibytes() - before;
      assert.ok(grown < 60, `the memory has grown by ${Math.round(grown)} MiB`);
      assert.equal(server.connections.filter(({ isAttached }) => !isAttached).length, 1);
    },
  );
}
