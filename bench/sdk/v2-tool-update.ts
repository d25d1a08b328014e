// The official SDK's draft v2 in its fastest mode: agent and client in one process, connected app to
// app, objects handed over without JSON.

import { setImmediate as nextTurn } from "node:timers/promises";
import { type AgentContext, agent, client } from "@agentclientprotocol/sdk/experimental/v2";
import { runBatches } from "../memory-work.ts";
import { v2ToolUpdate } from "../messages.ts";

let handled = 0;
let context: AgentContext | undefined;

const agentApp = agent({ name: "bench-agent" })
  .onConnect((connection) => {
    context = connection.client;
  })
  .onRequest("initialize", () => ({
    protocolVersion: 2,
    info: { name: "bench-agent", version: "1.0.0" },
    capabilities: {},
  }));

const connection = client({ name: "bench" })
  .onNotification("session/update", () => {
    handled += 1;
  })
  .connect(agentApp);

await connection.agent.request("initialize", {
  protocolVersion: 2,
  info: { name: "bench", version: "1.0.0" },
  capabilities: {},
});

await runBatches(async (from, count) => {
  for (let i = from; i < from + count; i += 1) await context?.notify("session/update", v2ToolUpdate(i));
  while (handled < from + count) await nextTurn();
});
connection.close();
