// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Serves a remoteServer() over node:http and `ws` on the loopback interface.

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream as NodeReadableStream } from "node:stream/web";
import { WebSocketServer } from "ws";
import type { RemoteServer } from "../../src/peer/http/remote-server.ts";

export interface RemoteHost {
  readonly url: string;
  readonly socketUrl: string;
  /** Breaks all connections of the clients. */
  cut(): void;
  /** Ends as a process that crashes: the clients are told nothing. */
  crash(): Promise<void>;
  stop(): Promise<void>;
}

/** `seen` is told of every request. Port 0 is any free one. */
export async function hostRemote(
  remote: RemoteServer,
  seen: (request: IncomingMessage) => void = () => undefined,
  port = 0,
): Promise<RemoteHost> {
  const server = createServer((request, response) => {
    seen(request);
    void answer(remote, request, response);
  });
  const sockets = new WebSocketServer({ noServer: true });
  const chosen = new WeakMap<IncomingMessage, { headers: Record<string, string>; protocol?: string }>();
  sockets.options.handleProtocols = (_offered, request) => chosen.get(request)?.protocol ?? false;
  sockets.on("headers", (lines, request) => {
    for (const [name, value] of Object.entries(chosen.get(request)?.headers ?? {}))
      lines.push(`${name}: ${value}`);
  });
  server.on("upgrade", async (request, socket, head) => {
    seen(request);
    const upgrade = await remote.upgrade(asRequest(request));
    if (upgrade instanceof Response)
      return socket.end(
        `HTTP/1.1 ${upgrade.status} Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
      );
    const { headers, protocol } = upgrade;
    chosen.set(request, { headers, ...(protocol !== undefined && { protocol }) });
    sockets.handleUpgrade(request, socket, head, (accepted) => upgrade.accept(accepted));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const where = `127.0.0.1:${(server.address() as AddressInfo).port}/acp`;
  const cut = () => {
    server.closeAllConnections();
    for (const socket of sockets.clients) socket.terminate();
  };
  const crash = async () => {
    const closed = once(server, "close");
    server.close();
    cut();
    await closed;
  };
  return {
    url: `http://${where}`,
    socketUrl: `ws://${where}`,
    cut,
    crash,
    async stop() {
      await remote.close();
      await crash();
    },
  };
}

function asRequest(message: IncomingMessage, signal?: AbortSignal): Request {
  const headers = new Headers();
  for (let at = 0; at < message.rawHeaders.length; at += 2)
    headers.append(message.rawHeaders[at] ?? "", message.rawHeaders[at + 1] ?? "");
  const hasBody = message.method === "POST";
  return new Request(`http://${message.headers.host ?? "localhost"}${message.url ?? ""}`, {
    method: message.method ?? "GET",
    headers,
    ...(signal && { signal }),
    ...(hasBody && { body: Readable.toWeb(message) as never, duplex: "half" }),
  });
}

async function answer(
  remote: RemoteServer,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  // a body that is cut off fails where it is read
  message.on("error", () => undefined);
  response.on("error", () => undefined);
  const { status, headers, body } = await remote.fetch(asRequest(message, gone.signal));
  response.writeHead(status, Object.fromEntries(headers));
  response.flushHeaders();
  if (body === null) return void response.end();
  const readable = Readable.fromWeb(body as NodeReadableStream);
  readable.on("error", () => response.destroy());
  response.once("close", () => readable.destroy());
  readable.pipe(response);
}
