// Answers the requests for WebSockets.

import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { refusal } from "@parley/acp/internal";
import type { SocketUpgrade } from "@parley/acp/server";
import { type WebSocket, WebSocketServer } from "ws";
import { BatchedSocket } from "./batched-socket.ts";
import { type HeartbeatOptions, heartbeat } from "./heartbeat.ts";

export interface UpgradeRequest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

export interface Sockets {
  /** `ticket` is chosen if the server chooses no subprotocol: browsers want one of those that they offered. */
  accept(from: UpgradeRequest, upgrade: SocketUpgrade, ticket: string | undefined): void;
  stop(): void;
}

export function webSockets(options: HeartbeatOptions & { readonly maxPayload: number }): Sockets {
  const chosen = new WeakMap<IncomingMessage, { readonly headers: string[]; readonly protocol?: string }>();
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxPayload,
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
  const heart = heartbeat(server.clients, options);
  return {
    accept({ request, socket, head }, upgrade, ticket) {
      const protocol = upgrade.protocol ?? ticket;
      const headers = Object.entries(upgrade.headers).map(([name, value]) => `${name}: ${value}`);
      chosen.set(request, { headers, ...(protocol !== undefined && { protocol }) });
      server.handleUpgrade(request, socket, head, (accepted: WebSocket) => {
        // `close` follows, and says enough
        accepted.on("error", () => undefined);
        heart.watch(accepted);
        upgrade.accept(new BatchedSocket(accepted, socket));
      });
    },
    stop: () => heart.stop(),
  };
}

/** Answers a request for a WebSocket that is refused, and closes its socket. */
export async function refuseUpgrade(response: Response, socket: Duplex): Promise<void> {
  const body = await response.text();
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? ""}`, "Connection: close"];
  for (const [name, value] of response.headers) lines.push(`${name}: ${value}`);
  lines.push(`Content-Length: ${Buffer.byteLength(body)}`, "", body);
  socket.end(lines.join("\r\n"));
}
