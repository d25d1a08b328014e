// What nobody should send to a gateway: each is refused, and the next good client is served.

import assert from "node:assert/strict";
import { connect, constants } from "node:http2";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { type Call, initialize, type ServedEcho, serveEcho } from "../test/support/served-echo.ts";

const events = { accept: "text/event-stream" };
const notification = JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: "s" } });

/** Over HTTP/1.1 and HTTP/2. */
const calls: readonly (readonly [name: string, wanted: number, call: Call])[] = [
  ["N219 a body of type text/plain", 415, { body: initialize, headers: { "content-type": "text/plain" } }],
  ["N220 a body of no type", 415, { body: initialize, headers: { "content-type": undefined } }],
  [
    "N221 a body in UTF-16",
    415,
    { body: initialize, headers: { "content-type": "application/json; charset=utf-16" } },
  ],
  ["N222 a body that is no JSON", 400, { body: "{" }],
  ["N223 a body over the limit", 413, { body: `"${"x".repeat(200_000)}"` }],
  [
    "N224 a compressed body",
    415,
    { body: gzipSync(Buffer.alloc(10_000_000)), headers: { "content-encoding": "gzip" } },
  ],
  ["N226 a message without a connection", 400, { body: notification }],
  [
    "N227 an unknown connection",
    404,
    { body: notification, headers: { "acp-connection-id": "0".repeat(32) } },
  ],
  ["N230 a stream that is not asked for as one", 406, { method: "GET", headers: { accept: "text/html" } }],
  ["a stream without a connection", 400, { method: "GET", headers: events }],
  ["N231 the method PUT", 405, { method: "PUT", body: initialize }],
  ["DELETE of an unknown connection", 404, { method: "DELETE", headers: { "acp-connection-id": "x" } }],
  ["N238 a path above", 404, { method: "GET", path: "/acp/../x", headers: events }],
  ["another path", 404, { method: "GET", path: "/", headers: events }],
  ["N263 no token", 401, { body: initialize, headers: { authorization: undefined } }],
  ["N264 a wrong token", 401, { body: initialize, headers: { authorization: `Bearer ${"x".repeat(43)}` } }],
  ["N266 a token of alg:none", 401, { headers: { authorization: "Bearer eyJhbGciOiJub25lIn0.e30." } }],
  ["another scheme", 401, { headers: { authorization: "Basic dXNlcjpwYXNz" } }],
  ["TH28 a token in the query", 400, { path: "/acp?token=abc", headers: { authorization: undefined } }],
  ["a ticket by GET", 405, { method: "GET", path: "/acp/ticket" }],
  ...[
    "https://evil.example",
    "null",
    "http://localhost.evil.example",
    "http://127.0.0.1.evil.example",
    "http://localhost:1@evil",
    "http://127.0.0.1:1",
    "http://127.0.0.1",
    "http://localhost",
    "file://",
    "",
  ].flatMap((origin) =>
    ["POST", "GET", "DELETE", "OPTIONS"].map((method): [string, number, Call] => [
      `N269-N274, TH19 a page of ${origin || "no origin"} that sends ${method}`,
      403,
      { method, headers: { ...events, origin }, ...(method === "POST" && { body: initialize }) },
    ]),
  ),
];

/** Over HTTP/1.1, where the host can be anything. */
const hosts = [
  "evil.example",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "127.0.0.1",
  "localhost",
  "127.0.0.1:1",
  "127.0.0.1:PORT.evil.example",
  "evil.example:PORT",
  "user@127.0.0.1:PORT",
  "[::ffff:127.0.0.1]:PORT",
];

async function refuses(server: ServedEcho, send: (call: Call) => Promise<{ status: number }>): Promise<void> {
  const before = server.count();
  const got = [];
  for (const [name, , call] of calls) got.push([name, (await send(call)).status]);
  assert.deepEqual(
    got,
    calls.map(([name, wanted]) => [name, wanted]),
  );
  assert.equal(server.count(), before, "no agent was started");
  assert.equal(await server.goodClient(), 200);
}

const small = { limits: { maxBodyBytes: 100_000 } };

test("bad requests are refused over HTTP/1.1, and the next good client is served", async (t) => {
  const server = await serveEcho(t, small);
  await refuses(server, (call) => server.call(call));
});

