// A reverse proxy as it stands in front of a server: it says who calls, buffers nothing, and cuts what is idle.

import { once } from "node:events";
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { TestContext } from "node:test";

export interface ReverseProxy {
  readonly port: number;
  /** The port of the server behind it. */
  target: number;
  /** How many requests and sockets were cut because they were idle. */
  cuts: number;
  /** How often something went through it. */
  chunks: number;
}

/** Ends with the test. */
export async function reverseProxy(t: TestContext, idleMs: number): Promise<ReverseProxy> {
  const proxy = { port: 0, target: 0, cuts: 0, chunks: 0 };
  const sockets = new Set<Socket>();
  /** Calls `cut` when neither side has sent anything for a while. */
  const watched = (ends: readonly Duplex[], cut: () => void) => {
    const idle = () => {
      proxy.cuts++;
      cut();
    };
    let timer = setTimeout(idle, idleMs);
    const moved = () => {
      proxy.chunks++;
      clearTimeout(timer);
      timer = setTimeout(idle, idleMs);
    };
    for (const end of ends) end.on("data", moved);
    for (const end of ends) end.once("close", () => clearTimeout(timer));
  };
  const server = createServer((from, to) => {
    const { method, url: path } = from;
    const request = httpRequest({ port: proxy.target, host: "127.0.0.1", method, path, headers: told(from) });
    request.on("error", () => to.destroy());
    request.on("response", (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      to.flushHeaders();
      answer.on("error", () => to.destroy());
      answer.pipe(to);
      const cut = () => {
        to.destroy();
        request.destroy();
      };
      watched([answer as unknown as Duplex], cut);
    });
    to.on("close", () => request.destroy());
    from.pipe(request);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("upgrade", (from, socket: Socket, head) => {
    const far = connect(proxy.target, "127.0.0.1", () => {
      const lines = Object.entries(told(from)).flatMap(([name, value]) =>
        [value].flat().map((each) => `${name}: ${each}`),
      );
      far.write([`GET ${from.url} HTTP/1.1`, ...lines, "", ""].join("\r\n"));
      far.write(head);
      far.pipe(socket);
      socket.pipe(far);
    });
    const cut = () => {
      far.destroy();
      socket.destroy();
    };
    for (const end of [far, socket]) end.on("error", cut).on("close", cut);
    watched([far, socket], cut);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy.port = (server.address() as AddressInfo).port;
  t.after(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return proxy;
}

function told({ headers, socket }: IncomingMessage): IncomingHttpHeaders {
  const before = headers["x-forwarded-for"];
  return {
    ...headers,
    "x-forwarded-for": [before, socket.remoteAddress].filter(Boolean).join(", "),
    "x-forwarded-proto": "https",
  };
}
