import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { WebSocketServer, WebSocket as WsSocket } from "ws";
import { hostRemote } from "../../../test/support/remote-host.ts";
import { talker } from "../../../test/support/remote-probe.ts";
import { client, httpTransport, type Transport, webSocketTransport } from "../../index.ts";
import { type RemoteServerOptions, remoteServer } from "../../server.ts";

const patience = { timeout: 30_000 };

type Cleanup = { after(work: () => Promise<void>): void };

async function hosted(t: Cleanup, options: Partial<RemoteServerOptions> = {}) {
  const app = talker();
  const server = remoteServer({
    connect: (transport) => app.connect(transport),
    closeTimeoutMs: 50,
    ...options,
  });
  const host = await hostRemote(server);
  t.after(() => host.stop());
  return { server, host };
}

async function closeOf(socket: WsSocket): Promise<number> {
  const [code] = (await once(socket, "close")) as [number];
  return code;
}

const initialize = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}';

test(
  "a WebSocket is opened with the id of its connection, and carries a message per frame; binary frames are ignored (W1, W3, N253)",
  patience,
  async (t) => {
    const { host, server } = await hosted(t);
    const socket = new WsSocket(host.socketUrl);
    const [[response]] = await Promise.all([
      once(socket, "upgrade") as Promise<[{ headers: Record<string, string> }]>,
      once(socket, "open"),
    ]);
    assert.match(response.headers["acp-connection-id"] ?? "", /^[0-9a-f]{32}$/);
    socket.send(Buffer.from("binary frames are ignored"), { binary: true });
    socket.send(initialize);
    const [data] = (await once(socket, "message")) as [Buffer];
    assert.equal(JSON.parse(String(data)).id, 1);
    assert.deepEqual(
      server.connections.map(({ kind, connectionId }) => [kind, connectionId]),
      [["websocket", response.headers["acp-connection-id"]]],
    );
    socket.close();
  },
);

test(
  "a first message other than initialize closes the socket with 1002, and no agent is started (W2, N259)",
  patience,
  async (t) => {
    const { host, server } = await hosted(t, { connect: () => assert.fail("an agent was started") });
    for (const first of ['{"jsonrpc":"2.0","id":1,"method":"session/new"}', "{"]) {
      const socket = new WsSocket(host.socketUrl);
      await once(socket, "open");
      socket.send(first);
      assert.equal(await closeOf(socket), 1002);
    }
    assert.deepEqual(server.connections, []);
  },
);

/** Resolves when the condition holds, at a change of a connection. */
function attachment(transport: Transport, isAttached: boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (transport.attachment?.isAttached === isAttached) resolve();
    };
    transport.attachment?.onChange(look);
    look();
  });
}

test(
  "a socket that was cut detaches its connection; one that was closed ends it (W4)",
  patience,
  async (t) => {
    const served: Transport[] = [];
    const ended = Promise.withResolvers<void>();
    const app = talker();
    const { host, server } = await hosted(t, {
      connect(transport) {
        served.push(transport);
        const connection = app.connect(transport);
        if (served.length === 2) void connection.closed.then(() => ended.resolve());
        return connection;
      },
    });
    for (const _ of [1, 2]) {
      const socket = new WsSocket(host.socketUrl);
      await once(socket, "open");
      socket.send(initialize);
      await once(socket, "message");
      if (served.length === 1) socket.terminate();
      else socket.close();
    }
    await Promise.all([attachment(served[0]!, false), ended.promise]);
    assert.deepEqual(
      server.connections.map(({ isAttached }) => isAttached),
      [false],
    );
  },
);

test("the server closes with 1001 when it shuts down (W6)", patience, async (t) => {
  const { host, server } = await hosted(t);
  const socket = new WsSocket(host.socketUrl);
  await once(socket, "open");
  socket.send(initialize);
  await once(socket, "message");
  const code = closeOf(socket);
  await server.close();
  assert.equal(await code, 1001);
});

const kinds = {
  ws: (url: string, protocols: string[]) => new WsSocket(url, protocols),
  "the standard": (url: string, protocols: string[]) => new WebSocket(url, protocols),
};

