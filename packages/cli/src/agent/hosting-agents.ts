// Finds the agents that the addresses of MCP servers name, such as acp://local/notes: those of the config file, and no others.

import type { AgentDefinition } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import type { McpChannel } from "@parley/acp/model";
import { connectAgent } from "@parley/client";
import type { AgentEntry } from "@parley/client/launch";
import { CommandError } from "../command/command.ts";
import { agentCredentials } from "../settings/agent-credentials.ts";
import { ownVersion } from "../settings/installation.ts";
import { readAgents } from "../settings/named-agent.ts";

/** Undefined if the config names no agent: then nothing can be reached. */
export function hostingAgents(): AgentDefinition["mcpAgents"] {
  const entries = configured();
  if (entries.length === 0) return undefined;
  return (address) => {
    const entry = entryAt(address, entries);
    return entry && ((serverName, { signal }) => openServer(entry, serverName, signal));
  };
}

/** Our agent works without the others, so a wrong entry is told and is no reason to end. */
function configured(): readonly AgentEntry[] {
  try {
    return [...readAgents(() => undefined).agents.values()].filter(({ origin }) => origin !== "ready");
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    console.error(`parley agent: no MCP servers of other agents are used: ${error.message}`);
    return [];
  }
}

const thisMachine = new Set(["", "local", "localhost"]);

/** `acp://local/NAME`, or the host of a remote agent, with its name if there are several at that host. */
function entryAt(address: string, entries: readonly AgentEntry[]): AgentEntry | undefined {
  const url = URL.parse(address);
  if (url?.protocol !== "acp:" || `${url.username}${url.password}${url.search}${url.hash}` !== "")
    return undefined;
  const name = url.pathname.replace(/^\//, "");
  if (thisMachine.has(url.host)) return entries.find((entry) => entry.name === name);
  const there = entries.filter(
    (entry) => entry.transport !== "stdio" && new URL(entry.url).host === url.host,
  );
  return name === "" && there.length === 1 ? there[0] : there.find((entry) => entry.name === name);
}

/** The agent is started for the server, and ends with the channel. It is asked for nothing else. */
async function openServer(
  entry: AgentEntry,
  serverName: string,
  signal: AbortSignal | undefined,
): Promise<McpChannel> {
  const agent = await connectAgent(entry, {
    name: "parley",
    version: ownVersion(),
    env: agentCredentials(entry.name),
    ...optional({ signal }),
  });
  try {
    const channel = agent.mcp(serverName);
    const close = () => agent.close();
    return {
      request: (method, params, options) => channel.request(method, params, options),
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await agent.close();
    throw error;
  }
}
