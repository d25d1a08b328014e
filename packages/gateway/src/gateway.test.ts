// A gateway as good clients see it: every protocol on one port, tokens, tickets, pages that are allowed.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { test } from "node:test";
import { agent, client, httpTransport, type Transport, webSocketTransport } from "@parley/acp";
import { conductor, proxy } from "@parley/acp/proxy";
import { memoryPair } from "@parley/acp/transport";
import { GatewayOptionError, startGateway } from "@parley/gateway";
import { WebSocket } from "ws";
import { certificate } from "../test/support/certificate.ts";
import { initialize, type ServedEcho, serveEcho, until } from "../test/support/served-echo.ts";
import { refusalLog } from "./guard/refusal-log.ts";

async function echoed(transport: Transport, words = "hello"): Promise<string> {
  await using connection = await client({ name: "test", version: "1.0.0" }).connect(transport);
  const session = await connection.newSession({ cwd: "/" });
  return await session.prompt(words).text();
}

function bearer({ gateway }: ServedEcho): { readonly Authorization: string } {
  return { Authorization: `Bearer ${gateway.token}` };
}

test("a client prompts over HTTP/1.1 and over a WebSocket on one port (H2, H3, W1)", async (t) => {
  const server = await serveEcho(t);
  const { url } = server.gateway;
  assert.equal(await echoed(httpTransport(url, { headers: bearer(server) })), "hello");
  const open = (protocols: string[]) =>
    new WebSocket(url.replace("http", "ws"), protocols, { headers: bearer(server) });
  assert.equal(await echoed(webSocketTransport(open)), "hello");
  assert.equal(server.gateway.connections.length, 0, "both have ended");
});

test("a chain is served like an agent: each connection has components of its own", async (t) => {
  let started = 0;
  const asking = proxy({
    name: "asking",
    version: "1.0.0",
    prompt: ({ content }) => ({ content: [...content, { type: "text", text: ", please" }] }),
  });
  const polite = () => {
    started += 1;
    const [near, far] = memoryPair();
    asking.connect(far);
    return near;
  };
  const echo = agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) });
  const chain = conductor([polite, echo]);
  const server = await serveEcho(t, { connect: (transport) => chain.connect(transport) });
  const { url } = server.gateway;
  assert.equal(await echoed(httpTransport(url, { headers: bearer(server) })), "hello, please");
  const open = (protocols: string[]) =>
    new WebSocket(url.replace("http", "ws"), protocols, { headers: bearer(server) });
  assert.equal(await echoed(webSocketTransport(open)), "hello, please");
  assert.equal(started, 2);
  await chain.close();
  assert.equal(server.gateway.connections.length, 0, "both have ended");
});

test("line breaks in a message neither end its event nor begin another one (N252)", async (t) => {
  const server = await serveEcho(t);
  const words = 'a\n\ndata: {"id":1}\r\rid: 7\r\n\u2028event: x\0';
  const transport = httpTransport(server.gateway.url, { headers: bearer(server) });
  assert.equal(await echoed(transport, words), words);
});

test("a turn goes on while its WebSocket is cut, and the client gets what it missed (W4)", async (t) => {
  const [begun, cut] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = agent({
    name: "slow",
    version: "1.0.0",
    async prompt(turn) {
      await turn.say("before, ");
      begun.resolve();
      await cut.promise;
      await turn.say("meanwhile, ");
      await turn.say("after");
    },
  });
  const server = await serveEcho(t, { connect: (transport) => slow.connect(transport) });
  const sockets: WebSocket[] = [];
  const open = (protocols: string[]) => {
    const url = server.gateway.url.replace("http", "ws");
    const socket = new WebSocket(url, protocols, { headers: bearer(server) });
    sockets.push(socket);
    return socket;
  };
  const app = client({ name: "test", version: "1.0.0" });
  await using connection = await app.connect(webSocketTransport(open, { backoffMs: 1 }));
  const session = await connection.newSession({ cwd: "/" });
  const text = session.prompt("hello").text();
  await begun.promise;
  sockets[0]?.terminate();
  cut.resolve();
  assert.equal(await text, "before, meanwhile, after");
  assert.ok(sockets.length > 1);
});

test("HTTP/2 without TLS is served to those who begin with it, event streams too (H2)", async (t) => {
  const server = await serveEcho(t);
  const opened = await server.call2({ body: initialize });
  assert.equal(opened.status, 200);
  assert.equal(JSON.parse(opened.body).result.protocolVersion, 1);
  const session = connectHttp2(`http://${server.host}`);
  t.after(() => session.destroy());
  const stream = session.request({
    ":path": "/acp",
    accept: "text/event-stream",
    authorization: bearer(server).Authorization,
    "acp-connection-id": opened.headers["acp-connection-id"],
  });
  const [head] = await once(stream, "response");
  assert.equal(head[":status"], 200);
  const [first] = await once(stream.setEncoding("utf8"), "data");
  assert.match(first, /^: /, "the head of a stream does not wait for its first event");
  assert.equal(server.gateway.connections[0]?.isAttached, true);
  stream.close();
  await until(() => server.gateway.connections[0]?.isAttached === false, "a reader that goes is noticed");
});

