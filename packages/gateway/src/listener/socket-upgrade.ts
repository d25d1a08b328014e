// Answers the requests for WebSockets.

import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { refusal, type SocketUpgrade } from "@parley/acp/server";
import { type WebSocket, WebSocketServer } from "ws";
import { BatchedSocket } from "./batched-socket.ts";

export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

/** `ticket` is chosen if the server chooses no subprotocol: browsers want one of those that they offered. */
export type AcceptSocket = (from: UpgradeRequest, upgrade: SocketUpgrade, ticket: string | undefined) => void;

/** More pings of a peer within this time are an attack. */
const maxPings = 1_000;
const pingWindowMs = 15_000;

/** Returns what accepts WebSockets. */
export function webSockets(maxPayload: number): AcceptSocket {
  const chosen = new WeakMap<IncomingMessage, { readonly headers: string[]; readonly protocol?: string }>();
  const server = new WebSocketServer({
    noServer: true,
    maxPayload,
    // a small message must not become a large one
    perMessageDeflate: false,
    // a peer that we close need not be polite
    ...{ closeTimeout: 1_000 },
    handleProtocols: (_, request) => chosen.get(request)?.protocol ?? false,
  });
  server.on("headers", (lines, request) => lines.push(...(chosen.get(request)?.headers ?? [])));
  // it answers with HTML otherwise
  server.on("wsClientError", ({ message }, socket) => {
    const words = `expected a request for a WebSocket of version 13: ${message}`;
    void refuseUpgrade(refusal(400, words, { "Sec-WebSocket-Version": "13" }), socket);
  });
  return ({ request, socket, head }, upgrade, ticket) => {
    const protocol = upgrade.protocol ?? ticket;
    const headers = Object.entries(upgrade.headers).map(([name, value]) => `${name}: ${value}`);
    chosen.set(request, { headers, ...(protocol !== undefined && { protocol }) });
    server.handleUpgrade(request, socket, head, (accepted: WebSocket) => {
      // `close` follows, and says enough
      accepted.on("error", () => undefined);
      closeWhenPingedTooOften(accepted);
      upgrade.accept(new BatchedSocket(accepted, socket));
    });
  };
}

function closeWhenPingedTooOften(socket: WebSocket): void {
  let [count, since] = [0, performance.now()];
  socket.on("ping", () => {
    const now = performance.now();
    if (now - since > pingWindowMs) [count, since] = [0, now];
    if (++count > maxPings) socket.close(1008, "too many pings");
  });
}

/** Answers a request for a WebSocket that is refused, and closes its socket. */
export async function refuseUpgrade(response: Response, socket: Duplex): Promise<void> {
  const body = await response.text();
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`, "Connection: close"];
  for (const [name, value] of response.headers) lines.push(`${name}: ${value}`);
  lines.push(`Content-Length: ${Buffer.byteLength(body)}`, "", body);
  socket.end(lines.join("\r\n"));
}