test("bad requests are refused over HTTP/2, and the next good client is served", async (t) => {
  const server = await serveEcho(t, small);
  await refuses(server, (call) => server.call2(call));
});

test("a request for another host is refused, also on loopback and with the token (N275-N277, TH19)", async (t) => {
  const server = await serveEcho(t);
  for (const host of hosts) {
    const named = host.replace("PORT", String(server.gateway.port));
    const { status } = await server.call({ body: initialize, headers: { host: named } });
    assert.equal(status, 421, named);
  }
  const { status } = await server.call2({ body: initialize, headers: { ":authority": "evil.example" } });
  assert.equal(status, 421);
  const two = await server.call2({
    body: initialize,
    headers: { ":authority": server.host, host: "evil.example" },
  });
  assert.equal(two.status, 400);
  assert.equal(server.count(), 0, "no agent was started");
  assert.equal(await server.goodClient(), 200);
});

test("bytes that are no HTTP are refused, and the next good client is served (N225, N235-N239, N251)", async (t) => {
  const server = await serveEcho(t);
  const head = `Host: ${server.host}\r\nAuthorization: Bearer ${server.gateway.token}\r\n`;
  const many = Array.from({ length: 200 }, (_, index) => `X-${index}: 1\r\n`).join("");
  const cases = [
    [`POST /acp HTTP/1.1\r\n${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
    [`GET /acp HTTP/1.1\r\n${head}X: ${"x".repeat(100_000)}\r\n\r\n`, 431],
    [`GET /acp HTTP/1.1\r\n${head}${many}\r\n`, 431],
    [`GET /acp HTTP/1.1\r\n${head}X: a\0b\r\n\r\n`, 400],
    [`GET /acp HTTP/1.1\r\n${head}Last-Event-ID: ${"9".repeat(1_000_000)}\r\n\r\n`, 431],
    [`TRACE /acp HTTP/1.1\r\n${head}\r\n`, 405],
    ["GET /acp HTTP/1.1\r\n\r\n", 400],
    ["GET /acp HTTP/1.0\r\n\r\n", 421],
    [`GET http://evil.example/acp HTTP/1.1\r\n${head}\r\n`, 400],
    ["hello\r\n\r\n", 400],
  ] as const;
  for (const [bytes, wanted] of cases) {
    const answer = await server.raw(bytes);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${wanted} `), bytes.slice(0, 300));
  }
  assert.equal(
    await server.raw(Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5])),
    "",
    "TLS without a certificate",
  );
  assert.equal(server.count(), 0);
  assert.equal(await server.goodClient(), 200);
});

test("streams that are opened and reset in masses end their connection, and the next good client is served (N244)", async (t) => {
  const server = await serveEcho(t);
  const session = connect(`http://${server.host}`);
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

test("the eleventh failed login from an address gets 429, and the right token still works (TH28)", async (t) => {
  const server = await serveEcho(t);
  const wrong = { body: initialize, headers: { authorization: "Bearer wrong" } };
  const got = [];
  for (let n = 0; n < 11; n++) got.push((await server.call(wrong)).status);
  assert.deepEqual(got, [...Array.from({ length: 10 }, () => 401), 429]);
  assert.match(String((await server.call(wrong)).headers["retry-after"]), /^\d+$/);
  assert.equal(await server.goodClient(), 200);
});

test("slow heads and bodies and silent sockets are closed, and a good client is served meanwhile (N240-N242)", async (t) => {
  const limits = { strangerMs: 300, bodyTimeoutMs: 300, maxStrangers: 20 };
  const server = await serveEcho(t, { limits });
  const head = `POST /acp HTTP/1.1\r\nHost: ${server.host}\r\n`;
  const token = `Authorization: Bearer ${server.gateway.token}\r\nContent-Type: application/json\r\n`;
  const silent = Array.from({ length: 100 }, () => server.raw(""));
  assert.equal(await server.goodClient(), 200);
  assert.deepEqual(new Set(await Promise.all(silent)), new Set([""]));
  assert.equal(await server.raw("P"), "", "it could still become HTTP/2");
  assert.equal(await server.raw(head), "");
  assert.match(await server.raw(`${head}${token}Content-Length: 10\r\n\r\n{`), /^HTTP\/1.1 408 /);
  assert.equal(
    await server.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    await server.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
  );
  assert.equal(await server.goodClient(), 200);
});