test("with a certificate, HTTP/2, HTTP/1.1 and WebSocket are served over TLS, and nothing else (H2, TH18)", async (t) => {
  const tls = certificate();
  const server = await serveEcho(t, { tls });
  const { url, port, token } = server.gateway;
  assert.match(url, /^https:/);
  const ca = tls.cert;
  const session = connectHttp2(`https://localhost:${port}`, { ca });
  t.after(() => session.destroy());
  const head = { ":method": "POST", ":path": "/acp", "content-type": "application/json" };
  const stream = session.request({ ...head, authorization: `Bearer ${token}` });
  stream.end(initialize);
  const [answer] = await once(stream, "response");
  assert.equal(answer[":status"], 200);
  assert.equal(session.alpnProtocol, "h2");
  const request = httpsRequest(url, { ca, agent: false });
  request.end();
  const [response] = await once(request, "response");
  assert.deepEqual([response.statusCode, response.httpVersion], [401, "1.1"]);
  response.resume();
  const open = (protocols: string[]) =>
    new WebSocket(url.replace("https", "wss"), protocols, { ca, headers: bearer(server) });
  assert.equal(await echoed(webSocketTransport(open)), "hello");
  const plain = await server.raw(`GET /livez HTTP/1.1\r\nHost: ${server.host}\r\n\r\n`);
  assert.match(plain, /^HTTP\/1.1 400 [\s\S]*speaks TLS/);
});

test("the option that a gateway does not accept is named in the error", async () => {
  const connect = () => ({ close: async () => undefined });
  for (const [option, value] of [
    ["host", "0.0.0.0"],
    ["token", "short"],
    ["allowedOrigins", ["*"]],
    ["allowedHosts", ["a b"]],
  ] as const) {
    const failure = await startGateway({ connect, [option]: value }).catch((error: unknown) => error);
    assert.ok(failure instanceof GatewayOptionError && failure instanceof TypeError, option);
    assert.equal(failure.option, option);
    assert.equal(failure.message, `startGateway: ${failure.reason}`);
  }
});

test("an address that other machines reach is not served without encryption, and no weak token is taken (TH18)", async () => {
  const connect = () => ({ close: async () => undefined });
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "agents.example.org"])
    await assert.rejects(startGateway({ connect, host }), /plain text; give a certificate/);
  await assert.rejects(startGateway({ connect, token: "short" }), /at least 32 characters, got 5/);
  await assert.rejects(startGateway({ connect, token: "a b".repeat(20) }), /must consist of/);
  for (const origin of [
    "*",
    "null",
    "app.example.org",
    "https://app.example.org/",
    "https://*.example.org/x",
  ])
    await assert.rejects(startGateway({ connect, allowedOrigins: [origin] }), /expected origins such as/);
  for (const name of [
    "https://agents.example.org",
    "agents.example.org/acp",
    "a b",
    "me@agents.example.org",
    "",
  ])
    await assert.rejects(startGateway({ connect, allowedHosts: [name] }), /expected names such as/);
  const behind = await startGateway({
    connect,
    host: "0.0.0.0",
    behindProxy: true,
    allowedHosts: ["agents.example.org"],
  });
  await behind.close();
});

test("a proxy says who calls, so that failed logins are counted by client (TH28)", async (t) => {
  const server = await serveEcho(t, { behindProxy: true, allowedHosts: ["agents.example.org"] });
  const from = (address: string) =>
    server.call({
      body: initialize,
      headers: {
        host: "agents.example.org",
        authorization: "Bearer x",
        "x-forwarded-for": `10.0.0.1, ${address}`,
      },
    });
  for (let n = 0; n < 10; n++) assert.equal((await from("192.0.2.1")).status, 401);
  assert.equal((await from("192.0.2.1")).status, 429);
  assert.equal((await from("192.0.2.2")).status, 401);
  // what is no address counts for the proxy itself, and is not remembered
  for (let n = 0; n < 10; n++) assert.equal((await from(`${n}`.repeat(1_000))).status, 401);
  assert.equal((await from("unknown")).status, 429);
});

