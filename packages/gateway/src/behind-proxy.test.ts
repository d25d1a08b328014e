// A gateway behind a reverse proxy, as in a container.

import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import { type TestContext, test } from "node:test";
import { agent, client, httpTransport, type Transport, textOf, webSocketTransport } from "@parley/acp";
import { WebSocket } from "ws";
import { reverseProxy } from "../test/support/reverse-proxy.ts";
import { serveEcho, until } from "../test/support/served-echo.ts";

const patience = { timeout: 60_000 };

async function served(t: TestContext, idleMs: number, heartbeatMs: number) {
  const proxy = await reverseProxy(t, idleMs);
  const released = Promise.withResolvers<void>();
  const app = agent({
    name: "echo",
    version: "1.0.0",
    async prompt(turn) {
      await turn.say("begun ");
      if (turn.text === "wait") await released.promise;
      await turn.say(turn.text);
    },
  });
  const { gateway } = await serveEcho(t, {
    connect: (transport) => app.connect(transport),
    behindProxy: true,
    allowedHosts: [`127.0.0.1:${proxy.port}`],
    heartbeatMs,
  });
  proxy.target = gateway.port;
  return { proxy, gateway, url: `http://127.0.0.1:${proxy.port}/acp`, release: () => released.resolve() };
}

const kinds: Record<string, (url: string, token: string) => Transport> = {
  HTTP: (url, token) => httpTransport(url, { headers: { Authorization: `Bearer ${token}` }, backoffMs: 1 }),
  WebSocket: (url, token) =>
    webSocketTransport(
      (protocols) =>
        new WebSocket(url.replace("http", "ws"), protocols, {
          headers: { authorization: `Bearer ${token}` },
        }),
      { backoffMs: 1 },
    ),
};

for (const [kind, transport] of Object.entries(kinds)) {
  test(
    `over ${kind}, a proxy that cuts what is idle loses nothing, and what is sent comes at once (H12, W4)`,
    patience,
    async (t) => {
      const { proxy, gateway, url, release } = await served(t, 60, 15_000);
      await using connection = await client({ name: "test", version: "1.0.0" }).connect(
        transport(url, gateway.token),
      );
      const session = await connection.newSession({ cwd: "/" });
      const prompt = session.prompt("wait");
      let text = "";
      for await (const update of prompt) {
        if (update.sessionUpdate !== "agent_message_chunk") continue;
        text += textOf(update.content);
        if (text !== "begun ") continue;
        // the turn is silent for longer than the proxy allows
        const before = proxy.cuts;
        await until(() => proxy.cuts > before + 2, "the proxy cuts what is idle");
        release();
      }
      assert.equal(text, "begun wait");
      assert.equal((await prompt).stopReason, "end_turn");
      assert.equal(gateway.connections.length, 1, "it is the same connection");
    },
  );

  test(`over ${kind}, heartbeats keep a proxy from cutting (H12, W5)`, patience, async (t) => {
    const { proxy, gateway, url } = await served(t, 1_000, 50);
    await using connection = await client({ name: "test", version: "1.0.0" }).connect(
      transport(url, gateway.token),
    );
    const session = await connection.newSession({ cwd: "/" });
    const before = proxy.chunks;
    // at most a few with each heartbeat: longer than the proxy allows
    await until(() => proxy.chunks > before + 100, "heartbeats go through the proxy");
    assert.equal(proxy.cuts, 0);
    assert.equal(await session.prompt("hello").text(), "begun hello");
  });
}

test("failed logins count for the address that the proxy has seen, whatever the client says (TH28)", async (t) => {
  const { url } = await served(t, 60_000, 15_000);
  const status = (localAddress: string, n: number) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { authorization: "Bearer x", "x-forwarded-for": `192.0.2.${n}` };
      const request = httpRequest(url, { localAddress, headers, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      request.on("error", reject);
      request.end();
    });
  for (let n = 0; n < 10; n++) assert.equal(await status("127.0.0.1", n), 401);
  assert.equal(await status("127.0.0.1", 10), 429);
  assert.equal(await status("127.0.0.2", 0), 401, "another client of the same proxy");
});
