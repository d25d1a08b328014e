// An agent behind a WebSocket server (`ws`) and a client on the platform's WebSocket, which also runs in a browser.

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

// the server listens on a port, not on a Unix socket
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
