// The entry point for reading the config file.

export { ConfigError } from "./config/config-error.ts";
export {
  type AgentSection,
  type ClientConfig,
  configuredAgents,
  configuredMcpServers,
  type McpSection,
} from "./config/configured-agents.ts";
export { type ParsedConfig, parseConfig } from "./config/parse-config.ts";
