// The MCP servers of a session: those that were typed, and those of the config that this agent can use.

import type { AgentFeatures, McpServer } from "@parley/acp";

export function sessionMcpServers(
  typed: readonly McpServer[],
  configured: readonly McpServer[],
  features: AgentFeatures,
  notice: (text: string) => void,
): readonly McpServer[] {
  const names = new Set(typed.map(({ name }) => name));
  const others = configured.filter(({ name }) => !names.has(name));
  const isUsable = ({ type }: McpServer) => {
    if (type === "http") return features.mcpHttp;
    return String(type) === "sse" ? features.mcpSse : features.mcpStdio;
  };
  const left = others.filter((server) => !isUsable(server)).map(({ name }) => String(name));
  // what was typed for this run is refused by whoever opens the session
  if (left.length > 0) notice(`this agent cannot use these MCP servers of the config: ${left.join(", ")}`);
  return [...others.filter(isUsable), ...typed];
}
