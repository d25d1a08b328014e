// The entry point of the section `agent` of the config file.

export { type AgentConfig, agentConfigSchema } from "./config/agent-config.ts";
export type { McpServerConfig } from "./config/mcp-config.ts";
export { type CommandHook, type CommandHooks, commandHooks } from "./hooks/command-hooks.ts";
export { privateHostProblem } from "./network/public-addresses.ts";
