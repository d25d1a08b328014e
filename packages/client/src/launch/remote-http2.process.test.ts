// Remote agents over HTTP/2 and over HTTP/1.1, with certificates and proxies. Alone in its process, because it changes what the
// process trusts and its environment.
// Needs a process of its own: it sets HTTPS_PROXY when it is loaded.

import assert from "node:assert/strict";
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { createSecureServer, type Http2ServerRequest, type ServerHttp2Stream } from "node:http2";
import { type AddressInfo, connect as connectSocket, createServer, type Socket } from "node:net";
import { beforeEach, type TestContext, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { agent as agentOf, client, httpTransport } from "@parley/acp";
import { launchAgent, type RemoteEntry } from "@parley/client/launch";
import { type Gateway, type GatewayOptions, startGateway } from "@parley/gateway";
import { certificate } from "../../../gateway/test/support/certificate.ts";
import { patience } from "../../test/support/managed-probe.ts";
import { connectAgent } from "../index.ts";
import { remoteFetch } from "./remote-fetch.ts";

const definition = { name: "test", version: "1.0.0" };
const trusted = certificate("agents.example.org", "direct.example.org", "far.example.org");
setDefaultCACertificates([...getCACertificates(), trusted.cert]);

/** What the servers of this process have seen, by the version of HTTP. */
const seen = { http1: 0, http2: 0, sessions: new Set<ServerHttp2Stream["session"]>() };
subscribe("http.server.request.start", () => {
  seen.http1++;
});
subscribe("http2.server.stream.start", (message) => {
  const { stream } = message as { stream: ServerHttp2Stream };
  seen.http2++;
  seen.sessions.add(stream.session);
});
beforeEach(() => {
  Object.assign(seen, { http1: 0, http2: 0, sessions: new Set() });
});

/** Asked by each client that takes a proxy: addresses of CONNECT. */
const asked: string[] = [];
let behindProxy = 0;
const joined = new Set<Socket>();
const proxy = createServer((socket) => {
  socket.once("data", (bytes) => {
    const [, target = ""] = String(bytes).split(" ");
    asked.push(target);
    const far: Socket = connectSocket(behindProxy, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(far).pipe(socket);
      joined.add(socket).add(far);
    });
    for (const end of [socket, far]) end.on("error", () => end.destroy());
  });
});
proxy.unref().listen(0, "127.0.0.1");
await once(proxy, "listening");
// without a scheme, as many write it
process.env["HTTPS_PROXY"] = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
process.env["HTTP_PROXY"] = process.env["HTTPS_PROXY"];
process.env["NO_PROXY"] = "direct.example.org";

async function serve(
  t: TestContext,
  prompt: Parameters<typeof agentOf>[0]["prompt"],
  options: Partial<GatewayOptions> = {},
): Promise<{ gateway: Gateway; entry: RemoteEntry }> {
  const served = agentOf({ name: "far", version: "1.0.0", prompt });
  const gateway = await startGateway({ connect: (transport) => served.connect(transport), ...options });
  t.after(() => gateway.close());
  return { gateway, entry: entryFor(gateway.url, gateway.token) };
}

function entryFor(url: string, token: string): RemoteEntry {
  const headers = { Authorization: `Bearer ${token}` };
  return { name: "far", origin: "config", transport: "http", url, headers };
}

for (const isEncrypted of [true, false]) {
  test(
    `20 sessions of one connection stream at once over ${isEncrypted ? "HTTP/2 with TLS" : "HTTP/1.1"}, and their questions are answered (H2, H6)`,
    patience,
    async (t) => {
      const count = 20;
      let waiting = 0;
      const all = Promise.withResolvers<void>();
      const { entry } = await serve(
        t,
        async (turn) => {
          await turn.say("ready, ");
          waiting++;
          if (waiting === count) all.resolve();
          await all.promise;
          const may = await turn.requestPermission("Go on?");
          await turn.say(may ? turn.text : "no");
        },
        isEncrypted ? { tls: trusted } : {},
      );
      const { agent: connection } = await launchAgent(entry, {
        definition: { ...definition, requestPermission: ({ options }) => options[0]?.optionId },
      });
      t.after(() => connection.close());
      const open = [...Array(count).keys()].map(async (n) => {
        const session = await connection.newSession({ cwd: "/" });
        assert.equal(await session.prompt(`turn ${n}`).text(), `ready, turn ${n}`);
      });
      await Promise.all(open);
      if (isEncrypted) assert.deepEqual([seen.http1, seen.sessions.size], [0, 1], "all on one socket");
      else assert.equal(seen.http2, 0);
      assert.deepEqual(asked, [], "this machine is reached without the proxy");
    },
  );
}

