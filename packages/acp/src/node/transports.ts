// Makes transports from this process's stdio and from a spawned agent, and serves an agent on stdio.

import type { Log } from "../jsonrpc/connection-options.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import type { Agent } from "../peer/agent/agent.ts";
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

/**
 * Serves one client on stdin and stdout until the end of input, then exits, even if the agent has left something
 * running. Errors are printed to stderr, unless the agent's definition has a `log`.
 */
export async function serveStdio(agent: Agent, options: StdioTransportOptions = {}): Promise<void> {
  await agent.connect(stdioTransport(options), { log: printErrors }).closed;
  process.exit();
}

const printErrors: Log = (level, message, { error, ...fields }) => {
  if (level !== "error") return;
  const details = Object.entries(fields).map(([name, value]) => ` ${name}: ${String(value)}`);
  const cause = error instanceof Error ? (error.stack ?? error.message) : String(error ?? "");
  process.stderr.write(`${message}${details.join(",")}${cause === "" ? "" : `\n${cause}`}\n`);
};
