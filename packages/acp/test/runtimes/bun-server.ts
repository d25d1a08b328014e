// A program for Bun: an agent behind remoteServer(), over HTTP and WebSocket. It prints its address and ends with its input.

import { remoteServer } from "../../src/server.ts";
import type { WebSocketLike } from "../../src/transport.ts";
import { talker } from "../support/remote-probe.ts";

/** What is used of Bun's own socket, which has no events of its own. */
interface BunSocket {
  readonly data: { readonly accept: (socket: WebSocketLike) => void; near?: NearSocket };
  readonly readyState: number;
  send(text: string): void;
  close(code?: number, reason?: string): void;
  terminate(): void;
  getBufferedAmount(): number;
}
interface BunServer {
  readonly port: number;
  upgrade(request: Request, options: { headers: Record<string, string>; data: BunSocket["data"] }): boolean;
}
declare const Bun: { serve(options: object): BunServer };

/** Gives it the events of a standard one. */
class NearSocket extends EventTarget {
  binaryType = "arraybuffer";
  readonly #socket: BunSocket;

  constructor(socket: BunSocket) {
    super();
    this.#socket = socket;
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  get bufferedAmount(): number {
    return this.#socket.getBufferedAmount();
  }

  send(text: string): void {
    this.#socket.send(text);
  }

  close(code?: number, reason?: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  tell(type: string, fields: object): void {
    this.dispatchEvent(Object.assign(new Event(type), fields));
  }
}

const app = talker();
const remote = remoteServer({ connect: (transport) => app.connect(transport) });
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  // it would end event streams that are silent for 10 s
  idleTimeout: 0,
  async fetch(request: Request, own: BunServer): Promise<Response | undefined> {
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return remote.fetch(request);
    const upgrade = await remote.upgrade(request);
    if (upgrade instanceof Response) return upgrade;
    const { headers, protocol, accept } = upgrade;
    const chosen = protocol === undefined ? {} : { "Sec-WebSocket-Protocol": protocol };
    own.upgrade(request, { headers: { ...headers, ...chosen }, data: { accept } });
    return undefined;
  },
  websocket: {
    open(socket: BunSocket) {
      socket.data.near = new NearSocket(socket);
      // as: an EventTarget takes every event
      socket.data.accept(socket.data.near as unknown as WebSocketLike);
    },
    message: (socket: BunSocket, data: unknown) => socket.data.near?.tell("message", { data }),
    close: (socket: BunSocket, code: number, reason: string) =>
      socket.data.near?.tell("close", { code, reason }),
  },
});
process.stdout.write(`http://127.0.0.1:${server.port}/acp\n`);
process.stdin.on("end", () => process.exit(0)).resume();
