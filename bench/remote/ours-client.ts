// Clients on the typed wire of v1, which resume after a cut as by default.

import { httpTransport, type Transport, webSocketTransport } from "@parley/acp";
import { clientPeer } from "@parley/acp/v1";
import { WebSocket } from "ws";
import type { BenchClient } from "../client-work.ts";
import { initializeParams, sessionId } from "../messages.ts";
import type { Address, Wire } from "./server-process.ts";

export function transportTo({ url, token }: Address, wire: Wire): Transport {
  const headers = { authorization: `Bearer ${token}` };
  if (wire === "http") return httpTransport(url, { headers });
  return webSocketTransport(
    (protocols) =>
      new WebSocket(url.replace(/^http/, "ws"), protocols, { headers, perMessageDeflate: false }),
  );
}

export async function connect(address: Address, wire: Wire): Promise<BenchClient> {
  let updates = 0;
  const peer = clientPeer(transportTo(address, wire), {
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
