// Collects the MCP servers of a session: the typed ones, and those of the config that the agent supports.

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
  const unusable = others.filter((server) => !isUsable(server)).map(({ name }) => String(name));
  // opening the session fails for unsupported servers that were typed
  if (unusable.length > 0)
    notice(`the agent does not support these configured MCP servers: ${unusable.join(", ")}`);
  return [...others.filter(isUsable), ...typed];
}
