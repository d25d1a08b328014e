// An agent behind a WebSocket and a client that uses the WebSocket of the platform, with a trace of the wire.
// The server comes from the `ws` package; the client half runs in a browser as it is.

import type { AddressInfo } from "node:net";
import { webSocketTransport } from "@parley/acp";
import { agentPeer, clientPeer } from "@parley/acp/v1";
import { WebSocketServer } from "ws";

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
server.on("connection", (socket) => {
  agentPeer(webSocketTransport(socket), {
    requests: { initialize: () => ({ protocolVersion: 1 }) },
  });
});
await new Promise((resolve) => server.once("listening", resolve));

// a server on a port, not on a Unix socket
const { port } = server.address() as AddressInfo;
const agent = clientPeer(webSocketTransport(new WebSocket(`ws://127.0.0.1:${port}`)), {
  tap: (direction, text) => console.log(direction, text),
});
await agent.request("initialize", { protocolVersion: 1 });
await agent.close();
server.close();

// prints:
// out {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}
// in {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}
