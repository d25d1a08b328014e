// webSocketTransport(): connects by a WebSocket of a browser, of Node or of the `ws` package.

import { milliseconds } from "../base/deadline.ts";
import { checkOptions, type Keys } from "../base/known-options.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import type { FrameLimits } from "./byte-channel.ts";
import { lateTransport } from "./late-transport.ts";
import type { OpenWebSocket } from "./resuming-socket.ts";
import { SocketTransport, type WebSocketLike } from "./socket-transport.ts";

export type { OpenWebSocket } from "./resuming-socket.ts";
export type { WebSocketLike } from "./socket-transport.ts";

/** The options of `webSocketTransport`. */
export interface WebSocketTransportOptions {
  /** The largest message, and how much output may wait. */
  readonly limits?: Partial<FrameLimits> | undefined;
  /** How long to wait for the peer's close frame before the socket is abandoned, in milliseconds. Default 1,000. */
  readonly closeTimeoutMs?: number | undefined;
  /** How often something is sent on an idle connection that can be resumed, in milliseconds. Default 15,000. */
  readonly heartbeatMs?: number | undefined;
  /** How long such a connection may be silent before a new socket is opened, in milliseconds. Default 45,000. */
  readonly silenceMs?: number | undefined;
  /** The pause before a new socket in milliseconds; it doubles with each attempt, up to 10 s. Default 100. */
  readonly backoffMs?: number | undefined;
  /**
   * Called with true when the server cannot be reached and the connection waits to be resumed, and with false when it goes
   * on. `keptMs` is how long the server keeps it after the cut. Its end is not reported here.
   */
  readonly onCut?: ((isCut: boolean, keptMs: number) => void) | undefined;
}

const knownOptions: Keys<WebSocketTransportOptions> = {
  limits: true,
  closeTimeoutMs: true,
  heartbeatMs: true,
  silenceMs: true,
  backoffMs: true,
  onCut: true,
};

/**
 * Makes a transport of a WebSocket: one message per text frame. With a function that opens sockets, the connection survives
 * cuts where the server can resume it, as those of `@parley/acp/server` can: a new socket is opened, and both sides send
 * what the other has not. The function may be asynchronous, to ask for a new ticket or token each time. With one socket, its end is the end of the connection. The socket may still be connecting. Give
 * it to the transport, or return it from the function, in the same turn in which it was made, so that no message is missed.
 *
 * @param socket Opens a WebSocket of a browser, of Node or of the package `ws`, now or later; or is one. The transport closes it.
 * @param options Sizes and time limits.
 * @returns A transport for one connection.
 * @throws {TypeError} When an option is unknown, a limit is not a number above 0, or a time is not a number of milliseconds.
 * @example
 * import { client, webSocketTransport } from "@parley/acp";
 *
 * const app = client({ name: "my-client", version: "1.0.0" });
 * const open = (protocols: string[]) => new WebSocket("wss://agents.example.com/acp", protocols);
 * await using connection = await app.connect(webSocketTransport(open));
 * console.log(connection.info?.name);
 */
export function webSocketTransport(
  socket: WebSocketLike | OpenWebSocket,
  options: WebSocketTransportOptions = {},
): Transport {
  checkOptions("webSocketTransport", options, knownOptions);
  for (const name of ["closeTimeoutMs", "heartbeatMs", "silenceMs", "backoffMs"] as const)
    milliseconds(name, options[name] ?? 0);
  if (typeof socket !== "function") return new SocketTransport(socket, options);
  return lateTransport(async () => {
    const { ResumingSocket } = await import("./resuming-socket.ts");
    return new ResumingSocket(socket, options);
  }, options.limits);
}
