// What nobody should send to a gateway: each is refused, and the next good client is served.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import {
  type Answer,
  type Call,
  initialize,
  type ServedEcho,
  serveEcho,
} from "../test/support/served-echo.ts";

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
  ["an empty body", 400, { body: "" }],
  ["a body that is not UTF-8", 400, { body: Buffer.from([0x22, 0xff, 0xfe, 0x22]) }],
  ["JSON of many levels", 400, { body: "[".repeat(50_000) }],
  ["H16 a batch", 501, { body: `[${initialize}]` }],
  ["H5 initialize without an id", 400, { body: initialize.replace('"id":0,', "") }],
  ["N223 a body over the limit", 413, { body: `"${"x".repeat(200_000)}"` }],
  [
    "N224 a compressed body",
    415,
    { body: gzipSync(Buffer.alloc(10_000_000)), headers: { "content-encoding": "gzip" } },
  ],
  [
    "N224 a body in another coding",
    415,
    { body: initialize, headers: { "content-encoding": "br, identity" } },
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
  ["DELETE without a connection", 400, { method: "DELETE" }],
  ...[
    "/acp/../x",
    "/x/../acp",
    "/x/%2e%2e/acp",
    "/./acp",
    "//acp",
    "//evil.example/acp",
    "/acp/",
    "/acp/..;/acp",
    "/x\\..\\acp",
    "/acp#x",
    "/acp%00",
    "/%61cp",
    "/ACP",
    "/",
    "/livez/",
    "/ticket",
  ].map((path): [string, number, Call] => [
    `N238 the path ${path}`,
    404,
    { method: "GET", path, headers: events },
  ]),
  ["N263 no token", 401, { body: initialize, headers: { authorization: undefined } }],
  ["N264 a wrong token", 401, { body: initialize, headers: { authorization: `Bearer ${"x".repeat(43)}` } }],
  ["N264 the token and more", 401, { body: initialize, headers: { authorization: "Bearer TOKENx" } }],
  ["N264 a part of the token", 401, { body: initialize, headers: { authorization: "Bearer TOKE" } }],
  ["N264 the token twice", 401, { body: initialize, headers: { authorization: "Bearer TOKEN TOKEN" } }],
  ["N264 the token without a scheme", 401, { body: initialize, headers: { authorization: "TOKEN" } }],
  [
    "N264 the token as a cookie",
    401,
    { body: initialize, headers: { authorization: undefined, cookie: "token=TOKEN" } },
  ],
  ["N264 an empty token", 401, { body: initialize, headers: { authorization: "Bearer  " } }],
  ["N264 a token of 10,000 characters", 401, { headers: { authorization: `Bearer ${"x".repeat(10_000)}` } }],
  [
    "N265 a token of long ago",
    401,
    { headers: { authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjF9.AA" } },
  ],
  [
    "N267 a token for another audience",
    401,
    { headers: { authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.eyJhdWQiOiJ4In0.AA" } },
  ],
  ["N266 a token of alg:none", 401, { headers: { authorization: "Bearer eyJhbGciOiJub25lIn0.e30." } }],
  ["another scheme", 401, { headers: { authorization: "Basic dXNlcjpwYXNz" } }],
  ["TH28 a token in the query", 400, { path: "/acp?token=TOKEN", headers: { authorization: undefined } }],
  ["TH28 another name in the query", 400, { path: "/acp?a=b&Access_Token=TOKEN" }],
  ["TH28 a ticket in the query", 400, { path: "/acp?ticket=x" }],
  [
    "TH28 the token under a name of its own in the query",
    401,
    { path: "/acp?x=TOKEN", headers: { authorization: undefined } },
  ],
  [
    "TH28 a ticket without a WebSocket",
    401,
    { headers: { authorization: undefined, "sec-websocket-protocol": "parley.ticket.x" } },
  ],
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
  "127.0.0.1:PORT1000",
  "evil.example:1",
  "127.0.0.1:PORT.evil.example",
  "evil.example:PORT",
  "user@127.0.0.1:PORT",
  "[::ffff:127.0.0.1]:PORT",
];

/** A refusal is one sentence, and shows nothing of the inside. */
function checkWords(
  { body, headers }: Pick<Answer, "body" | "headers">,
  server: ServedEcho,
  name: string,
): void {
  assert.match(String(headers["content-type"]), /^application\/json/, name);
  const { jsonrpc, id, error } = JSON.parse(body);
  assert.deepEqual([jsonrpc, id, typeof error.code], ["2.0", null, "number"], name);
  assert.match(error.message, /^[\w"].{10,300}$/, name);
  assert.doesNotMatch(body, /node:|node_modules|\.[jt]s\b|\bat .*:\d+|Error:/, name);
  assert.ok(!body.includes(server.gateway.token), `${name}: it shows the token`);
}

/** TOKEN stands for the token of the server. */
function withToken(call: Call, { gateway }: ServedEcho): Call {
  const headers = Object.entries(call.headers ?? {}).map(([name, value]) => [
    name,
    // one that is known by its beginning is not known
    value?.replace("TOKEN", gateway.token).replace(/TOKE$/, gateway.token.slice(0, -1)),
  ]);
  const path = call.path?.replace("TOKEN", gateway.token);
  return { ...call, headers: Object.fromEntries(headers), ...(path !== undefined && { path }) };
}

async function refuses(server: ServedEcho, send: (call: Call) => Promise<Answer>): Promise<void> {
  const before = server.count();
  const got = [];
  for (const [name, , call] of calls) {
    const answer = await send(withToken(call, server));
    // a login that failed too often has a status of its own, which another test looks at
    got.push([name, answer.status === 429 ? 401 : answer.status]);
    checkWords(answer, server, name);
  }
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

/** Over HTTP/1.1, byte by byte. HEAD stands for the host and the token. */
const bytes: readonly (readonly [name: string, wanted: number, text: string])[] = [
  ...[
    "Content-Length: 2\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 2",
    "Transfer-Encoding: xchunked",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
    "Transfer-Encoding: chunked, identity",
    "Transfer-Encoding:\x0bchunked",
    "Transfer-Encoding : chunked",
    " Transfer-Encoding: chunked",
    "Content-Length: 2\r\nContent-Length: 3",
    "Content-Length: 2, 2",
    "Content-Length: -2",
    "Content-Length: +2",
    "Content-Length: 0x2",
    "Content-Length: 99999999999999999999999",
    "X: a\r\n b",
    "X: a\rb",
    "X: a\0b",
    "X\0: a",
    "no colon",
  ].map((lines): [string, number, string] => [
    `N225, N237 two readings: ${JSON.stringify(lines)}`,
    400,
    `POST /acp HTTP/1.1\r\nHEAD${lines}\r\n\r\n0\r\n\r\n`,
  ]),
  ...["Z\r\n{}", "fffffffffffffffff\r\n{}", "-1\r\n{}", `2;${"x".repeat(100_000)}\r\n{}`, "2\r\n{}X\r\n"].map(
    (chunk): [string, number, string] => [
      `N225 the chunk ${chunk.slice(0, 20)}`,
      400,
      `POST /acp HTTP/1.1\r\nHEADContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}\r\n0\r\n\r\n`,
    ],
  ),
  ["N235 a large header", 431, `GET /acp HTTP/1.1\r\nHEADX: ${"x".repeat(100_000)}\r\n\r\n`],
  ["N235 a long path", 431, `GET /${"x".repeat(100_000)} HTTP/1.1\r\nHEAD\r\n`],
  ["N236 many headers", 431, `GET /acp HTTP/1.1\r\nHEAD${"X: 1\r\n".repeat(200)}\r\n`],
  ["N236 very many headers", 431, `GET /acp HTTP/1.1\r\nHEAD${"X: 1\r\n".repeat(100_000)}\r\n`],
  [
    "N236 many headers behind the body",
    431,
    `POST /acp HTTP/1.1\r\nHEADTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n${"X: 1\r\n".repeat(10_000)}\r\n`,
  ],
  [
    "N251 an event id of 1 MB",
    431,
    `GET /acp HTTP/1.1\r\nHEADLast-Event-ID: ${"9".repeat(1_000_000)}\r\n\r\n`,
  ],
  ["N239 TRACE", 405, "TRACE /acp HTTP/1.1\r\nHEAD\r\n"],
  ["CONNECT", 405, "CONNECT evil.example:443 HTTP/1.1\r\nHEAD\r\n"],
  ["Expect", 417, "POST /acp HTTP/1.1\r\nHEADExpect: magic\r\nContent-Length: 2\r\n\r\n{}"],
  ["N276 no host", 400, "GET /acp HTTP/1.1\r\n\r\n"],
  ["N276 no host in HTTP/1.0", 400, "GET /acp HTTP/1.0\r\n\r\n"],
  ["N277 two hosts", 400, "GET /acp HTTP/1.1\r\nHEADHost: evil.example\r\n\r\n"],
  ["two tokens", 400, "GET /acp HTTP/1.1\r\nHEADAuthorization: Bearer other\r\n\r\n"],
  ["N277 a list of hosts", 421, "GET /acp HTTP/1.1\r\nHost: 127.0.0.1:PORT, evil.example\r\n\r\n"],
  ["a whole address", 400, "GET http://evil.example/acp HTTP/1.1\r\nHEAD\r\n"],
  ["a whole address of ours", 400, "GET http://127.0.0.1:PORT/acp HTTP/1.1\r\nHEAD\r\n"],
  ["no path", 400, "OPTIONS * HTTP/1.1\r\nHEAD\r\n"],
  ["line feeds alone", 400, "GET /acp HTTP/1.1\nHost: 127.0.0.1:PORT\n\n"],
  ["another protocol", 400, "hello\r\n\r\n"],
  ["another version", 400, "GET /acp HTTP/1.2\r\nHEAD\r\n"],
  [
    "a broken request for a WebSocket",
    400,
    "GET /acp HTTP/1.1\r\nHEADConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  ],
];

test("a refused length, and a second token, are named in the answer", async (t) => {
  const server = await serveEcho(t);
  const head = `POST /acp HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.gateway.token}\r\n`;
  for (const lines of [
    "Content-Length: 2\r\nContent-Length: 3",
    "Content-Length: 2\r\nTransfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 2",
  ])
    assert.match(await server.raw(`${head}${lines}\r\n\r\n`), /expected the length of the body once/, lines);
  const second = `${head}Authorization: Bearer other\r\nContent-Length: 0\r\n\r\n`;
  assert.match(await server.raw(second), /400[\s\S]*expected one header Authorization, got 2/);
});

test("bytes that are no HTTP, or that two servers could read in two ways, are refused, and the next good client is served (N225, N235-N239, N251, N276, N277)", async (t) => {
  const server = await serveEcho(t);
  const head = `Host: ${server.host}\r\nAuthorization: Bearer ${server.gateway.token}\r\n`;
  for (const [name, wanted, text] of bytes) {
    const filled = text.replace("HEAD", head).replaceAll("PORT", String(server.gateway.port));
    const answer = await server.raw(Buffer.from(filled, "latin1"));
    assert.match(answer, new RegExp(`^HTTP/1.1 ${wanted} `), name);
    const body = /\{"jsonrpc".*\}/.exec(answer)?.[0] ?? "";
    checkWords({ body, headers: { "content-type": /content-type: (.*)/i.exec(answer)?.[1] } }, server, name);
    assert.equal(await server.goodClient(), 200, name);
  }
  const hello = Buffer.from([0x16, 3, 1, 0, 5, 1, 2, 3, 4, 5]);
  assert.equal(await server.raw(hello), "", "TLS without a certificate");
  assert.equal(server.count(), bytes.length, "no agent was started but for good clients");
});

test("the eleventh failed login from an address gets 429, whoever it says that it is; the right token still works (TH28)", async (t) => {
  const server = await serveEcho(t);
  const got = [];
  for (let n = 0; n < 11; n++) {
    const headers = {
      authorization: `Bearer wrong${n}`,
      "x-forwarded-for": `192.0.2.${n}`,
      forwarded: `for=192.0.2.${n}`,
    };
    got.push((await server.call({ body: initialize, headers })).status);
  }
  assert.deepEqual(got, [...Array.from({ length: 10 }, () => 401), 429]);
  const again = await server.call2({ body: initialize, headers: { authorization: "Bearer wrong" } });
  assert.match(`${again.status} ${again.headers["retry-after"]}`, /^429 \d+$/);
  checkWords(again, server, "429");
  assert.equal(await server.goodClient(), 200);
});

test("slow heads and bodies and silent sockets are closed, and a good client is served meanwhile (N240-N242)", async (t) => {
  const limits = { strangerMs: 300, bodyTimeoutMs: 300, maxStrangers: 20 };
  const server = await serveEcho(t, { limits });
  const head = `POST /acp HTTP/1.1\r\nHost: ${server.host}\r\n`;
  const token = `Authorization: Bearer ${server.gateway.token}\r\nContent-Type: application/json\r\n`;
  const silent = Array.from({ length: 1_000 }, () => server.raw(""));
  assert.equal(await server.goodClient(), 200);
  assert.deepEqual(new Set(await Promise.all(silent)), new Set([""]));
  assert.equal(await server.raw("P"), "", "it could still become HTTP/2");
  // it is told, or just closed: both have the same time
  for (const unfinished of ["", `${token}Connection: Upgrade\r\nUpgrade: websocket\r\n`])
    assert.match(await server.raw(`${head}${unfinished}`), /^(?:HTTP\/1.1 408 [\s\S]*)?$/);
  assert.match(await server.raw(`${head}${token}Content-Length: 10\r\n\r\n{`), /^HTTP\/1.1 408 /);
  const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  assert.doesNotMatch(await server.raw(preface), /HTTP/, "HTTP/2 without a request");
  assert.equal(await server.goodClient(), 200);
});

test("a socket that had the token must send its next head in time too (N240)", async (t) => {
  const server = await serveEcho(t, { limits: { strangerMs: 300 } });
  const head = `POST /acp HTTP/1.1\r\nHost: ${server.host}\r\nAuthorization: Bearer ${server.gateway.token}\r\n`;
  const socket = connect(server.gateway.port, "127.0.0.1").setEncoding("utf8");
  socket.write(
    `${head}Content-Type: application/json\r\nContent-Length: ${initialize.length}\r\n\r\n${initialize}`,
  );
  const [answer] = await once(socket, "data");
  assert.match(answer, /^HTTP\/1.1 200 /);
  socket.write(head);
  let last = "";
  socket.on("data", (text) => {
    last += text;
  });
  await once(socket, "close");
  assert.match(last, /HTTP\/1.1 408 [\s\S]*took too long/);
  assert.equal(await server.goodClient(), 200);
});
