// Exports for Parley's own packages only, without compatibility between versions.

export { type Account, type AccountOptions, openAccount } from "./auth/account.ts";
export { type CredentialsFile, credentialsFile } from "./auth/credentials-file.ts";
export { keyProblem, loginProvider } from "./auth/login.ts";
export { type AgentConfig, agentConfigShape } from "./config/agent-config.ts";
export type { McpServerConfig } from "./config/mcp-config.ts";
export { type LookOptions, lookAtServer, type ServerLook } from "./mcp/look-at-server.ts";
export { checkedAddresses, HostError } from "./network/public-addresses.ts";
export type { BrowserLogin } from "./oauth/browser-login.ts";
export { loginFiles } from "./oauth/login-files.ts";
export { chosenEndpoint, configuredModels } from "./providers/choose-model.ts";
export type { Endpoint, ModelConfig } from "./providers/provider-config.ts";
export { stderrTail } from "./text/stderr-tail.ts";
