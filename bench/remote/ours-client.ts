// Clients on the typed wire of v1, which resume after a cut as by default.

import { httpTransport, type Transport, webSocketTransport } from "@parley/acp";
import { WebSocket } from "ws";
import type { BenchClient } from "../client-work.ts";
import { wireClient } from "../parley/wire-client.ts";
import type { Address, Wire } from "./server-process.ts";

export function transportTo({ url, token }: Address, wire: Wire): Transport {
  const headers = { authorization: `Bearer ${token}` };
  if (wire === "http") return httpTransport(url, { headers });
  return webSocketTransport(
    (protocols) =>
      new WebSocket(url.replace(/^http/, "ws"), protocols, { headers, perMessageDeflate: false }),
  );
}

export function connect(address: Address, wire: Wire): Promise<BenchClient> {
  return wireClient(transportTo(address, wire));
}
