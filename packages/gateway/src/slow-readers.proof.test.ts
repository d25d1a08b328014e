// Clients of a gateway that read nothing, or are gone without a word: they cost little, and the others are served.

import assert from "node:assert/strict";
import { once } from "node:events";
import { get } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { type TestContext, test } from "node:test";
import { WebSocket } from "ws";
import { chunks, Flooder, usedMebibytes } from "../../acp/test/support/flooder.ts";
import { initialize, type ServedEcho, serveEcho, until } from "../test/support/served-echo.ts";

const patience = { timeout: 120_000 };
const flood = '{"jsonrpc":"2.0","method":"flood"}';

async function openHttp(server: ServedEcho): Promise<Record<string, string>> {
  const { headers } = await server.call({ body: initialize });
  return {
    authorization: `Bearer ${server.gateway.token}`,
    "acp-connection-id": String(headers["acp-connection-id"]),
  };
}

/** Opens the stream of a connection, and reads nothing of it. */
const streams: Record<
  string,
  (t: TestContext, server: ServedEcho, names: Record<string, string>) => Promise<void>
> = {
  "HTTP/1.1": async (t, { gateway }, names) => {
    const request = get(gateway.url, { headers: { ...names, accept: "text/event-stream" }, agent: false });
    request.on("error", () => undefined);
    t.after(() => void request.destroy());
    const [response] = await once(request, "response");
    response.on("error", () => undefined);
  },
  "HTTP/2": async (t, { host }, names) => {
    const session = connectHttp2(`http://${host}`);
    session.on("error", () => undefined);
    t.after(() => session.destroy());
    const stream = session.request({ ":path": "/acp", ...names, accept: "text/event-stream" });
    stream.on("error", () => undefined);
    await once(stream, "response");
  },
};

async function openSocket(t: TestContext, { gateway }: ServedEcho): Promise<WebSocket> {
  const headers = { authorization: `Bearer ${gateway.token}` };
  const socket = new WebSocket(gateway.url.replace("http", "ws"), { headers });
  socket.on("error", () => undefined);
  t.after(() => socket.terminate());
  await once(socket, "open");
  socket.send(initialize);
  await once(socket, "message");
  return socket;
}

const readers: Record<string, (t: TestContext, server: ServedEcho) => Promise<void>> = {
  ...Object.fromEntries(
    Object.entries(streams).map(([name, open]) => [
      name,
      async (t: TestContext, server: ServedEcho) => {
        const names = await openHttp(server);
        await open(t, server, names);
        await server.call({ body: flood, headers: names });
      },
    ]),
  ),
  WebSocket: async (t, server) => {
    const socket = await openSocket(t, server);
    socket.pause();
    socket.send(flood);
  },
};

for (const [name, read] of Object.entries(readers)) {
  test(
    `a client over ${name} that never reads costs little memory, and another one is served meanwhile (N262)`,
    patience,
    async (t) => {
      const flooder = new Flooder();
      const server = await serveEcho(t, { connect: flooder.connect, heartbeatMs: 100, stallMs: 1_000 });
      const other = await openSocket(t, server);
      const before = usedMebibytes();
      await read(t, server);
      await flooder.full.promise;
      const sentWhenFull = flooder.sent;
      assert.ok(
        sentWhenFull < chunks / 4,
        `${sentWhenFull} of ${chunks} were sent before the agent had to wait`,
      );
      for (let id = 2; id < 50; id++) {
        other.send(JSON.stringify({ jsonrpc: "2.0", id, method: "echo" }));
        const [data] = await once(other, "message");
        assert.equal(JSON.parse(String(data)).id, id);
      }
      await flooder.flooded.promise;
      const grown = usedMebibytes() - before;
      assert.ok(grown < 60, `the memory has grown by ${Math.round(grown)} MiB`);
      assert.equal(server.gateway.connections.filter(({ isAttached }) => !isAttached).length, 1);
    },
  );
}

for (const [name, open] of Object.entries(streams)) {
  test(`a client over ${name} that is gone without a word counts as cut off (N243)`, patience, async (t) => {
    const server = await serveEcho(t, { heartbeatMs: 50 });
    const names = await openHttp(server);
    await open(t, server, names);
    // the promise to be heard again within 100 ms
    await server.call({ body: "{}", headers: { ...names, "parley-heartbeat": "100" } });
    assert.equal(server.gateway.connections[0]?.isAttached, true);
    await until(() => server.gateway.connections[0]?.isAttached === false, "its silence is noticed");
    assert.equal(await server.goodClient(), 200);
  });
}
