// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// A WebSocket server on the loopback interface, with a client of either kind.

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { WebSocketServer, WebSocket as WsSocket } from "ws";
import type { WebSocketLike } from "../../src/transport/websocket.ts";

export const clients = {
  ws: (url: string): WebSocketLike & { terminate?(): void } => new WsSocket(url),
  "the standard": (url: string): WebSocketLike => new WebSocket(url),
};

/** A server on a free port, one accepted socket and its client, which may still be connecting. */
export async function sockets(client: keyof typeof clients): Promise<{
  server: WebSocketServer;
  accepted: WsSocket;
  connecting: WebSocketLike;
  stop: () => Promise<void>;
}> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const connecting = clients[client](`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [accepted] = (await once(server, "connection")) as [WsSocket];
  const stop = async () => {
    for (const socket of server.clients) socket.terminate();
    server.close();
    await once(server, "close");
  };
  return { server, accepted, connecting, stop };
}

export async function opened(socket: WebSocketLike): Promise<void> {
  if (socket.readyState === 1) return;
  await new Promise<void>((resolve) => socket.addEventListener("open", resolve));
}
