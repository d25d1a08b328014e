// The client of the benchmarks on the typed wire of v1, over any transport.

import type { Transport } from "@parley/acp";
import { clientPeer } from "@parley/acp/v1";
import type { BenchClient } from "../client-work.ts";
import { initializeParams, sessionId } from "../messages.ts";

export async function wireClient(transport: Transport): Promise<BenchClient> {
  let updates = 0;
  const peer = clientPeer(transport, {
    // for the prompt of 64 MiB only, as the limits of the transport
    limits: { maxSentBytes: 512 * 2 ** 20 },
    notifications: {
      "session/update": () => {
        updates += 1;
      },
    },
  });
  await peer.request("initialize", initializeParams());
  await peer.request("session/new", { cwd: "/project", mcpServers: [] });
  return {
    prompt: (prompt) => peer.request("session/prompt", { sessionId, prompt }),
    setMode: (modeId) => peer.request("session/set_mode", { sessionId, modeId }),
    updates: () => updates,
    close: () => peer.close(),
  };
}
