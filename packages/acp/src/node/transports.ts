// Makes transports from this process's stdio, for agents, and from a spawned agent, for clients.

import type { Transport } from "../jsonrpc/transport.ts";
import { type ByteTransportOptions, byteTransport } from "../transport/byte-transport.ts";
import { type AgentProcess, type SpawnOptions, spawnAgent } from "./spawn.ts";
import { type StdioOptions, stdioChannel } from "./stdio.ts";
import { nodePlatform } from "./text-platform.ts";

export type StdioTransportOptions = StdioOptions & Omit<ByteTransportOptions, "platform">;
export type SpawnTransportOptions = SpawnOptions & Omit<ByteTransportOptions, "platform">;

/** For an agent: uses stdin and stdout as the wire, and redirects other prints to stderr. */
export function stdioTransport(options: StdioTransportOptions = {}): Transport {
  return byteTransport(stdioChannel(options), { ...options, platform: nodePlatform });
}

/**
 * For a client: starts an agent without a shell and connects to its stdio. Closing the transport ends the agent and
 * everything that it started.
 */
export function spawnTransport(
  command: string,
  args: readonly string[],
  options: SpawnTransportOptions = {},
): { readonly transport: Transport; readonly process: AgentProcess } {
  const process = spawnAgent(command, args, options);
  return { transport: byteTransport(process, { ...options, platform: nodePlatform }), process };
}
