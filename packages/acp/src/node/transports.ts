// The two ways to reach a peer on this machine: as an agent on one's own stdio, as a client on the stdio of
// an agent that is started here.

import type { Transport } from "../jsonrpc/transport.ts";
import { type ByteTransportOptions, byteTransport } from "../transport/byte-transport.ts";
import { type AgentProcess, type SpawnOptions, spawnAgent } from "./spawn.ts";
import { type StdioOptions, stdioChannel } from "./stdio.ts";
import { nodePlatform } from "./text-platform.ts";

export type StdioTransportOptions = StdioOptions & Omit<ByteTransportOptions, "platform">;
export type SpawnTransportOptions = SpawnOptions & Omit<ByteTransportOptions, "platform">;

/** For an agent: the wire is stdin and stdout; whatever else prints to stdout goes to stderr. */
export function stdioTransport(options: StdioTransportOptions = {}): Transport {
  return byteTransport(stdioChannel(options), { ...options, platform: nodePlatform });
}

/**
 * For a client: starts an agent and speaks to it. The command is never a shell line. Closing the transport
 * ends the agent and everything that it started.
 */
export function spawnTransport(
  command: string,
  args: readonly string[],
  options: SpawnTransportOptions = {},
): { readonly transport: Transport; readonly process: AgentProcess } {
  const process = spawnAgent(command, args, options);
  return { transport: byteTransport(process, { ...options, platform: nodePlatform }), process };
}