test("a port that ssh forwards from another number is served: names of this machine may have any port (TH19)", async (t) => {
  const server = await serveEcho(t);
  for (const host of ["127.0.0.1:9000", "localhost:9000", "[::1]:65535"])
    assert.equal((await server.call({ body: initialize, headers: { host } })).status, 200, host);
  const { status, body } = await server.call({ body: initialize, headers: { host: "evil.example:9000" } });
  assert.equal(status, 421);
  assert.match(body, /--allow-host NAME:PORT/);
});

test("refusals are logged with address and reason, once in ten seconds, and without the token (TH28)", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const lines: unknown[] = [];
  const note = refusalLog((level, message, fields) => lines.push([level, message, fields]));
  const wrong = { address: "192.0.2.1", status: 401, reason: "no token" };
  for (let n = 0; n < 5; n++) note(wrong);
  note({ ...wrong, address: "192.0.2.2" });
  assert.deepEqual(lines, [
    ["warn", "a request was refused", wrong],
    ["warn", "a request was refused", { ...wrong, address: "192.0.2.2" }],
  ]);
  t.mock.timers.tick(10_000);
  assert.deepEqual(lines.slice(2), [["warn", "a request was refused", { ...wrong, times: 4 }]]);
  note(wrong);
  assert.equal(lines.length, 4);
  for (let n = 0; n < 2_000; n++) note({ ...wrong, address: `10.0.${n >> 8}.${n & 255}` });
  assert.ok(lines.length < 1_100, "many addresses share a line");
  t.mock.timers.tick(10_000);
  assert.match(JSON.stringify(lines.at(-1)), /many addresses/);
});

test("a gateway logs whom it refuses, and when clients are cut off, come back and end", async (t) => {
  const lines: string[] = [];
  const server = await serveEcho(t, {
    log: (level, message, fields) => lines.push(`${level} ${message} ${JSON.stringify(fields)}`),
  });
  await server.call({ body: initialize, headers: { authorization: "Bearer wrong-token" } });
  assert.match(
    lines.join(),
    /warn a request was refused .*"address":"127.0.0.1","status":401.*not the token/,
  );
  const logged = (words: string) => until(() => lines.some((line) => line.includes(words)), words);
  const socket = new WebSocket(server.gateway.url.replace("http", "ws"), ["parley.resume"], {
    headers: { authorization: `Bearer ${server.gateway.token}` },
  });
  const [first] = (await once(socket, "message")) as [Buffer];
  socket.send(initialize);
  await once(socket, "message");
  socket.terminate();
  await logged("info the client was cut off");
  const { connectionId } = JSON.parse(String(first)).params;
  const again = new WebSocket(
    server.gateway.url.replace("http", "ws"),
    ["parley.resume", `parley.connection.${connectionId}`],
    { headers: { authorization: `Bearer ${server.gateway.token}` } },
  );
  await once(again, "message");
  again.send('{"jsonrpc":"2.0","method":"_parley.dev/resume","params":{"received":1}}');
  await logged("info the client is back");
  again.close(1000);
  await logged("info the connection has ended");
  assert.ok(!lines.join().includes(server.gateway.token) && !lines.join().includes("wrong-token"));
});

test("a balancer is told without a token whether new clients are taken, and when the server is going", async (t) => {
  const server = await serveEcho(t);
  const state = async (path: string) => {
    const { status, body } = await server.call({
      method: "GET",
      path,
      headers: { authorization: undefined },
    });
    return [path, status, body];
  };
  for (const path of ["/livez", "/readyz"]) assert.deepEqual(await state(path), [path, 200, "ok\n"]);
  server.gateway.stopAccepting();
  for (const path of ["/livez", "/readyz"]) assert.deepEqual(await state(path), [path, 503, "stopping\n"]);
});

test("the log names the address of a client that was let in, and its sessions", async (t) => {
  const lines: Record<string, unknown>[] = [];
  const server = await serveEcho(t, {
    behindProxy: true,
    log: (_, message, fields) => lines.push({ message, ...fields }),
  });
  const headers = { ...bearer(server), "X-Forwarded-For": "192.0.2.7" };
  await using connection = await client({ name: "test", version: "1.0.0" }).connect(
    httpTransport(server.gateway.url, { headers }),
  );
  const { sessionId } = await connection.newSession({ cwd: "/" });
  const [{ connectionId } = { connectionId: "" }] = server.gateway.connections;
  const who = { connectionId, address: "192.0.2.7" };
  assert.deepEqual(lines, [
    { message: "a client has connected", ...who },
    { message: "a session was opened", ...who, sessionId, by: "session/new" },
  ]);
});

