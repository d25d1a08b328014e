// A program: the official SDK's test agent behind the SDK's server, over HTTP and WebSocket. It prints its address and ends
// with its input. Arguments: the version, "logged-in", "port=NUMBER", and "token=WORD" to require a header and a cookie.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import {
  createNodeHttpHandler,
  createNodeWebSocketUpgradeHandler,
} from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import { WebSocketServer } from "ws";
import { connectorOf } from "./app-sdk-apps.ts";

const argument = (name: string) =>
  process.argv.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
const token = argument("token");
const connect = await connectorOf(process.argv[2]);
const agents = new AcpServer({ createAgent: () => ({ connect }) });
const answer = createNodeHttpHandler(agents);
const sockets = new WebSocketServer({ noServer: true });
const upgrade = createNodeWebSocketUpgradeHandler(agents, sockets);

/** Why a request is not for the agent, as a status. */
function refusal({ url, method, headers }: IncomingMessage): 401 | 403 | 404 | undefined {
  if (url !== "/acp") return 404;
  if (token === undefined) return undefined;
  if (headers.authorization !== `Bearer ${token}`) return 401;
  const isFirst = method === "POST" && headers["acp-connection-id"] === undefined;
  const isSocket = headers.upgrade !== undefined;
  return isFirst || isSocket || headers.cookie === "lane=7" ? undefined : 403;
}

const server = createServer((request, response) => {
  const status = refusal(request);
  if (token !== undefined) response.setHeader("Set-Cookie", "lane=7; Path=/acp; HttpOnly");
  if (status === undefined) answer(request, response);
  else
    response
      .writeHead(status, { "content-type": "text/plain" })
      .end(`no entry for ${String(request.headers.authorization)}`);
});
server.on("upgrade", (request, socket, head) => {
  const status = refusal(request);
  if (status === undefined) upgrade(request, socket, head);
  else socket.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
});
server.listen(Number(argument("port") ?? 0), "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}/acp\n`);
});
process.stdin.resume().on("end", () => {
  server.closeAllConnections();
  void server.close();
  void agents.close().then(() => process.exit(0));
});
