// The public API of the coding agent.

export { type CodingAgentOptions, codingAgent } from "./agent.ts";
export { type Account, type AccountOptions, openAccount } from "./auth/account.ts";
export { type CredentialsFile, credentialsFile } from "./auth/credentials-file.ts";
export { keyProblem, loginProvider } from "./auth/login.ts";
export { type AgentConfig, agentConfigShape } from "./config/agent-config.ts";
export {
  type Model,
  ModelError,
  type ModelErrorKind,
  type ModelEvent,
  type ModelFacts,
  type ModelRequest,
} from "./model/model.ts";
export { type ConfiguredModels, configuredModels } from "./providers/choose-model.ts";
export type { Endpoint, ModelConfig } from "./providers/provider-config.ts";
export { type Tool, ToolError } from "./tools/base/tool.ts";