test("a name with a port of its own is the address for clients, on all interfaces too", async (t) => {
  const tls = certificate();
  const addresses = [
    [{ host: "0.0.0.0", tls, allowedHosts: ["agents.example.org:443"] }, "https://agents.example.org/acp"],
    [{ host: "0.0.0.0", behindProxy: true, allowedHosts: ["localhost:48500"] }, "http://localhost:48500/acp"],
    [{ host: "0.0.0.0", tls, allowedHosts: ["agents.example.org"] }, "https://agents.example.org:PORT/acp"],
  ] as const;
  for (const [options, wanted] of addresses) {
    const { gateway } = await serveEcho(t, options);
    assert.equal(gateway.url, wanted.replace("PORT", String(gateway.port)));
  }
});

test("a page of an allowed origin may call, and only that one (TH19)", async (t) => {
  const origin = "https://app.example.org";
  const server = await serveEcho(t, { allowedOrigins: [origin] });
  const preflight = await server.call({ method: "OPTIONS", headers: { origin, authorization: undefined } });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers["access-control-allow-origin"], origin);
  const allowed = String(preflight.headers["access-control-allow-headers"]).toLowerCase().split(", ");
  const sent = ["acp-connection-id", "acp-session-id", "last-event-id", "parley-message", "parley-heartbeat"];
  assert.deepEqual(
    sent.filter((name) => !allowed.includes(name)),
    [],
    "a page can send what a client sends",
  );
  const { status, headers } = await server.call({ body: initialize, headers: { origin } });
  assert.deepEqual([status, headers["access-control-allow-origin"]], [200, origin]);
  assert.equal(headers["access-control-allow-credentials"], "true", "cookies of a load balancer");
  const exposed = String(headers["access-control-expose-headers"]).toLowerCase().split(", ");
  const own = Object.keys(headers).filter((name) => /^(?:acp|parley)-/.test(name));
  assert.deepEqual(own.sort(), ["acp-connection-id", "parley-resume"]);
  assert.deepEqual(
    own.filter((name) => !exposed.includes(name)),
    [],
    "a page can read what a client needs",
  );
  const refused = await server.call({
    body: initialize,
    headers: { origin: "https://app.example.org.evil" },
  });
  assert.deepEqual([refused.status, refused.headers["access-control-allow-origin"]], [403, undefined]);
});

test("a browser's WebSocket comes in with a ticket as its subprotocol, once (TH28)", async (t) => {
  const server = await serveEcho(t);
  const asked = await server.call({ path: "/acp/ticket" });
  assert.equal(asked.status, 200);
  const { protocol } = JSON.parse(asked.body);
  assert.match(protocol, /^parley\.ticket\.[\w-]{43}$/);
  const url = server.gateway.url.replace("http", "ws");
  const socket = new WebSocket(url, [protocol]);
  await once(socket, "open");
  assert.equal(socket.protocol, protocol, "a browser wants one of those that it offered");
  socket.close();
  const again = new WebSocket(url, [protocol]);
  const [error] = await once(again, "error");
  assert.match(error.message, /401/);
  const stranger = await server.call({ path: "/acp/ticket", headers: { authorization: undefined } });
  assert.equal(stranger.status, 401);
});

test("whoever has the token is the local user, whose sessions over stdio are listed and loaded", async (t) => {
  const echo = agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) });
  const [near, far] = memoryPair();
  echo.connect(far);
  const local = await client({ name: "local", version: "1.0.0" }).connect(near);
  const { sessionId } = await local.newSession({ cwd: "/" });
  await local.close();
  const server = await serveEcho(t, {
    connect: (transport, { principal }) => echo.connect(transport, { principal }),
  });
  const { url } = server.gateway;
  await using remote = await client({ name: "remote", version: "1.0.0" }).connect(
    httpTransport(url, { headers: bearer(server) }),
  );
  const { sessions } = await remote.listSessions();
  assert.deepEqual(
    sessions.map((session) => session.sessionId),
    [sessionId],
  );
  const session = await remote.loadSession(sessionId, { cwd: "/" });
  assert.equal(await session.prompt("hello").text(), "hello");
});

test("a gateway that stops accepts no new clients, and those that are there go on, on new sockets too", async (t) => {
  const server = await serveEcho(t);
  const { headers } = await server.call({ body: initialize });
  server.gateway.stopAccepting();
  const late = await server.call({ body: initialize });
  assert.equal(late.status, 503);
  assert.match(late.body, /the server shuts down/);
  const socket = new WebSocket(server.gateway.url.replace("http", "ws"), { headers: bearer(server) });
  const [error] = (await once(socket, "error")) as [Error];
  assert.match(error.message, /503/);
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "session/new",
    params: { cwd: "/", mcpServers: [] },
  });
  const names = { "acp-connection-id": String(headers["acp-connection-id"]) };
  assert.equal((await server.call({ body, headers: names })).status, 202);
});
