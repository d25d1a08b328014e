// The same on the official SDK.

import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client, ndJsonStream } from "@agentclientprotocol/sdk";

const child = spawn(process.execPath, process.argv.slice(2), { stdio: ["pipe", "pipe", "inherit"] });
const app = client({ name: "bench" }).onNotification("session/update", ({ params }) => {
  if (params.update.sessionUpdate === "agent_message_chunk") process.stdout.write(params.update.content.text);
});
const { agent } = app.connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout)));
await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
const { sessionId } = await agent.request("session/new", { cwd: process.cwd(), mcpServers: [] });
await agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
child.stdin.end();
