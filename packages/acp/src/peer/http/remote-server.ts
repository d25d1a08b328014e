// remoteServer(): serves an agent to remote clients, over Streamable HTTP and WebSocket.

import { checkOptions } from "../../base/known-options.ts";
import { remoteServerKeys } from "../../base/option-keys.gen.ts";
import { argumentText } from "../../jsonrpc/errors.ts";
import { RemoteConnections, type SocketUpgrade } from "../../transport/server/remote-connections.ts";
import type { RemoteConnection, RemoteServerOptions } from "../../transport/server/remote-options.ts";
import { acpProtocol } from "./served-routing.ts";

/** A server for remote clients, created by `remoteServer()`. It keeps its connections in the memory of this process. */
export interface RemoteServer {
  /** Answers one request. Never rejects unless `authorize` does. */
  fetch(request: Request): Promise<Response>;
  /** Says how to answer a request for a WebSocket, or refuses it. */
  upgrade(request: Request): Promise<SocketUpgrade | Response>;
  /** The connections, attached and detached. */
  readonly connections: readonly RemoteConnection[];
  /** New connections get 503 from now on; those that are open go on, and can be resumed. */
  stopAccepting(): void;
  /** Closes all connections. Requests afterwards get 503. */
  close(reason?: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Serves an agent to remote clients over Streamable HTTP and WebSocket, in every runtime that has the standard `Request`
 * and `Response`. A client that was cut off finds its connection again for `graceMs`. It does not check who asks: give
 * it `authorize`, and do not listen on other interfaces than loopback without it.
 *
 * @param options `connect` serves each connection; the rest has defaults.
 * @throws {TypeError} When an option is unknown or has a wrong value.
 * @example
 * import { agent } from "@parley/acp";
 * import { remoteServer } from "@parley/acp/server";
 *
 * const echo = agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) });
 * const server = remoteServer({ connect: (transport) => echo.connect(transport) });
 * const response = await server.fetch(new Request("http://localhost/acp", { method: "PUT" }));
 * console.log(response.status); // 405
 */
export function remoteServer(options: RemoteServerOptions): RemoteServer {
  checkOptions("remoteServer", options, remoteServerKeys);
  // only the compiler knows that it is one
  const connect: unknown = options.connect;
  if (typeof connect !== "function")
    throw new TypeError(`remoteServer: expected connect to be a function, got ${argumentText(connect)}`);
  const served = new RemoteConnections(options, acpProtocol);
  return {
    fetch: (request) => served.fetch(request),
    upgrade: (request) => served.upgrade(request),
    get connections() {
      return served.connections;
    },
    stopAccepting: () => served.stopAccepting(),
    close: (reason) => served.close(reason),
    [Symbol.asyncDispose]: () => served.close(),
  };
}
