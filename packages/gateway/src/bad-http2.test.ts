// Frames of HTTP/2 that nobody should send, with the token and without: the connection or the stream ends, and the next
// good client is served.

import assert from "node:assert/strict";
import { connect as connectHttp2, constants } from "node:http2";
import { connect } from "node:net";
import { test } from "node:test";
import { initialize, type ServedEcho, serveEcho } from "../test/support/served-echo.ts";

const types = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  window: 8,
  more: 9,
};
const endStream = 1;
const endHeaders = 4;
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header in plain text, which is not remembered. */
function field(name: string, value: string): Buffer {
  const parts = [name, value].map((text) =>
    Buffer.concat([Buffer.from([text.length]), Buffer.from(text, "latin1")]),
  );
  return Buffer.concat([Buffer.from([0]), ...parts]);
}

function times(count: number, bytes: Buffer): Buffer {
  return Buffer.concat(Array.from({ length: count }, () => bytes));
}

function requestOf({ gateway, host }: ServedEcho, method = "GET", ...more: readonly Buffer[]): Buffer {
  const names = { ":method": method, ":scheme": "http", ":path": "/acp", ":authority": host };
  const all = { ...names, authorization: `Bearer ${gateway.token}`, "content-type": "application/json" };
  return Buffer.concat([...Object.entries(all).map(([name, value]) => field(name, value)), ...more]);
}

/** Sends the frames. Returns the types of the frames that come back until the server closes, or until the last of them. */
function answers({ gateway }: ServedEcho, frames: Buffer, last?: number): Promise<readonly number[]> {
  return new Promise((resolve) => {
    const socket = connect(gateway.port, "127.0.0.1");
    const got: number[] = [];
    let bytes = Buffer.alloc(0);
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(got));
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
        got.push(bytes[3] ?? 0);
        bytes = bytes.subarray(9 + bytes.readUIntBE(0, 3));
      }
      if (last !== undefined && got.includes(last)) socket.destroy();
    });
    socket.write(Buffer.concat([preface, frame(types.settings, 0, 0), frames]));
  });
}

/** Each of them ends the connection at once. */
const floods: readonly (readonly [name: string, frames: (server: ServedEcho) => Buffer])[] = [
  [
    "N245 CONTINUATION with headers",
    (server) =>
      Buffer.concat([
        frame(types.headers, endStream, 1, requestOf(server)),
        times(10_000, frame(types.more, 0, 1, field("x", "y"))),
      ]),
  ],
  [
    "N245 empty CONTINUATION",
    (server) =>
      Buffer.concat([
        frame(types.headers, endStream, 1, requestOf(server)),
        times(50_000, frame(types.more, 0, 1)),
      ]),
  ],
  ["N246 SETTINGS", () => times(50_000, frame(types.settings, 0, 0))],
  [
    "N246 SETTINGS with the token",
    (server) =>
      Buffer.concat([
        frame(types.headers, endStream | endHeaders, 1, requestOf(server)),
        times(50_000, frame(types.settings, 0, 0)),
      ]),
  ],
  ["N246 PING", () => times(50_000, frame(types.ping, 0, 0, Buffer.alloc(8)))],
  [
    "N246 PING with the token",
    (server) =>
      Buffer.concat([
        frame(types.headers, endStream | endHeaders, 1, requestOf(server)),
        times(50_000, frame(types.ping, 0, 0, Buffer.alloc(8))),
      ]),
  ],
  ["PRIORITY", () => times(50_000, frame(types.priority, 0, 3, Buffer.from([0, 0, 0, 0, 1])))],
  ["frames of an unknown type", () => times(50_000, frame(0xee, 0, 0, Buffer.alloc(8)))],
  [
    "empty DATA",
    (server) =>
      Buffer.concat([
        frame(types.headers, endHeaders, 1, requestOf(server, "POST")),
        times(50_000, frame(types.data, 0, 1)),
      ]),
  ],
  ["WINDOW_UPDATE by nothing", () => frame(types.window, 0, 0, Buffer.alloc(4))],
  [
    "WINDOW_UPDATE by too much",
    () => times(3, frame(types.window, 0, 0, Buffer.from([0x7f, 255, 255, 255]))),
  ],
  ["a frame that is too large", () => frame(types.data, 0, 1, Buffer.alloc(20_000))],
  ["PUSH_PROMISE", () => frame(types.push, endHeaders, 1, Buffer.from([0, 0, 0, 2]))],
];

