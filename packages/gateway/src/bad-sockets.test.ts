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

/** A length of 2^62 bytes. */
const endless = Buffer.from([text, 0x80 | 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const first = Buffer.from(initialize);
const again = (count: number, bytes: Buffer) => Buffer.concat(Array.from({ length: count }, () => bytes));

const frames = [
  ["N254 a frame without a mask", frame(text, Buffer.from(initialize), false), 1002],
  ["N255 text that is not UTF-8", frame(text, Buffer.from([0xff, 0xfe])), 1007],
  ["N258 a reserved opcode", frame(0x83, Buffer.from("x")), 1002],
  ["N257 a frame that says that it is compressed", frame(text | 0x40, Buffer.from("x")), 1002],
  ["N258 a frame with reserved bits", frame(text | 0x20, first), 1002],
  ["N258 a reserved control frame", frame(0x8b, Buffer.from("x")), 1002],
  ["a frame of 2^62 bytes", endless, 1009],
  ["a ping in fragments", frame(0x09, Buffer.from("x")), 1002],
  ["a ping that is too long", frame(0x89, Buffer.alloc(200)), 1002],
  ["a continuation of nothing", frame(0x80, first), 1002],
  ["a message in the middle of another", Buffer.concat([frame(0x01, first), frame(text, first)]), 1002],
  ["a close with a reserved code", frame(0x88, Buffer.from([3, 0xee])), 1002],
  ["a close with half a code", frame(0x88, Buffer.from([3])), 1002],
  ["a close whose reason is not UTF-8", frame(0x88, Buffer.from([3, 0xe8, 0xff])), 1007],
  [
    "fragments of nothing without an end",
    Buffer.concat([frame(0x01, Buffer.alloc(0)), again(20_000, frame(0x00, Buffer.alloc(0)))]),
    1008,
  ],
  [
    "N256 fragments of one byte without an end",
    Buffer.concat([frame(0x01, Buffer.from(" ")), again(20_000, frame(0x00, Buffer.from(" ")))]),
    1008,
  ],
  ["N255 UTF-8 that ends in a character", frame(text, Buffer.from([0x22, 0xe2, 0x82])), 1007],
  ...['{"jsonrpc":"2.0","method":"x"}', "{", "7", "null", `[${initialize}]`, "[".repeat(10_000)].map(
    (words) =>
      [`N259 a first message that is ${words.slice(0, 20)}`, frame(text, Buffer.from(words)), 1002] as const,
  ),
  [
    "N256 a message over the limit in fragments",
    Buffer.concat([frame(0x01, Buffer.alloc(40_000, 32)), frame(0x00, Buffer.alloc(40_000, 32))]),
    1009,
  ],
] as const;

test("bad frames close the socket with the code for it, and the next client is served (N253-N259, W6)", async (t) => {
  const server = await serveEcho(t, { limits: { maxBodyBytes: 50_000 } });
  const got = frames.map(async ([name, bytes]) => {
    const socket = await rawSocket(server);
    const closed = closeCode(socket);
    socket.write(bytes);
    return [name, await closed];
  });
  assert.deepEqual(
    await Promise.all(got),
    frames.map(([name, , code]) => [name, code]),
  );
  assert.equal(server.count(), 0, "no agent was started");
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
  const server = await serveEcho(t, { heartbeatMs: 40 });
  const socket = await rawSocket(server);
  // a raw socket answers no ping
  const gone = closeCode(socket);
  socket.resume();
  socket.write(frame(text, Buffer.from(initialize)));
  assert.equal(await gone, 1001);
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

test("frames behind a close are not read", async (t) => {
  const server = await serveEcho(t);
  const socket = await rawSocket(server);
  const closed = closeCode(socket);
  const behind = again(10_000, frame(text, Buffer.from(initialize)));
  socket.write(Buffer.concat([frame(0x88, Buffer.from([3, 0xe8])), behind]));
  assert.equal(await closed, 1000);
  assert.equal(server.count(), 0);
  await prompts(server);
});

/** Requests for a WebSocket that are not as they should be. */
const upgrades = [
  ["no key", 400, { "Sec-WebSocket-Key": undefined }],
  ["a short key", 400, { "Sec-WebSocket-Key": "AAAA" }],
  ["no version", 400, { "Sec-WebSocket-Version": undefined }],
  ["another version", 400, { "Sec-WebSocket-Version": "7" }],
  ["broken subprotocols", 400, { "Sec-WebSocket-Protocol": "a,,b" }],
  ["a subprotocol twice", 400, { "Sec-WebSocket-Protocol": "acp, acp" }],
  ["N263 no token", 401, { Authorization: undefined }],
  ["N264 the token as a subprotocol", 401, { Authorization: undefined, "Sec-WebSocket-Protocol": "TOKEN" }],
  [
    "a ticket that was not given",
    401,
    { Authorization: undefined, "Sec-WebSocket-Protocol": "parley.ticket.x" },
  ],
  [
    "the token as a ticket",
    401,
    { Authorization: undefined, "Sec-WebSocket-Protocol": "parley.ticket.TOKEN" },
  ],
  ["an empty ticket", 401, { Authorization: undefined, "Sec-WebSocket-Protocol": "parley.ticket." }],
  [
    "N269 another page with a cookie",
    403,
    { Authorization: undefined, Origin: "https://evil.example", Cookie: "a=b" },
  ],
  ["N273 a page with a name in its address", 403, { Origin: "http://localhost:1@evil" }],
  ["N277 two hosts", 400, { host: "evil.example" }],
] as const;

test("requests for a WebSocket that are wrong are refused with a sentence, and the next client is served (N263-N277, TH19)", async (t) => {
  const server = await serveEcho(t);
  for (const [name, wanted, changes] of upgrades) {
    const headers = {
      Host: server.host,
      Authorization: "Bearer TOKEN",
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "Sec-WebSocket-Version": "13",
      ...changes,
    };
    const lines = Object.entries(headers).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}: ${value}`],
    );
    const request = ["GET /acp HTTP/1.1", ...lines, "", ""].join("\r\n");
    const answer = await server.raw(request.replace("TOKEN", server.gateway.token));
    assert.match(answer, new RegExp(`^HTTP/1.1 ${wanted} [\\s\\S]*"message":"\\w.{10,}"`), name);
    assert.ok(!answer.includes(server.gateway.token), name);
  }
  assert.equal(server.count(), 0);
  await prompts(server);
});

test("of two WebSockets that come with one ticket at once, one is let in (TH28)", async (t) => {
  const server = await serveEcho(t);
  const { protocol } = JSON.parse((await server.call({ path: "/acp/ticket" })).body);
  const url = server.gateway.url.replace("http", "ws");
  const results = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const socket = new WebSocket(url, [protocol]);
      const isOpen = await once(socket, "open").then(
        () => true,
        () => false,
      );
      socket.on("error", () => undefined).terminate();
      return isOpen;
    }),
  );
  assert.equal(results.filter((isOpen) => isOpen).length, 1);
  await prompts(server);
});

test("a WebSocket that asks for compression is served without it (N257)", async (t) => {
  const server = await serveEcho(t);
  const socket = open(server, { "Sec-WebSocket-Extensions": "permessage-deflate; client_max_window_bits" });
  await once(socket, "open");
  assert.equal(socket.extensions, "");
  socket.terminate();
});

test("the streams and sockets of a token end with its server (N268)", async (t) => {
  const server = await serveEcho(t);
  const socket = open(server);
  await once(socket, "open");
  socket.send(initialize);
  await once(socket, "message");
  const { headers } = await server.call({ body: initialize });
  const id = String(headers["acp-connection-id"]);
  const stream = server.call({
    method: "GET",
    headers: { accept: "text/event-stream", "acp-connection-id": id },
  });
  await until(() => server.gateway.connections.every(({ isAttached }) => isAttached), "both are there");
  const closed = once(socket, "close");
  await server.gateway.close();
  assert.equal((await closed)[0], 1001);
  assert.equal((await stream).status, 200);
  assert.deepEqual(server.gateway.connections, []);
});
