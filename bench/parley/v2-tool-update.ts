// Parley's typed wire of v2 in one process: validated, to JSON text, back, validated.

import { setImmediate as nextTurn } from "node:timers/promises";
import { memoryPair } from "@parley/acp/transport";
import { agentPeer, clientPeer } from "@parley/acp/v2";
import { runBatches } from "../memory-work.ts";
import { v2ToolUpdate } from "../messages.ts";

let handled = 0;

const [agentSide, clientSide] = memoryPair();
const agent = agentPeer(agentSide, {
  requests: {
    initialize: () => ({
      protocolVersion: 2,
      info: { name: "bench-agent", version: "1.0.0" },
      capabilities: {},
    }),
  },
});
const client = clientPeer(clientSide, {
  notifications: {
    "session/update": () => {
      handled += 1;
    },
  },
});

await client.request("initialize", {
  protocolVersion: 2,
  info: { name: "bench", version: "1.0.0" },
  capabilities: {},
});

await runBatches(async (from, count) => {
  for (let i = from; i < from + count; i += 1) {
    const full = agent.notify("session/update", v2ToolUpdate(i));
    if (full !== undefined) await full;
  }
  // A microtask delivers what was sent in this turn, now and then a later turn does.
  while (handled < from + count) await nextTurn();
});
await client.close();