/** Each of them ends its stream. */
const streams: readonly (readonly [name: string, headers: (server: ServedEcho) => Buffer])[] = [
  ["N236 many headers", (server) => requestOf(server, "GET", times(1_000, field("x", "y")))],
  [
    "N236 headers that unpack to many",
    // one is remembered, and named again by one byte each time
    (server) =>
      requestOf(
        server,
        "GET",
        Buffer.from([0x40, 1]),
        Buffer.from("a"),
        Buffer.from([0x7f, 0x81, 0x1e]),
        Buffer.alloc(4_000, "a"),
        Buffer.alloc(8_000, 0xbe),
      ),
  ],
  ["N277 two hosts", (server) => requestOf(server, "GET", field(":authority", "evil.example"))],
  ["N225 chunked", (server) => requestOf(server, "GET", field("transfer-encoding", "chunked"))],
  ["a header in capital letters", (server) => requestOf(server, "GET", field("X", "y"))],
];

test("floods of HTTP/2 frames end their connection, and the next good client is served (N245, N246)", async (t) => {
  // none is ended by its time
  const server = await serveEcho(t, { limits: { strangerMs: 3_600_000 } });
  for (const [name, frames] of floods) {
    const got = await answers(server, frames(server));
    assert.ok(got.length < 10_000, `${name}: ${got.length} answers`);
    assert.equal(await server.goodClient(), 200, name);
  }
  assert.equal(server.count(), floods.length, "no agent was started but for good clients");
});

test("bad headers of HTTP/2 end their stream, and the next good client is served (N225, N236, N277)", async (t) => {
  const server = await serveEcho(t);
  for (const [name, headers] of streams) {
    const sent = frame(types.headers, endStream | endHeaders, 1, headers(server));
    const got = await answers(server, sent, types.reset);
    assert.ok(got.includes(types.reset) && !got.includes(types.headers), `${name}: ${got}`);
    assert.equal(await server.goodClient(), 200, name);
  }
});

test("streams that are opened and reset in masses end their connection, and the next good client is served (N244)", async (t) => {
  const server = await serveEcho(t);
  const session = connectHttp2(`http://${server.host}`);
  session.on("error", () => undefined);
  const closed = new Promise((resolve) => session.once("close", resolve));
  const authorization = `Bearer ${server.gateway.token}`;
  for (let n = 0; n < 10_000 && !session.destroyed && !session.closed; n++) {
    const stream = session.request({ ":path": "/acp", ":method": "GET", authorization });
    stream.on("error", () => undefined);
    stream.close(constants.NGHTTP2_CANCEL);
    if (n % 100 === 0) await new Promise(setImmediate);
  }
  await closed;
  assert.equal(await server.goodClient(), 200);
});

test("HTTP/2 without the token has its time too, whatever it sends (N240)", async (t) => {
  const server = await serveEcho(t, { limits: { strangerMs: 200 } });
  const unfinished = frame(types.headers, 0, 1, field(":method", "POST"));
  await answers(server, unfinished);
  await answers(server, Buffer.alloc(0));
  const stranger = Buffer.concat(
    [":method POST", ":scheme http", ":path /acp", `:authority ${server.host}`].map((each) =>
      field(...(each.split(" ") as [string, string])),
    ),
  );
  const got = await answers(server, frame(types.headers, endHeaders, 1, stranger));
  assert.ok(got.includes(types.headers), "it was refused, and does not wait for its body");
  assert.equal(await server.goodClient(), 200);
  assert.equal((await server.call2({ body: initialize })).status, 200);
});
