// A client gives an agent a tool. The agent lists and calls it, and the client learns that it does.

import { agent, client, textOf } from "@parley/acp";
import type { ContentBlock } from "@parley/acp/model";
import { mcpKit, tool } from "@parley/mcp";

const helper = agent({
  name: "helper",
  version: "1.0.0",
  unstable: ["mcp_over_acp"],
  async prompt(turn) {
    const [server] = turn.session.mcpServers;
    if (server === undefined) return;
    await using tools = await server.connect();
    const city = { city: turn.text };
    const result = await tools.request("tools/call", { name: "temperature", arguments: city });
    const { content } = result as { content: readonly ContentBlock[] }; // of a tool
    await turn.say(textOf(content));
  },
});

const temperature = tool({
  name: "temperature",
  description: "The temperature in a city, in degrees.",
  schema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  run: ({ city }, { sessionId }) =>
    `${city}: 4 degrees, asked in this session: ${sessionId === session.sessionId}`,
});

const app = client({
  name: "weather",
  version: "1.0.0",
  mcp: mcpKit(),
  unstable: ["mcp_over_acp"],
  mcpReceipt: ({ state, server }) => console.log(`${server} is ${state}`),
});
await using connection = await app.connect(helper);
const session = await connection.newSession({ cwd: "/project", tools: [temperature] });
console.log(await session.prompt("Oslo").text());

// prints:
// weather is connected
// Oslo: 4 degrees, asked in this session: true
