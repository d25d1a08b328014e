// Starts an agent, sends a prompt and prints the updates. Run: npx node --conditions=parley-source examples/client.ts

import { client, textOf } from "@parley/acp";
import { spawnTransport } from "@parley/acp/node";

const transport = spawnTransport(process.execPath, ["--conditions=parley-source", "examples/agent.ts"]);
const agent = await client({ name: "example-client", version: "1.0.0" }).connect(transport);
const session = await agent.newSession({ cwd: process.cwd() });

const prompt = session.prompt("LICENSE");
for await (const update of prompt) {
  if (update.sessionUpdate === "tool_call_update" && update.status) {
    console.log(`[${update.title ?? "it"}: ${update.status}]`);
  }
  if (update.sessionUpdate === "agent_message_chunk") process.stdout.write(textOf(update.content));
}
console.log(` (${(await prompt).stopReason})`);
await agent.close();

// prints:
// [Read LICENSE: pending]
// [it: in_progress]
// [it: completed]
// LICENSE has 202 lines. (end_turn)
