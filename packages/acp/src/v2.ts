// The raw wire of protocol version 2: types, and typed peers for both roles.

import type { Transport } from "./jsonrpc/transport.ts";
import { ValidatingPeer } from "./peer/base/validating-peer.ts";
import {
  problemOfType,
  type SchemaProblem,
  type WirePeer,
  type WirePeerOptions,
} from "./peer/base/wire-peer.ts";
import {
  type AgentNotifications,
  type AgentRequests,
  type ClientNotifications,
  type ClientRequests,
  methods,
} from "./wire/v2/methods.gen.ts";
import * as types from "./wire/v2/validators.gen.ts";

export type {
  NotificationHandlers,
  NotificationMap,
  RequestHandlers,
  RequestMap,
  WirePeer,
  WirePeerOptions,
  WireRequest,
} from "./peer/base/wire-peer.ts";
export type * from "./wire/v2/types.gen.ts";
export type { AgentNotifications, AgentRequests, ClientNotifications, ClientRequests, SchemaProblem };

/** The agent's side of a connection: handles an agent's methods and calls the client's. */
export type AgentPeer = WirePeer<ClientRequests, ClientNotifications>;

/** The handlers and options of an agent's side. */
export type AgentPeerOptions = WirePeerOptions<AgentRequests, AgentNotifications>;

/** The client's side of a connection: handles a client's methods and calls the agent's. */
export type ClientPeer = WirePeer<AgentRequests, AgentNotifications>;

/** The handlers and options of a client's side. */
export type ClientPeerOptions = WirePeerOptions<ClientRequests, ClientNotifications>;

const version = { methods, idPolicy: "strict" } as const;

/**
 * Connects an agent to a client on this transport. Every message is validated in both directions.
 *
 * @param transport The connection to the client.
 * @param options Handlers of the client's requests and notifications.
 * @returns The agent's side: it calls the client.
 * @throws {TypeError} When `unstable` names an unknown feature, a limit is wrong, or the transport is in use.
 * @example
 * import { stdioTransport } from "@parley/acp/node";
 * import { agentPeer } from "@parley/acp/v2";
 *
 * const peer = agentPeer(stdioTransport(), {
 *   requests: {
 *     initialize: () => ({ protocolVersion: 2, info: { name: "my-agent", version: "1.0.0" }, capabilities: {} }),
 *     "session/new": () => ({ sessionId: "s1" }),
 *   },
 * });
 * await peer.closed;
 */
export function agentPeer(transport: Transport, options: AgentPeerOptions = {}): AgentPeer {
  return new ValidatingPeer(transport, version, { ...options, role: "agent" });
}

/**
 * Connects a client to an agent on this transport. Every message is validated in both directions.
 *
 * @param transport The connection to the agent.
 * @param options Handlers of the agent's requests and notifications.
 * @returns The client's side: it calls the agent.
 * @throws {TypeError} When `unstable` names an unknown feature, a limit is wrong, or the transport is in use.
 * @example
 * import { spawnTransport } from "@parley/acp/node";
 * import { clientPeer } from "@parley/acp/v2";
 *
 * const peer = clientPeer(spawnTransport("my-agent"), {
 *   notifications: {
 *     "session/update": ({ sessionId, update }) => {
 *       console.log(sessionId, update.sessionUpdate);
 *       return undefined;
 *     },
 *   },
 * });
 * await peer.request("initialize", {
 *   protocolVersion: 2,
 *   info: { name: "my-client", version: "1.0.0" },
 *   capabilities: {},
 * });
 * const { sessionId } = await peer.request("session/new", { cwd: "/home/user/project", mcpServers: [] });
 * console.log(sessionId);
 * await peer.close();
 */
export function clientPeer(transport: Transport, options: ClientPeerOptions = {}): ClientPeer {
  return new ValidatingPeer(transport, version, { ...options, role: "client" });
}

/**
 * Finds the first problem of a value that should have a type of the schema, unstable fields included. Nothing in it is
 * repaired.
 *
 * @param type The name of the type, such as "ContentBlock".
 * @param value The value: parsed JSON.
 * @returns Undefined when the value is valid.
 * @throws {TypeError} When the schema has no such type.
 * @example
 * import { schemaProblem } from "@parley/acp/v2";
 *
 * const problem = schemaProblem("ContentBlock", { type: "text" });
 * console.log(problem?.path, problem?.expected, problem?.got); // /text string nothing
 */
export function schemaProblem(type: string, value: unknown): SchemaProblem | undefined {
  return problemOfType(types, type, value);
}
