import assert from "node:assert/strict";
import { once } from "node:events";
import { type TestContext, test } from "node:test";
import { WebSocket as WsSocket } from "ws";
import { hostRemote } from "../../../test/support/remote-host.ts";
import { talker } from "../../../test/support/remote-probe.ts";
import { client, httpTransport, type Transport, webSocketTransport } from "../../index.ts";
import { remoteServer } from "../../server.ts";

const patience = { timeout: 30_000 };

/** A server with our talker. */
async function hosted(t: TestContext, port = 0) {
  const app = talker();
  const server = remoteServer({ connect: (transport) => app.connect(transport), closeTimeoutMs: 1_000 });
  const host = await hostRemote(server, undefined, port);
  let isOver = false;
  const end = async (how: "stop" | "crash") => {
    if (!isOver) await host[how]();
    isOver = true;
  };
  t.after(async () => {
    await server.close();
    await end("crash");
  });
  return { server, host, port: Number(new URL(host.url).port), end };
}

/** A client that is asked a question and does not answer. */
async function waiting(transport: Transport) {
  const asked = Promise.withResolvers<void>();
  const connection = await client({
    name: "test",
    version: "1",
    requestPermission: () => {
      asked.resolve();
      return new Promise(() => undefined);
    },
  }).connect(transport);
  const session = await connection.newSession({ cwd: "/" });
  const prompt = session.prompt("one ask two");
  const failure = prompt.text().then(
    () => assert.fail("it was answered"),
    (error: unknown) => error as Error,
  );
  await asked.promise;
  return { connection, failure };
}

interface Kind {
  transport(url: string): Transport;
  /** What the client says when the server told it. */
  told: RegExp;
  /** What the client says when a server does not know its connection. */
  unknown: RegExp;
}

const kinds: Record<string, Kind> = {
  HTTP: {
    transport: (url) => httpTransport(url, { backoffMs: 1 }),
    told: /ended the connection: the server shuts down/,
    unknown: /404.*unknown connection/,
  },
  WebSocket: {
    transport: (url) =>
      webSocketTransport((protocols) => new WsSocket(url.replace("http", "ws"), protocols), { backoffMs: 1 }),
    told: /4404: the server shuts down/,
    unknown: /4404.*unknown connection/,
  },
};

for (const [name, { transport, told, unknown }] of Object.entries(kinds)) {
  test(
    `a server that shuts down tells a client over ${name} so, which does not come back (W6, H18)`,
    patience,
    async (t) => {
      const { host, end } = await hosted(t);
      const { connection, failure } = await waiting(transport(host.url));
      await end("stop");
      const { kind, message } = await connection.closed;
      assert.equal(kind, "closed");
      assert.match(message, told);
      assert.match((await failure).message, told, "what waited says why it failed");
    },
  );

  test(
    `a server that was started again does not know the connection of a client over ${name}, which can open a new one (H7, H18)`,
    patience,
    async (t) => {
      const first = await hosted(t);
      const { connection, failure } = await waiting(transport(first.host.url));
      await first.end("crash");
      const second = await hosted(t, first.port);
      assert.match((await connection.closed).message, unknown);
      assert.match((await failure).message, unknown);
      const again = await client({ name: "test", version: "1" }).connect(transport(second.host.url));
      const session = await again.newSession({ cwd: "/" });
      assert.equal(await session.prompt("hello").text(), "hello ");
      await again.close();
    },
  );
}

test(
  "a client that cannot resume is told of the shutdown as the protocol says (W6, H14)",
  patience,
  async (t) => {
    const { host, end } = await hosted(t);
    const socket = new WsSocket(host.socketUrl);
    await once(socket, "open");
    socket.send('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}');
    await once(socket, "message");
    const silent = new WsSocket(host.socketUrl);
    await once(silent, "open");
    const codes = Promise.all(
      [socket, silent].map(async (each) => {
        const [code, reason] = (await once(each, "close")) as [number, Buffer];
        return `${code} ${reason}`;
      }),
    );
    const opened = await fetch(host.url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}',
    });
    const names = { "acp-connection-id": opened.headers.get("acp-connection-id") ?? "" };
    const stream = await fetch(host.url, { headers: { ...names, accept: "text/event-stream" } });
    const events = stream.text();
    await end("stop");
    assert.deepEqual(await codes, ["1001 the server shuts down", "1001 the server shuts down"]);
    assert.doesNotMatch(await events, /data:/, "it is sent nothing that it does not know");
  },
);

test("a server that shuts down knows no connections and takes no new ones (H7)", patience, async (t) => {
  const { host, server } = await hosted(t);
  const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}';
  const json = { "content-type": "application/json" };
  const upgrade = await server.upgrade(new Request(host.url));
  assert.ok(!(upgrade instanceof Response));
  await server.close();
  const post = (headers: Record<string, string>) =>
    server.fetch(
      new Request(host.url, { method: "POST", headers: { ...json, ...headers }, body: initialize }),
    );
  assert.equal((await post({})).status, 503);
  const named = { "acp-connection-id": "0".repeat(32), accept: "text/event-stream" };
  assert.equal((await server.fetch(new Request(host.url, { headers: named }))).status, 404);
  const refused = await server.upgrade(new Request(host.url));
  assert.equal(refused instanceof Response && refused.status, 503);
});
