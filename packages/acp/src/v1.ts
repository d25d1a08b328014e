// The raw wire of protocol version 1: types, and typed peers for both roles.

import type { Transport } from "./jsonrpc/transport.ts";
import { type WirePeer, type WirePeerOptions, wirePeer } from "./peer/base/wire-peer.ts";
import {
  type AgentNotifications,
  type AgentRequests,
  type ClientNotifications,
  type ClientRequests,
  methods,
} from "./wire/v1/methods.gen.ts";

export type {
  HandlerResult,
  NotificationHandlers,
  NotificationMap,
  RequestHandlers,
  RequestMap,
  WirePeer,
  WirePeerOptions,
  WireRequest,
} from "./peer/base/wire-peer.ts";
export type * from "./wire/v1/types.gen.ts";
export type { AgentNotifications, AgentRequests, ClientNotifications, ClientRequests };

/** The agent's side of a connection: handles an agent's methods and calls the client's. */
export type AgentPeer = WirePeer<ClientRequests, ClientNotifications>;
export type AgentPeerOptions = WirePeerOptions<AgentRequests, AgentNotifications>;

/** The client's side of a connection: handles a client's methods and calls the agent's. */
export type ClientPeer = WirePeer<AgentRequests, AgentNotifications>;
export type ClientPeerOptions = WirePeerOptions<ClientRequests, ClientNotifications>;

const version = { methods, idPolicy: "any" } as const;

/**
 * Connects an agent to a client on this transport.
 *
 * @example
 * import { stdioTransport } from "@parley/acp/node";
 * import { agentPeer } from "@parley/acp/v1";
 *
 * const client = agentPeer(stdioTransport(), {
 *   requests: { "session/list": () => ({ sessions: [] }) },
 * });
 * await client.closed;
 */
export function agentPeer(transport: Transport, options: AgentPeerOptions = {}): AgentPeer {
  return wirePeer(transport, version, "agent", options);
}

/**
 * Connects a client to an agent on this transport.
 *
 * @example
 * import { spawnTransport } from "@parley/acp/node";
 * import { clientPeer } from "@parley/acp/v1";
 *
 * const agent = clientPeer(spawnTransport("my-agent"));
 * const { sessions } = await agent.request("session/list", {});
 */
export function clientPeer(transport: Transport, options: ClientPeerOptions = {}): ClientPeer {
  return wirePeer(transport, version, "client", options);
}
