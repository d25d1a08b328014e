// The entry point of the config file: reads, checks and changes it.

export { ConfigError } from "./config/config-error.ts";
export { configSchema } from "./config/config-schema.ts";
export {
  type AgentSection,
  agentEntries,
  type ChainSection,
  type ClientConfig,
  configuredAgents,
  configuredMcpServers,
  type McpSection,
  mcpServer,
} from "./config/configured-agents.ts";
export { mcpJsonServers } from "./config/mcp-json.ts";
export { type ParsedConfig, parseConfig } from "./config/parse-config.ts";
export { setConfigValue } from "./config/set-value.ts";
