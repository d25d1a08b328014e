// Prompts an agent on the raw wire and prints its output. Run: npx node --conditions=parley-source examples/raw-client.ts

import { fileURLToPath } from "node:url";
import { spawnTransport } from "@parley/acp/node";
import { clientPeer } from "@parley/acp/v1";

const program = fileURLToPath(new URL("raw-agent.ts", import.meta.url));
const transport = spawnTransport(process.execPath, ["--conditions=parley-source", program]);

const agent = clientPeer(transport, {
  notifications: {
    "session/update": ({ update }) => {
      if (update.sessionUpdate !== "agent_message_chunk" || update.content.type !== "text") return;
      process.stdout.write(update.content.text);
    },
  },
});

await agent.request("initialize", { protocolVersion: 1 });
const { sessionId } = await agent.request("session/new", { cwd: process.cwd(), mcpServers: [] });
const prompt = [{ type: "text" as const, text: "order. keeps wire The" }];
const { stopReason } = await agent.request("session/prompt", { sessionId, prompt });
console.log(`(${stopReason})`);
await agent.close();

// prints:
// The wire keeps order. (end_turn)