for (const [kind, open] of Object.entries(kinds)) {
  test(
    `a prompt goes on over a new socket when the first is cut, and a question waits for its answer (${kind})`,
    patience,
    async (t) => {
      const { host, server } = await hosted(t);
      let opened = 0;
      const cuts: unknown[] = [];
      const asked = Promise.withResolvers<void>();
      const answer = Promise.withResolvers<void>();
      const app = client({
        name: "test",
        version: "1",
        async requestPermission(question) {
          asked.resolve();
          await answer.promise;
          return question.options[0]?.optionId;
        },
      });
      const transport = webSocketTransport(
        (protocols) => {
          opened++;
          return open(host.socketUrl, protocols);
        },
        { backoffMs: 1, onCut: (...how) => cuts.push(how) },
      );
      const connection = await app.connect(transport);
      const session = await connection.newSession({ cwd: "/" });
      const text = session.prompt("one two ask three").text();
      await asked.promise;
      host.cut();
      answer.resolve();
      assert.equal(await text, "one two ask three ");
      assert.equal(opened, 2);
      assert.deepEqual(
        cuts,
        [
          [true, 600_000],
          [false, 600_000],
        ],
        "the app is told",
      );
      assert.equal(server.connections.length, 1);
      await connection.close();
    },
  );
}

test(
  "a connection that the server has forgotten ends, so that the app can open a new one",
  patience,
  async (t) => {
    const { host, server } = await hosted(t);
    const app = client({ name: "test", version: "1" });
    const transport = webSocketTransport((protocols) => new WsSocket(host.socketUrl, protocols), {
      backoffMs: 1,
    });
    const connection = await app.connect(transport);
    const [{ connectionId } = { connectionId: "" }] = server.connections;
    host.cut();
    await fetch(host.url, { method: "DELETE", headers: { "acp-connection-id": connectionId } });
    const { kind, message } = await connection.closed;
    assert.equal(kind, "closed");
    assert.match(message, /4404: unknown connection/);
  },
);

