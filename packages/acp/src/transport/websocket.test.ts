import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { WebSocketServer, type WebSocket as WsSocket } from "ws";
import { clients, opened, sockets } from "../../test/support/socket-pair.ts";
import { watch } from "../testing/contracts/watched-transport.ts";
import { type WebSocketLike, webSocketTransport } from "./websocket.ts";

test("messages sent while the socket connects arrive, in order", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  for (const connect of Object.values(clients)) {
    const transport = webSocketTransport(connect(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`));
    watch(transport);
    for (let n = 0; n < 10; n++) transport.send({ n });
    const [accepted] = (await once(server, "connection")) as [WsSocket];
    const far = webSocketTransport(accepted);
    const watched = watch(far);
    await watched.until(() => watched.values.length === 10);
    assert.deepEqual(
      watched.values,
      [...Array(10).keys()].map((n) => ({ n })),
    );
    await Promise.all([transport.close(), far.close()]);
  }
  server.close();
});

test("the queue while the socket connects is bounded (G8)", () => {
  const closed: number[] = [];
  const socket: WebSocketLike = {
    readyState: 0,
    bufferedAmount: 0,
    binaryType: "",
    send: () => assert.fail("not open"),
    close: (code) => void closed.push(code ?? 0),
    addEventListener: () => undefined,
  };
  const transport = webSocketTransport(socket, { limits: { highWaterBytes: 50, maxQueuedBytes: 100 } });
  assert.deepEqual(
    Array.from({ length: 3 }, () => transport.send({ text: "x".repeat(20) })),
    [true, false, false],
  );
  transport.send({ text: "x".repeat(20) });
  assert.deepEqual(closed, [4013], "the standard allows no code between 1001 and 2999");
});

test("binary frames are ignored, text frames go on (W3)", async () => {
  const { accepted, connecting, stop } = await sockets("ws");
  await opened(connecting);
  const client = webSocketTransport(connecting);
  const watched = watch(client);
  accepted.send(Buffer.from('{"binary":1}'), { binary: true });
  accepted.send('{"text":1}');
  await watched.until(() => watched.values.length === 1);
  assert.deepEqual([watched.values, watched.faults], [[{ text: 1 }], []]);
  await client.close();
  await stop();
});

test("the close code of the peer says why it ended (W6)", async () => {
  const codes = [
    [1000, "closed"],
    [1001, "closed"],
    [1002, "protocol"],
    [1007, "protocol"],
    [1009, "too_large"],
    [1011, "closed"],
  ] as const;
  for (const [code, kind] of codes) {
    const { accepted, connecting, stop } = await sockets("the standard");
    await opened(connecting);
    const watched = watch(webSocketTransport(connecting));
    accepted.close(code, "because");
    await watched.until(() => watched.ends.length === 1);
    assert.equal(watched.ends[0]?.kind, kind, `code ${code}`);
    assert.match(watched.ends[0]?.message ?? "", /: because$/);
    await stop();
  }
});

test("text that is not UTF-8 closes the socket: we say what failed, the peer gets 1007 (W6, N012)", async () => {
  const { accepted, connecting, stop } = await sockets("ws");
  await opened(connecting);
  const near = watch(webSocketTransport(accepted));
  const far = watch(webSocketTransport(connecting));
  (connecting as WsSocket).send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
  await near.until(() => near.ends.length === 1);
  await far.until(() => far.ends.length === 1);
  assert.deepEqual([near.values, far.ends[0]?.kind], [[], "protocol"]);
  assert.match(near.ends[0]?.message ?? "", /invalid UTF-8/);
  await stop();
});

test("a socket that nobody can reach ends with a reason", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  for (const connect of Object.values(clients)) {
    const watched = watch(webSocketTransport(connect(`ws://127.0.0.1:${port}`)));
    await watched.until(() => watched.ends.length === 1);
    assert.equal(watched.ends[0]?.kind, "closed");
    assert.match(watched.ends[0]?.message ?? "", /1006/);
  }
});

test("a ws socket that cannot connect says what failed", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const watched = watch(webSocketTransport(clients.ws(`ws://127.0.0.1:${port}`)));
  await watched.until(() => watched.ends.length === 1);
  assert.match(watched.ends[0]?.message ?? "", /ECONNREFUSED/);
});

test("a peer that does not answer the close frame is dropped after closeTimeoutMs", async () => {
  const { accepted, connecting, stop } = await sockets("ws");
  await opened(connecting);
  accepted.pause();
  const transport = webSocketTransport(connecting, { closeTimeoutMs: 20 });
  watch(transport);
  await transport.close();
  assert.equal(connecting.readyState >= 2, true);
  await once(connecting as WsSocket, "close");
  await stop();
});

/** A standard socket whose peer never says another word; counts those who listen to it. */
function silentSocket() {
  const listeners = new Set<unknown>();
  const socket = {
    readyState: 1,
    bufferedAmount: 0,
    binaryType: "",
    send: () => undefined,
    close() {
      socket.readyState = 2;
    },
    addEventListener: (_type: string, listener: unknown) => void listeners.add(listener),
    removeEventListener: (_type: string, listener: unknown) => void listeners.delete(listener),
  };
  return { socket, listeners };
}

test("a standard socket whose peer does not answer the close is left to itself after closeTimeoutMs", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { socket, listeners } = silentSocket();
  const transport = webSocketTransport(socket, { closeTimeoutMs: 1_000 });
  watch(transport);
  const before = listeners.size;
  const closed = transport.close();
  t.mock.timers.tick(999);
  assert.equal(listeners.size, before);
  t.mock.timers.tick(1);
  await closed;
  // a `ws` socket would throw an error that nobody listens to, so one listener stays that knows nothing
  assert.deepEqual([before, listeners.size], [4, 1]);
});

test("a socket that was closed behind the transport's back ends it when the peer does not answer", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { socket, listeners } = silentSocket();
  const transport = webSocketTransport(socket, { closeTimeoutMs: 1_000 });
  const watched = watch(transport);
  await Promise.resolve();
  socket.close();
  assert.equal(transport.send({}), true, "dropped");
  t.mock.timers.tick(1_000);
  assert.deepEqual(
    watched.ends.map(({ kind, message }) => [kind, message]),
    [["closed", "the WebSocket closed with code 1006: the peer does not answer the close"]],
  );
  assert.equal(listeners.size, 1);
});

test("a peer that does not read does not keep what we hold: after the overflow the socket is left (G8)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const { socket, listeners } = silentSocket();
  const transport = webSocketTransport(socket, { limits: { highWaterBytes: 50, maxQueuedBytes: 100 } });
  const watched = watch(transport);
  await Promise.resolve();
  socket.bufferedAmount = 101;
  transport.send({});
  assert.equal(watched.ends[0]?.kind, "overflow");
  t.mock.timers.tick(1_000);
  assert.deepEqual([watched.ends.length, listeners.size], [1, 1]);
});

test("messages and an end before start are delivered after it", async () => {
  const { accepted, connecting, stop } = await sockets("the standard");
  const transport = webSocketTransport(connecting);
  const ended = new Promise<void>((resolve) => connecting.addEventListener("close", () => resolve()));
  accepted.send('{"early":1}');
  accepted.close(1001, "bye");
  await ended;
  const watched = watch(transport);
  await watched.until(() => watched.ends.length === 1);
  assert.deepEqual(
    [watched.values, watched.ends[0]?.message],
    [[{ early: 1 }], "the peer closed the WebSocket: bye"],
  );
  await stop();
});
