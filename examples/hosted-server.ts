// An agent hosts an MCP server, and a client asks it without a session.

import { agent, client, textOf } from "@parley/acp";
import type { ContentBlock } from "@parley/acp/model";
import { mcpKit, tool } from "@parley/mcp";

const notes = ["Buy milk", "Call the bank", "Milk the cow"];
const search = tool({
  name: "search",
  description: "Finds notes that contain a word.",
  schema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  run: ({ word }) => notes.filter((note) => note.toLowerCase().includes(word)).join("; "),
});

const keeper = agent({
  name: "note-keeper",
  version: "1.0.0",
  mcp: mcpKit(),
  mcpServers: { notes: [search] },
  prompt: (turn) => turn.say("Ask my notes."),
});

await using connection = await client({ name: "reader", version: "1.0.0" }).connect(keeper);
console.log(connection.mcpServers);
await using server = connection.mcp("notes");
const result = await server.request("tools/call", { name: "search", arguments: { word: "milk" } });
console.log(textOf((result as { content: readonly ContentBlock[] }).content));

// prints:
// [ 'notes' ]
// Buy milk; Milk the cow