test(
  "a server that stays away longer than it keeps a connection is said to have given it up, over WebSocket",
  patience,
  async (t) => {
    const { host } = await hosted(t, { graceMs: 5_000 });
    let now = performance.now();
    t.mock.method(performance, "now", () => now);
    let isDown = false;
    const open = (protocols: string[]) => {
      if (isDown) now += 3_000;
      return new WsSocket(isDown ? "ws://127.0.0.1:1" : host.socketUrl, protocols);
    };
    const connection = await client({ name: "test", version: "1" }).connect(
      webSocketTransport(open, { backoffMs: 1 }),
    );
    isDown = true;
    host.cut();
    const { message } = await connection.closed;
    assert.match(message, /the server was not reached for 5 s, and keeps a connection no longer \(/);
  },
);

test(
  "a server that knows no resume is used without it, whether it refuses the subprotocol or not",
  patience,
  async (t) => {
    const { host } = await hosted(t);
    // the standard socket fails when none of its subprotocols is chosen
    const offers: string[][] = [];
    const transport = webSocketTransport((protocols) => {
      offers.push(protocols);
      return new WebSocket(host.socketUrl, protocols.length === 0 ? [] : ["unknown.protocol"]);
    });
    const connection = await client({ name: "test", version: "1" }).connect(transport);
    assert.equal(connection.info?.name, "talker");
    assert.deepEqual(offers, [["parley.resume"], []]);
    host.cut();
    assert.equal((await connection.closed).kind, "closed");
  },
);

test("a silent server is left for a new socket, and a silent client is detached", patience, async (t) => {
  const served: Transport[] = [];
  const app = talker();
  const { host } = await hosted(t, {
    heartbeatMs: 10,
    connect(transport) {
      served.push(transport);
      return app.connect(transport);
    },
  });
  const sockets: WsSocket[] = [];
  const transport = webSocketTransport(
    (protocols) => {
      const socket = new WsSocket(host.socketUrl, protocols);
      sockets.push(socket);
      return socket;
    },
    { backoffMs: 1, heartbeatMs: 5, silenceMs: 60 },
  );
  const connection = await client({ name: "test", version: "1" }).connect(transport);
  const back = Promise.withResolvers<void>();
  served[0]?.attachment?.onChange(() => {
    if (served[0]?.attachment?.isAttached) back.resolve();
  });
  // nothing is read or answered any more, as if the network were gone
  sockets[0]!.pause();
  sockets[0]!.send = () => undefined;
  await attachment(served[0]!, false);
  await back.promise;
  assert.equal(sockets.length >= 2, true);
  await connection.newSession({ cwd: "/" });
  await connection.close();
});

test(
  "a socket can be opened later, with a ticket of its own each time; after a cut, one that cannot be opened is tried again",
  patience,
  async (t) => {
    const { host, server } = await hosted(t);
    let tickets = 0;
    const transport = webSocketTransport(
      async (protocols) => {
        const ticket = await Promise.resolve(++tickets);
        if (ticket === 2) throw new Error("no ticket");
        return new WebSocket(host.socketUrl, [...protocols, `ticket.${ticket}`]);
      },
      { backoffMs: 1 },
    );
    const connection = await client({ name: "test", version: "1" }).connect(transport);
    host.cut();
    const session = await connection.newSession({ cwd: "/" });
    assert.equal(await session.prompt("still here").text(), "still here ");
    assert.deepEqual([tickets, server.connections.length], [3, 1]);
    await connection.close();
  },
);

test("a first socket that cannot be opened ends the connection, with the reason as its cause", async () => {
  const reason = new Error("no ticket");
  const transport = webSocketTransport(() => Promise.reject(reason));
  await assert.rejects(client({ name: "test", version: "1" }).connect(transport), (error: Error) => {
    assert.match(error.message, /the WebSocket could not be opened/);
    assert.equal(error.cause, reason);
    return true;
  });
});

test("a ticket that the server refuses is told as a refusal", async () => {
  const reason = Object.assign(new Error("no ticket"), { status: 401 });
  const transport = webSocketTransport(() => Promise.reject(reason));
  await assert.rejects(client({ name: "test", version: "1" }).connect(transport), {
    kind: "refused",
    message: /the WebSocket could not be opened: the server does not let us in$/,
  });
});

test("a socket that comes after the connection was closed is closed too", patience, async (t) => {
  const { host } = await hosted(t);
  const asked = Promise.withResolvers<void>();
  const late = Promise.withResolvers<WsSocket>();
  const transport = webSocketTransport(() => {
    asked.resolve();
    return late.promise;
  });
  const connecting = client({ name: "test", version: "1" }).connect(transport);
  await asked.promise;
  const refused = assert.rejects(connecting);
  await transport.close();
  const socket = new WsSocket(host.socketUrl, ["parley.resume"]);
  await once(socket, "open");
  late.resolve(socket);
  await Promise.all([closeOf(socket), refused]);
});

test(
  "a client whose timers the browser slows down, as those of hidden pages, answers the server's counts",
  patience,
  async (t) => {
    // its heart does not beat by itself
    t.mock.timers.enable({ apis: ["setInterval"] });
    const server = new WebSocketServer({
      host: "127.0.0.1",
      port: 0,
      handleProtocols: () => "parley.resume",
    });
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const answered = Promise.withResolvers<unknown>();
    server.on("connection", (socket) => {
      const count = (more: object) =>
        socket.send(
          JSON.stringify({ jsonrpc: "2.0", method: "_parley.dev/resume", params: { received: 0, ...more } }),
        );
      const beat = () => {
        count({});
        if (socket.readyState === socket.OPEN) setImmediate(beat);
      };
      socket.once("message", (data) => answered.resolve(JSON.parse(String(data))));
      count({ connectionId: "1", graceMs: 1_000 });
      beat();
    });
    const open = (protocols: string[]) => new WsSocket(`ws://127.0.0.1:${port}`, protocols);
    const transport = webSocketTransport(open, { heartbeatMs: 10 });
    const nothing = () => undefined;
    transport.start({ message: nothing, idle: nothing, reject: nothing, drain: nothing, end: nothing });
    assert.deepEqual(await answered.promise, {
      jsonrpc: "2.0",
      method: "_parley.dev/resume",
      params: { received: 0 },
    });
    await transport.close();
    server.close();
  },
);

for (const kind of ["socketUrl", "url"] as const)
  test(
    `a client whose session is taken over is told, and what it asks of it fails clearly (${kind}, H18)`,
    patience,
    async (t) => {
      const { host } = await hosted(t);
      const taken: unknown[] = [];
      const extensions = {
        notifications: { "_parley.dev/session_taken": (params: unknown) => void taken.push(params) },
      };
      const app = client({ name: "c", version: "1", extensions });
      const reach = () =>
        kind === "url" ? httpTransport(host.url) : webSocketTransport(() => new WsSocket(host.socketUrl));
      const [old, next] = [await app.connect(reach()), await app.connect(reach())];
      const place = { cwd: "/", mcpServers: [] };
      const session = await old.newSession(place);
      assert.equal((await session.prompt("one").result).stopReason, "end_turn");
      const takeover = { ...place, _meta: { "_parley.dev/takeover": true } };
      const mine = await next.loadSession(session.sessionId, takeover);
      await assert.rejects(session.prompt("late").result, {
        kind: "session_taken",
        message: /another client has taken the session.*load the session to take it back/,
      });
      assert.deepEqual(taken, [{ sessionId: session.sessionId }]);
      assert.equal((await mine.prompt("two").result).stopReason, "end_turn");
      // the connection goes on, and can have the session back
      const back = await old.loadSession(session.sessionId, takeover);
      assert.equal((await back.prompt("three").result).stopReason, "end_turn");
      await Promise.all([old.close(), next.close()]);
    },
  );

test("a client that answers no ping is detached, and one that answers stays (W5)", patience, async (t) => {
  const served: Transport[] = [];
  const app = talker();
  const { host, server } = await hosted(t, {
    heartbeatMs: 30,
    connect(transport) {
      served.push(transport);
      return app.connect(transport);
    },
  });
  let pings = 0;
  const closed: Promise<unknown>[] = [];
  for (const autoPong of [true, false]) {
    const socket = new WsSocket(host.socketUrl, { autoPong });
    closed.push(closeOf(socket));
    socket.on("error", () => undefined);
    if (autoPong) socket.on("ping", () => pings++);
    await once(socket, "open");
    socket.send(initialize);
    await once(socket, "message");
  }
  assert.equal(await closed[1], 1001);
  await attachment(served[1]!, false);
  assert.ok(pings > 1, "the other one is asked more than once");
  assert.deepEqual(
    server.connections.map(({ isAttached }) => isAttached),
    [true, false],
  );
});

test(
  "a client whose answer to a ping is late counts as away, and is there again when it is heard (W5, H18)",
  patience,
  async (t) => {
    const app = talker();
    const served: Transport[] = [];
    const { host } = await hosted(t, {
      heartbeatMs: 400,
      patienceMs: 20,
      connect(transport) {
        served.push(transport);
        return app.connect(transport);
      },
    });
    const socket = new WsSocket(host.socketUrl, { autoPong: false });
    await once(socket, "open");
    socket.send(initialize);
    await once(socket, "message");
    await attachment(served[0]!, false);
    assert.equal(socket.readyState, WsSocket.OPEN, "it may only be slow");
    socket.pong();
    await attachment(served[0]!, true);
    await attachment(served[0]!, false);
    socket.send('{"jsonrpc":"2.0","method":"_any"}');
    await attachment(served[0]!, true);
    socket.terminate();
  },
);

test("a silent socket that has not begun is closed, and nothing waits for it (W5)", patience, async (t) => {
  const { host, server } = await hosted(t, { heartbeatMs: 30 });
  const socket = new WsSocket(host.socketUrl, { autoPong: false });
  const [code] = await once(socket, "close");
  assert.equal(code, 1001);
  assert.deepEqual(server.connections, []);
});

test(
  "a client that closes its connection while it is cut off ends it all the same (W4)",
  patience,
  async (t) => {
    const served: Transport[] = [];
    const app = talker();
    const { host, server } = await hosted(t, {
      connect(transport) {
        served.push(transport);
        return app.connect(transport);
      },
    });
    let isReachable = true;
    let cut: Promise<unknown> | undefined;
    const open = (protocols: string[]) => {
      if (!isReachable) throw new Error("the network is down");
      const socket = new WsSocket(host.socketUrl, protocols);
      cut = once(socket, "close");
      return socket;
    };
    for (const isBack of [true, false]) {
      // so long that it does not come back by itself
      const transport = webSocketTransport(open, { backoffMs: 60_000, closeTimeoutMs: 200 });
      const connection = await client({ name: "test", version: "1.0.0" }).connect(transport);
      host.cut();
      await Promise.all([cut, attachment(served.at(-1)!, false)]);
      isReachable = isBack;
      await connection.close();
      isReachable = true;
      if (isBack) while (server.connections.length > 0) await new Promise(setImmediate);
      assert.equal(server.connections.length, isBack ? 0 : 1);
    }
  },
);
