// WebSockets that nobody should open, and frames that nobody should send.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { WebSocket } from "ws";
import { initialize, type ServedEcho, serveEcho, until } from "../test/support/served-echo.ts";

function open({ gateway }: ServedEcho, headers: Readonly<Record<string, string>> = {}): WebSocket {
  const authorization = `Bearer ${gateway.token}`;
  return new WebSocket(gateway.url.replace("http", "ws"), { headers: { authorization, ...headers } });
}

async function prompts(server: ServedEcho): Promise<void> {
  const socket = open(server);
  await once(socket, "open");
  socket.send(initialize);
  const [answer] = await once(socket, "message");
  assert.equal(JSON.parse(String(answer)).result.protocolVersion, 1);
  socket.close();
}

/** A socket that speaks WebSocket by hand. */
async function rawSocket({ gateway, host }: ServedEcho): Promise<Socket> {
  const socket = connect(gateway.port, "127.0.0.1");
  socket.on("error", () => undefined);
  const key = randomBytes(16).toString("base64");
  const head = ["GET /acp HTTP/1.1", `Host: ${host}`, `Authorization: Bearer ${gateway.token}`];
  const upgrade = ["Connection: Upgrade", "Upgrade: websocket", `Sec-WebSocket-Key: ${key}`];
  socket.write([...head, ...upgrade, "Sec-WebSocket-Version: 13", "", ""].join("\r\n"));
  const [answer] = await once(socket, "data");
  assert.match(String(answer), /^HTTP\/1.1 101 [\s\S]*acp-connection-id: [0-9a-f]{32}/i);
  return socket;
}

/** A frame with the mask 0, which changes nothing. */
function frame(first: number, payload: Buffer, isMasked = true): Buffer {
  const { length } = payload;
  const mask = isMasked ? 0x80 : 0;
  const size = length < 126 ? [mask | length] : [mask | 126, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([first, ...size, ...(isMasked ? [0, 0, 0, 0] : [])]), payload]);
}

const text = 0x81;

/** The code of the close frame that the server sends. */
async function closeCode(socket: Socket): Promise<number | undefined> {
  let bytes = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    bytes = Buffer.concat([bytes, chunk]);
  });
  await once(socket, "close");
  const at = bytes.indexOf(0x88);
  return at < 0 ? undefined : bytes.readUInt16BE(at + 2);
}

const frames = [
  ["N254 a frame without a mask", frame(text, Buffer.from(initialize), false), 1002],
  ["N255 text that is not UTF-8", frame(text, Buffer.from([0xff, 0xfe])), 1007],
  ["N258 a reserved opcode", frame(0x83, Buffer.from("x")), 1002],
  ["N257 a frame that says that it is compressed", frame(text | 0x40, Buffer.from("x")), 1002],
  [
    "N259 a first message that is not initialize",
    frame(text, Buffer.from('{"jsonrpc":"2.0","method":"x"}')),
    1002,
  ],
  [
    "N256 a message over the limit in fragments",
    Buffer.concat([frame(0x01, Buffer.alloc(40_000, 32)), frame(0x00, Buffer.alloc(40_000, 32))]),
    1009,
  ],
] as const;

test("bad frames close the socket with the code for it, and the next client is served (N253-N259, W6)", async (t) => {
  const server = await serveEcho(t, { limits: { maxBodyBytes: 50_000 } });
  for (const [name, bytes, code] of frames) {
    const socket = await rawSocket(server);
    const closed = closeCode(socket);
    socket.write(bytes);
    assert.equal(await closed, code, name);
  }
  const socket = open(server);
  await once(socket, "open");
  socket.send(Buffer.from("binary"));
  socket.send(initialize);
  const [answer] = await once(socket, "message");
  assert.equal(JSON.parse(String(answer)).id, 0, "a binary frame is ignored (N253, W3)");
  socket.close();
  await prompts(server);
});

test("a WebSocket without the token, of another page or for another host is refused (N263, N264, N269, N270, N275, TH19)", async (t) => {
  const server = await serveEcho(t);
  const cases = [
    [{ authorization: "" }, 401],
    [{ authorization: "Bearer wrong" }, 401],
    [{ origin: "https://evil.example" }, 403],
    [{ origin: "null" }, 403],
    [{ origin: "http://localhost" }, 403],
    [{ host: "evil.example" }, 421],
    [{ host: "localhost" }, 421],
  ] as const;
  for (const [headers, status] of cases) {
    const socket = open(server, headers);
    const [error] = await once(socket, "error");
    assert.equal(error.message, `Unexpected server response: ${status}`, JSON.stringify(headers));
  }
  const query = new WebSocket(`${server.gateway.url.replace("http", "ws")}?token=${server.gateway.token}`);
  const [error] = await once(query, "error");
  assert.match(error.message, /400/);
  assert.equal(server.count(), 0, "no agent was started");
  await prompts(server);
});

test("a peer that has gone without a word is noticed by a ping, and its connection waits for it (N243, N260, W5)", async (t) => {
  const server = await serveEcho(t, { limits: { pingMs: 40, patienceMs: 40 } });
  const socket = await rawSocket(server);
  // a raw socket answers no ping
  const gone = once(socket, "close");
  socket.resume();
  socket.write(frame(text, Buffer.from(initialize)));
  await gone;
  const { connections } = server.gateway;
  assert.equal(connections.length, 1);
  await until(() => server.gateway.connections[0]?.isAttached === false, "it is kept, without its client");
  await prompts(server);
});

test("too many pings are an attack (N261)", async (t) => {
  const server = await serveEcho(t);
  const socket = await rawSocket(server);
  const closed = closeCode(socket);
  socket.write(Buffer.concat(Array.from({ length: 1_100 }, () => frame(0x89, Buffer.alloc(0)))));
  assert.equal(await closed, 1008);
  await prompts(server);
});
