// A program: an agent that lists the tools of its servers as soon as a session is open. It is given the way by which it
// takes them, `http` or `stdio`; `never`, to take them and leave them; or `picky`, to open no session with any.
// It hosts the server "notes". The prompt "wait" waits until it is cancelled.

import { agent, RequestError } from "@parley/acp";
import { serveStdio } from "@parley/acp/node";
import { mcpKit, tool } from "@parley/mcp";

const way = process.argv[2];

const search = tool({
  name: "search",
  description: "Finds notes that contain a word.",
  schema: { type: "object", properties: { word: { type: "string" } }, required: ["word"] },
  run: ({ word }) => ["Buy milk", "Call the bank"].filter((note) => note.includes(word)).join("; "),
});

await serveStdio(
  agent({
    name: "taker",
    version: "1.0.0",
    mcp: mcpKit(),
    mcpServers: { notes: [search] },
    mcpCapabilities: { http: way === "http", sse: false },
    session: {
      open({ mcpServers }) {
        if (way === "picky" && mcpServers.length > 0)
          throw RequestError.invalidParams("no servers", "/mcpServers");
        if (way === "http" || way === "stdio")
          for (const server of mcpServers)
            void server.connect().then((channel) => channel.request("tools/list"));
      },
    },
    async prompt(turn) {
      if (turn.text === "wait")
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
      else await turn.say("Hello.");
    },
  }),
);
