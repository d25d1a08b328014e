// Ten thousand sessions of the official SDK on one connection, in one process, over its own NDJSON streams, with
// one handler for all sessions.

import { type AgentContext, agent, client, ndJsonStream } from "@agentclientprotocol/sdk";
import { initializeParams, initializeResult, streams } from "../messages.ts";
import { heapPerSession, runSessions } from "../sessions-work.ts";

let opened = 0;
let handled = 0;
let context: AgentContext | undefined;

const agentApp = agent({ name: "bench-agent" })
  .onConnect((connection) => {
    context = connection.client;
  })
  .onRequest("initialize", () => initializeResult())
  .onRequest("session/new", () => ({ sessionId: `session-${opened++}` }));

const toAgent = new TransformStream<Uint8Array, Uint8Array>();
const toClient = new TransformStream<Uint8Array, Uint8Array>();
agentApp.connect(ndJsonStream(toClient.writable, toAgent.readable));
const connection = client({ name: "bench" })
  .onNotification("session/update", () => {
    handled += 1;
  })
  .connect(ndJsonStream(toAgent.writable, toClient.readable));
await connection.agent.request("initialize", initializeParams());

await runSessions({
  open: () => connection.agent.request("session/new", { cwd: "/project", mcpServers: [] }),
  heapPerSession,
  send: (sessionId, i) => context?.notify("session/update", { ...streams.chunks(i), sessionId }),
  handled: () => handled,
});
connection.close();
