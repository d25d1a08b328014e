// The floor of a server: the `ws` package and node:http by hand, without checks. It sends one frame per message, or
// events in pieces of 64 KiB.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import { promptResult, workOf } from "../agent-work.ts";
import { initializeResult, sessionId } from "../messages.ts";
import { serveUntilEnd } from "./server-process.ts";

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly prompt: { readonly type: string }[] };
}

/** Returns a promise when the client is slow. */
type Send = (message: object) => Promise<void> | undefined;

const highWater = 1024 * 1024;

async function prompt(id: number, blocks: { readonly type: string }[], send: Send): Promise<void> {
  const { params, count } = workOf(blocks);
  for (let i = 0; i < count; i += 1) {
    const full = send({ jsonrpc: "2.0", method: "session/update", params: params(i) });
    if (full !== undefined) await full;
  }
  void send({ jsonrpc: "2.0", id, result: promptResult() });
}

function answer({ id, method, params }: Request, send: Send): void {
  if (method === "session/prompt")
    void prompt(id, params.prompt, send); // cannot fail: no checks
  else if (method === "session/set_mode") void send({ jsonrpc: "2.0", id, result: {} });
  else void send({ jsonrpc: "2.0", id, result: { sessionId } });
}

function serveSocket(socket: WebSocket): void {
  const send: Send = (message) => {
    const text = JSON.stringify(message);
    if (socket.bufferedAmount < highWater) return void socket.send(text);
    return new Promise((resolve) => socket.send(text, () => resolve()));
  };
  socket.on("message", (data: Buffer) => answer(JSON.parse(data.toString()), send));
}

function eventSender(response: ServerResponse): Send {
  let text = "";
  const flush = () => {
    const piece = text;
    text = "";
    if (piece === "" || response.write(piece)) return undefined;
    return new Promise<void>((resolve) => response.once("drain", () => resolve()));
  };
  return (message) => {
    if (text === "") process.nextTick(flush);
    text += `data: ${JSON.stringify(message)}\n\n`;
    return text.length < 65_536 ? undefined : flush();
  };
}

const streams = new Map<string, Send>();
let connections = 0;

function serveRequest(request: IncomingMessage, response: ServerResponse): void {
  const id = String(request.headers["acp-connection-id"] ?? ++connections);
  if (request.method === "GET") {
    response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
    streams.set(id, eventSender(response));
    response.on("close", () => streams.delete(id));
    return;
  }
  let body = "";
  request.setEncoding("utf8").on("data", (text: string) => {
    body += text;
  });
  request.on("end", () => {
    const message: Request = JSON.parse(body);
    if (message.method === "initialize") {
      const result = JSON.stringify({ jsonrpc: "2.0", id: message.id, result: initializeResult() });
      response.writeHead(200, { "content-type": "application/json", "acp-connection-id": id }).end(result);
      return;
    }
    response.writeHead(202).end();
    const send = streams.get(id);
    if (send !== undefined) answer(message, send);
  });
}

const server = createServer(serveRequest);
new WebSocketServer({ server }).on("connection", serveSocket);
server.listen(0, "127.0.0.1", () => {
  serveUntilEnd({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/acp` });
});
