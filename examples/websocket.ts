// An agent behind a WebSocket server (`ws`), and a client on the platform's WebSocket, as in a browser.

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { agent, client, webSocketTransport } from "@parley/acp";
import { WebSocketServer } from "ws";

const echo = agent({ name: "echo", version: "1.0.0", prompt: ({ text, say }) => say(text) });

const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
server.on("connection", (socket) => echo.connect(webSocketTransport(socket)));
await once(server, "listening");
const { port } = server.address() as AddressInfo; // as: it listens on a port, not on a Unix socket

const socket = new WebSocket(`ws://127.0.0.1:${port}`);
const connection = await client({ name: "example-client", version: "1.0.0" }).connect(
  webSocketTransport(socket),
);
const session = await connection.newSession({ cwd: "/project" });
console.log(await session.prompt("Over a socket.").text());
await connection.close();
server.close();

// prints:
// Over a socket.
