// The official SDK's server, as its documentation shows. PARLEY_BENCH_SDK=no-await leaves out the await before each
// notification.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { agent } from "@agentclientprotocol/sdk";
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { WebSocketServer } from "ws";
import { promptResult, workOf } from "../agent-work.ts";
import { initializeResult, sessionId } from "../messages.ts";
import { serveUntilEnd } from "./server-process.ts";

const awaits = process.env.PARLEY_BENCH_SDK !== "no-await";

const createAgent = () =>
  agent({ name: "bench-agent" })
    .onRequest("initialize", () => initializeResult())
    .onRequest("session/new", () => ({ sessionId }))
    .onRequest("session/set_mode", () => ({}))
    .onRequest("session/prompt", async ({ params: { prompt }, client }) => {
      const { params, count } = workOf(prompt);
      for (let i = 0; i < count; i += 1) {
        const sent = client.notify("session/update", params(i));
        if (awaits) await sent;
      }
      return promptResult();
    });

const agents = new AcpServer({ createAgent });
const server = createServer(createNodeHttpHandler(agents));
server.on("upgrade", createNodeWebSocketUpgradeHandler(agents, new WebSocketServer({ noServer: true })));
server.listen(0, "127.0.0.1", () => {
  serveUntilEnd({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/acp` });
});
