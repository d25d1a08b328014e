// The entry point for reading and writing the config file.

export type { ObjectShape, Shape } from "@parley/acp/internal";
export { configSchema, configShape } from "./config/config-shape.ts";
export {
  type AgentSection,
  type ClientConfig,
  type ConfiguredAgent,
  configuredAgents,
  configuredMcpServers,
  type McpSection,
  mcpServer,
} from "./config/configured-agents.ts";
export { ConfigError, type ParsedConfig, parseConfig } from "./config/parse-config.ts";
export { setConfigValue } from "./config/set-value.ts";
