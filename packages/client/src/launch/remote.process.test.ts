// Remote agents over HTTP and WebSocket.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { type TestContext, test } from "node:test";
import { agent as agentOf, webSocketTransport } from "@parley/acp";
import { launchAgent, type RemoteEntry } from "@parley/client/launch";
import { WebSocketServer } from "ws";
import { interopCommand } from "../../../acp/test/interop/agent-command.ts";
import { startServer } from "../../../acp/test/interop/server-process.ts";
import { patience } from "../../test/support/managed-probe.ts";
import { connectAgent, LaunchError } from "../index.ts";

const definition = { name: "test", version: "1.0.0" };
const cwd = tmpdir();

/** An agent behind a socket, for those who know the word. */
async function remote(t: TestContext) {
  const server = new WebSocketServer({
    host: "127.0.0.1",
    port: 0,
    verifyClient: ({ req }: { req: { headers: Record<string, unknown> } }) =>
      req.headers["authorization"] === "Bearer word",
  });
  await once(server, "listening");
  const sockets = new Set<{ terminate(): void }>();
  const far = agentOf({
    name: "far",
    version: "1.0.0",
    prompt: async (turn) => {
      await turn.say("from afar");
    },
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    far.connect(webSocketTransport(socket as never)); // it has more than is needed
  });
  const entry: RemoteEntry = {
    name: "far",
    origin: "config",
    transport: "websocket",
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    headers: { Authorization: "Bearer word" },
  };
  const cut = () => {
    for (const socket of sockets) socket.terminate();
  };
  t.after(() => {
    cut();
    server.close();
  });
  return { entry, cut };
}

test(
  "an agent that runs elsewhere is reached with its headers, and reached again when the line is cut",
  patience,
  async (t) => {
    const { entry, cut } = await remote(t);
    const events: string[] = [];
    const gone = Promise.withResolvers<void>();
    const agent = await connectAgent(entry, {
      ...definition,
      onEvent({ kind }) {
        events.push(kind);
        if (kind === "crashed") gone.resolve();
      },
      asker: { newSession: async () => true },
    });
    t.after(() => agent.close());
    const session = await agent.newSession({ cwd });
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    cut();
    await gone.promise;
    assert.equal((await session.prompt("hi").result).stopReason, "end_turn");
    assert.deepEqual(
      events.filter((kind) => kind !== "waiting"),
      ["connecting", "ready", "crashed", "connecting", "ready", "continued"],
    );
  },
);

test(
  "an address that refuses, that nobody listens on, or that cannot be one is told with what to do",
  patience,
  async (t) => {
    const { entry } = await remote(t);
    await assert.rejects(launchAgent({ ...entry, headers: {} }, { definition }), {
      kind: "unreachable",
      status: 401,
      message: /^far: GET ws:\/\/127\.0\.0\.1:\d+\/: got 401 Unauthorized, wanted 101$/,
      hint: /check the headers/,
    });
    // a proxy that does not pass on upgrades
    const plain = createServer((_, response) => response.writeHead(406).end());
    await once(plain.listen(0, "127.0.0.1"), "listening");
    t.after(() => plain.close());
    const { port } = plain.address() as AddressInfo;
    await assert.rejects(launchAgent({ ...entry, url: `ws://127.0.0.1:${port}/acp` }, { definition }), {
      kind: "unreachable",
      message: /got 406 Not Acceptable, wanted 101/,
      hint: /a proxy in front must pass on the headers Upgrade and Connection; or use http/,
    });
    await assert.rejects(launchAgent({ ...entry, url: "ws://127.0.0.1:1/" }, { definition }), {
      kind: "unreachable",
      message: /ECONNREFUSED/,
      hint: /check the address/,
    });
    await assert.rejects(launchAgent({ ...entry, url: "not a url" }, { definition }), {
      kind: "unreachable",
      hint: /correct the url/,
    });
    await assert.rejects(launchAgent({ ...entry, headers: { authorization: "wo\nrd" } }, { definition }), {
      kind: "unreachable",
      hint: /correct the url and the headers/,
    });
  },
);

