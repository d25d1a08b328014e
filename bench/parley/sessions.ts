// Ten thousand sessions of client(), each with its listener, fed by an agent on the typed wire, in one process.

import { client } from "@parley/acp";
import { memoryPair } from "@parley/acp/transport";
import { agentPeer } from "@parley/acp/v1";
import { initializeResult, streams } from "../messages.ts";
import { heapPerSession, runSessions } from "../sessions-work.ts";

const [agentSide, clientSide] = memoryPair();
let opened = 0;
const agent = agentPeer(agentSide, {
  requests: {
    initialize: () => initializeResult(),
    "session/new": () => ({ sessionId: `session-${opened++}` }),
  },
});
const connected = await client({ name: "bench", version: "1.0.0", editions: ["v1"] }).connect(clientSide);
let handled = 0;

await runSessions({
  open: async () => {
    const session = await connected.newSession({ cwd: "/project" });
    session.onUpdate(() => {
      handled += 1;
    });
    return session;
  },
  heapPerSession,
  async send(sessionId, i) {
    const full = agent.notify("session/update", { ...streams.chunks(i), sessionId });
    if (full !== undefined) await full;
  },
  handled: () => handled,
});
await connected.close();
