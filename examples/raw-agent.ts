// An agent on the raw version 1 wire. Started by raw-client.ts or by any ACP editor.

import { stdioTransport } from "@parley/acp/node";
import { agentPeer } from "@parley/acp/v1";

const client = agentPeer(stdioTransport(), {
  requests: {
    initialize: () => ({ protocolVersion: 1, agentInfo: { name: "example-agent", version: "1.0.0" } }),
    "session/new": () => ({ sessionId: crypto.randomUUID() }),
    async "session/prompt"({ sessionId, prompt }) {
      const words = prompt.flatMap((block) => (block.type === "text" ? block.text.split(" ") : []));
      for (const word of words.reverse()) {
        const content = { type: "text", text: `${word} ` } as const;
        await client.notify("session/update", {
          sessionId,
          update: { sessionUpdate: "agent_message_chunk", content },
        });
      }
      return { stopReason: "end_turn" };
    },
  },
});