test(
  "an agent in plain text on another machine is not even tried, unless that is wanted (H17, Q10)",
  patience,
  async () => {
    for (const [transport, url] of [
      ["websocket", "ws://agents.example.com/acp"],
      ["http", "http://agents.example.com/acp"],
    ] as const) {
      const entry: RemoteEntry = { name: "far", origin: "config", transport, url };
      await assert.rejects(launchAgent(entry, { definition }), {
        kind: "unreachable",
        message: /can be read and changed by anybody on the way/,
        hint: /forward a port with ssh .* an agent of the config file may have "allowPlainText": true/,
      });
    }
  },
);

const ways = (["http", "websocket"] as const).flatMap((transport) =>
  ["v1", "v2"].map((version) => ({ transport, version })),
);
for (const { transport, version } of ways) {
  test(
    `an agent behind the official SDK's server is reached with headers and cookies, and reached again when that was restarted (${transport}, ${version}, H15, H18)`,
    patience,
    async (t) => {
      const start = async (...args: string[]) => {
        const words = [version, "logged-in", "token=word", ...args];
        const server = await startServer(interopCommand("app-sdk-server.ts", ...words));
        t.after(() => server.end());
        return server;
      };
      const server = await start();
      const entry: RemoteEntry = {
        name: "web",
        origin: "config",
        transport,
        url: transport === "http" ? server.url : server.url.replace("http", "ws"),
        headers: { Authorization: "Bearer word" },
      };
      const events: string[] = [];
      const gone = Promise.withResolvers<void>();
      const agent = await connectAgent(entry, {
        ...definition,
        onEvent({ kind }) {
          events.push(kind);
          if (kind === "crashed") gone.resolve();
        },
        asker: { newSession: async () => true },
      });
      t.after(() => agent.close());
      const session = await agent.newSession({ cwd });
      assert.equal((await session.prompt("hi").result).stopReason, "max_tokens");
      server.end();
      await server.exited;
      await gone.promise;
      await start(`port=${new URL(server.url).port}`);
      assert.equal((await session.prompt("hi").result).stopReason, "max_tokens");
      const told = events.filter((kind) => kind !== "waiting");
      assert.deepEqual(told.slice(0, 5), ["connecting", "ready", "crashed", "connecting", "ready"]);
    },
  );
}

test(
  "an address over HTTP that refuses, or is no agent, is told with what to do, and without the headers",
  patience,
  async (t) => {
    const server = await startServer(interopCommand("app-sdk-server.ts", "v1", "token=word"));
    t.after(() => server.end());
    const entry: RemoteEntry = {
      name: "web",
      origin: "config",
      transport: "http",
      url: server.url,
      headers: { Authorization: "Bearer other-word" },
    };
    const refusal = async (changed: Partial<RemoteEntry>) => {
      const error: unknown = await launchAgent({ ...entry, ...changed }, { definition }).then(
        () => assert.fail("it was let in"),
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof LaunchError);
      assert.doesNotMatch(error.message + String(error.cause), /other-word/);
      return `${error.kind}: ${error.message}; ${error.hint}`;
    };
    assert.match(
      await refusal({}),
      /^unreachable: web: .*POST http.*\/acp: .*got 401 Unauthorized.*; check the headers/,
    );
    assert.match(
      await refusal({ url: `${server.url}/x` }),
      /^unreachable: .*got 404 Not Found.*; check the path/,
    );
    assert.match(
      await refusal({ url: "wss://127.0.0.1/" }),
      /^unreachable: .*use http:\/\/ or https:\/\/; correct the url/,
    );
    assert.match(await refusal({ headers: { "X-Key": "other-word\n." } }), /"X-Key" cannot be sent/);
    server.end();
    await server.exited;
    assert.match(await refusal({}), /^unreachable: .*ECONNREFUSED.*; check the address/);
  },
);
