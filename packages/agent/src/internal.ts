// Exports for Parley's own packages only, without compatibility between versions.

export { type Account, type AccountOptions, openAccount } from "./auth/account.ts";
export { type CredentialsFile, credentialsFile } from "./auth/credentials-file.ts";
export { keyProblem, loginProvider } from "./auth/login.ts";
export { type AgentConfig, agentConfigShape } from "./config/agent-config.ts";
export type { McpServerConfig } from "./config/mcp-config.ts";
export { commandHooks } from "./hooks/command-hooks.ts";
export type { ServerLook } from "./mcp/look-at-server.ts";
export { checkedAddresses, HostError } from "./network/public-addresses.ts";
export type { BrowserLogin } from "./oauth/browser-login.ts";
export { chosenEndpoint, configuredModels } from "./providers/choose-model.ts";
export { type ModelReport, modelReport, type ReportedModel } from "./providers/model-report.ts";
export type { Endpoint, ModelConfig } from "./providers/provider-config.ts";
export { builtInRegistry } from "./providers/registry/built-in.ts";
export { refreshRegistry, storedRegistry } from "./providers/registry/refresh.ts";
export { mergedRegistry, type Registry, RegistryError } from "./providers/registry/registry.ts";
export { stderrTail } from "./text/stderr-tail.ts";

/** Loaded on demand, since `parley agent` begins without MCP. */
export function mcpServerTools(): Promise<typeof import("./mcp/look-at-server.ts")> {
  return import("./mcp/look-at-server.ts");
}