test(
  "a server that says goodbye to its HTTP/2 connections in a turn loses nothing: the client resumes (W4)",
  patience,
  async (t) => {
    const [begun, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { gateway, entry } = await serve(
      t,
      async (turn) => {
        await turn.say("before, ");
        begun.resolve();
        await gone.promise;
        await turn.say("meanwhile, ");
        if (await turn.requestPermission("Go on?")) await turn.say("after");
      },
      { tls: trusted },
    );
    const { agent: connection } = await launchAgent(entry, {
      definition: { ...definition, requestPermission: ({ options }) => options[0]?.optionId },
    });
    t.after(() => connection.close());
    const session = await connection.newSession({ cwd: "/" });
    const text = session.prompt("hello").text();
    await begun.promise;
    const [first] = gateway.connections;
    for (const http2 of seen.sessions) {
      http2?.goaway();
      http2?.destroy();
    }
    gone.resolve();
    assert.equal(await text, "before, meanwhile, after");
    assert.deepEqual(
      gateway.connections.map((each) => each.connectionId),
      [first?.connectionId],
    );
    assert.ok(seen.sessions.size > 1);
  },
);

test("an agent over HTTP/2 is reached again when its server was restarted (H18)", patience, async (t) => {
  const prompt: Parameters<typeof agentOf>[0]["prompt"] = (turn) => turn.say(turn.text);
  const { gateway, entry } = await serve(t, prompt, { tls: trusted });
  const gone = Promise.withResolvers<void>();
  const agent = await connectAgent(entry, {
    ...definition,
    onEvent: ({ kind }) => kind === "crashed" && gone.resolve(),
    asker: { newSession: async () => true },
  });
  t.after(() => agent.close());
  const session = await agent.newSession({ cwd: "/" });
  assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
  const { port, token } = gateway;
  await gateway.close();
  await serve(t, prompt, { tls: trusted, port, token });
  await gone.promise;
  assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
  assert.equal(seen.http1, 0);
});

test("headers and cookies go with every request over HTTP/2, and its end too (H15)", patience, async (t) => {
  const requests: string[] = [];
  const server = createSecureServer({ cert: trusted.cert, key: trusted.key });
  const ended = Promise.withResolvers<void>();
  const described = ({ method, headers, httpVersion }: Http2ServerRequest) =>
    `${httpVersion} ${method} ${headers["authorization"]} ${headers["cookie"] ?? "none"}`;
  server.on("request", async (request, response) => {
    requests.push(described(request));
    let body = "";
    for await (const text of request.setEncoding("utf8")) body += text;
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      return void response.write(": open\n\n");
    }
    if (request.method === "DELETE") {
      ended.resolve();
      return void response.writeHead(202).end();
    }
    const result = { protocolVersion: 1, agentCapabilities: {} };
    response.writeHead(200, {
      "content-type": "application/json",
      "acp-connection-id": "one",
      "set-cookie": "lane=7; Path=/acp; Secure; HttpOnly",
    });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(body).id, result }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/acp`;
  const { agent: connection } = await launchAgent(entryFor(url, "word"), { definition });
  await connection.close();
  await ended.promise;
  assert.deepEqual(requests.sort(), [
    "2.0 DELETE Bearer word lane=7",
    "2.0 GET Bearer word lane=7",
    "2.0 POST Bearer word none",
  ]);
  for (const session of seen.sessions) session?.destroy();
});

test(
  "a certificate that is not trusted, has another name, or is missing is told with what to do",
  patience,
  async (t) => {
    const own = await serve(t, () => undefined, { tls: certificate() });
    for (const transport of ["http", "websocket"] as const)
      await assert.rejects(launchAgent({ ...own.entry, transport }, { definition }), {
        kind: "unreachable",
        message: /^far: .*self-signed certificate/,
        hint: /does not trust the certificate.*NODE_EXTRA_CA_CERTS/,
      });
    const other = await serve(t, () => undefined, { tls: trusted, host: "127.0.0.2" });
    await assert.rejects(launchAgent(other.entry, { definition }), { hint: /for another name/ });
    const plain = await serve(t, () => undefined);
    const url = plain.entry.url.replace("http:", "https:");
    await assert.rejects(launchAgent({ ...plain.entry, url }, { definition }), {
      hint: /does not speak TLS at this port: try http:\/\//,
    });
  },
);

test("HTTPS_PROXY is used for other machines, and NO_PROXY says for which not", patience, async (t) => {
  const { gateway } = await serve(t, (turn) => turn.say(turn.text), {
    tls: trusted,
    allowedHosts: ["agents.example.org", "agents.example.org:443"],
  });
  behindProxy = gateway.port;
  const entry = entryFor("https://agents.example.org/acp", gateway.token);
  const { agent: connection } = await launchAgent(entry, { definition });
  const session = await connection.newSession({ cwd: "/" });
  assert.equal(await session.prompt("hello").text(), "hello");
  await connection.close();
  assert.ok(asked.length > 0 && asked.every((address) => address === "agents.example.org:443"));
  assert.equal(seen.http1, 0, "HTTP/2 through the proxy");
  const before = asked.length;
  const direct = entryFor("https://direct.example.org/acp", gateway.token);
  await assert.rejects(launchAgent(direct, { definition }), { kind: "unreachable" });
  assert.equal(asked.length, before);
});

test(
  "a socket of HTTP/2 that is dead without a word is left, and nothing is lost (F14)",
  patience,
  async (t) => {
    const [begun, stalled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { gateway } = await serve(
      t,
      async (turn) => {
        await turn.say("before, ");
        begun.resolve();
        await stalled.promise;
        await turn.say("meanwhile, ");
        if (await turn.requestPermission("Go on?")) await turn.say("after");
      },
      { tls: trusted, allowedHosts: ["far.example.org", "far.example.org:443"] },
    );
    behindProxy = gateway.port;
    const { headers } = entryFor("", gateway.token);
    const transport = httpTransport("https://far.example.org/acp", {
      ...(headers && { headers }),
      fetch: remoteFetch,
      silenceMs: 300,
      backoffMs: 1,
    });
    const app = client({ ...definition, requestPermission: ({ options }) => options[0]?.optionId });
    await using connection = await app.connect(transport);
    const session = await connection.newSession({ cwd: "/" });
    const text = session.prompt("hello").text();
    await begun.promise;
    for (const socket of joined) socket.unpipe().pause();
    stalled.resolve();
    assert.equal(await text, "before, meanwhile, after");
    assert.equal(gateway.connections.length, 1);
    for (const socket of joined) socket.destroy();
  },
);
