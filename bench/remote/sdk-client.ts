// The official SDK's clients, with the `session/update` handler registered first (their best case).

import { client } from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { WebSocket } from "ws";
import type { BenchClient } from "../client-work.ts";
import { initializeParams, sessionId } from "../messages.ts";
import type { Address, Wire } from "./server-process.ts";

export async function connect({ url }: Address, wire: Wire): Promise<BenchClient> {
  let updates = 0;
  const app = client({ name: "bench" }).onNotification("session/update", () => {
    updates += 1;
  });
  const stream =
    wire === "http"
      ? createHttpStream(url)
      : // its type of a socket is narrower than the one of `ws`
        createWebSocketStream(url.replace(/^http/, "ws"), { WebSocket: WebSocket as never });
  const connection = app.connect(stream);
  await connection.agent.request("initialize", initializeParams());
  await connection.agent.request("session/new", { cwd: "/project", mcpServers: [] });
  return {
    prompt: (prompt) => connection.agent.request("session/prompt", { sessionId, prompt }),
    setMode: (modeId) => connection.agent.request("session/set_mode", { sessionId, modeId }),
    updates: () => updates,
    close: async () => {
      connection.close();
      await connection.closed;
    },
  };
}
