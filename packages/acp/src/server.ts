// A server for remote clients, over Streamable HTTP and WebSocket, in every JavaScript runtime.

export { type RemoteServer, remoteServer } from "./peer/http/remote-server.ts";
export { refusal } from "./transport/server/http-input.ts";
export type { SocketUpgrade } from "./transport/server/remote-connections.ts";
export type {
  Authorized,
  OpenedConnection,
  RemoteConnection,
  RemoteLimits,
  RemoteServerOptions,
  ServingPeer,
} from "./transport/server/remote-options.ts";
