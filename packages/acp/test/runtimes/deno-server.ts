// A program for Deno: an agent behind remoteServer(), over HTTP and WebSocket. It prints its address and ends with its input.

import { remoteServer } from "../../src/server.ts";
import type { WebSocketLike } from "../../src/transport.ts";
import { talker } from "../support/remote-probe.ts";

interface Upgraded {
  readonly socket: WebSocketLike;
  readonly response: Response;
}
declare const Deno: {
  serve(
    options: { hostname: string; port: number; onListen(where: { port: number }): void },
    handler: (request: Request) => Promise<Response>,
  ): unknown;
  upgradeWebSocket(request: Request, options: { protocol?: string }): Upgraded;
  exit(code: number): never;
  readonly stdin: { readonly readable: ReadableStream<Uint8Array> };
};

const app = talker();
const remote = remoteServer({ connect: (transport) => app.connect(transport) });
const onListen = ({ port }: { port: number }) => console.log(`http://127.0.0.1:${port}/acp`);
Deno.serve({ hostname: "127.0.0.1", port: 0, onListen }, async (request) => {
  if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return remote.fetch(request);
  const upgrade = await remote.upgrade(request);
  if (upgrade instanceof Response) return upgrade;
  const { protocol } = upgrade;
  const { socket, response } = Deno.upgradeWebSocket(request, protocol === undefined ? {} : { protocol });
  socket.addEventListener("open", () => upgrade.accept(socket));
  return response;
});
await Deno.stdin.readable.pipeTo(new WritableStream());
Deno.exit(0);
