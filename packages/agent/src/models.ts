// The entry point of models: which can be used, with what keys, and what is known of them.

export { type Account, type AccountOptions, type LoginDefinition, openAccount } from "./auth/account.ts";
export { type CredentialsFile, credentialsFile } from "./auth/credentials-file.ts";
export { keyProblem, loginProvider } from "./auth/login.ts";
export { keyVariables } from "./model/key-variables.ts";
export { type ChooseOptions, chosenEndpoint, configuredModels } from "./providers/choose-model.ts";
export { type ModelReport, modelReport, type ReportedModel } from "./providers/model-report.ts";
export type { Credentials, Endpoint, ModelConfig, ProviderConfig } from "./providers/provider-config.ts";
export { builtInRegistry } from "./providers/registry/built-in.ts";
export { type RefreshOptions, refreshRegistry, storedRegistry } from "./providers/registry/refresh.ts";
export { mergedRegistry, type Registry, RegistryError } from "./providers/registry/registry.ts";
