// A long history over the official SDK's own server: it comes on the stream of the session, and the answer to
// session/load on that of the connection, which is free and may be read first.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { agent as sdkAgent } from "@agentclientprotocol/sdk";
import { createNodeHttpHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { client, httpTransport, textOf } from "@parley/acp";

const updates = 3_000;

test("a long history arrives whole and in order, also from a server whose answer overtakes it (H11)", {
  timeout: 120_000,
}, async (t) => {
  const app = () =>
    sdkAgent({ name: "historian" })
      .onRequest("initialize", () => ({ protocolVersion: 1, agentCapabilities: { loadSession: true } }))
      .onRequest("session/load", async ({ params: { sessionId }, client: far }) => {
        for (let n = 0; n < updates; n++) {
          const content = { type: "text" as const, text: `${n} ${"x".repeat(1_000)}` };
          await far.notify("session/update", {
            sessionId,
            update: { sessionUpdate: "agent_message_chunk", content },
          });
        }
        return {};
      });
  const agents = new AcpServer({ createAgent: app });
  const server = createServer(createNodeHttpHandler(agents)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const agent = await client({ name: "reader", version: "1.0.0" }).connect(
    httpTransport(`http://127.0.0.1:${port}/acp`),
  );
  t.after(async () => {
    await agent.close();
    await agents.close();
    server.closeAllConnections();
    server.close();
  });
  const heard: number[] = [];
  const whole = Promise.withResolvers<void>();
  await agent.loadSession("s1", {
    cwd: "/",
    onUpdate(update) {
      // a message begins as a whole
      if (update.sessionUpdate === "agent_message")
        heard.push(Number.parseInt(textOf(update.content ?? []), 10));
      if (update.sessionUpdate === "agent_message_chunk")
        heard.push(Number.parseInt(textOf(update.content), 10));
      if (heard.length === updates) whole.resolve();
    },
  });
  await whole.promise;
  assert.deepEqual(heard, [...Array(updates).keys()]);
});
