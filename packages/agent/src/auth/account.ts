// Lists the models for the stored keys, and defines login and logout for the chosen provider.

import { type AgentDefinition, RequestError } from "@parley/acp";
import { type ConfiguredModels, chosenEndpoint, configuredModels } from "../providers/choose-model.ts";
import type { Endpoint, Environment, ModelConfig } from "../providers/provider-config.ts";
import type { CredentialsFile } from "./credentials-file.ts";

export interface AccountOptions {
  readonly config: ModelConfig;
  readonly env: Environment;
  readonly credentials: CredentialsFile;
  /** From the command line; overrides the environment and the config. */
  readonly model?: string;
}

export type LoginDefinition = NonNullable<AgentDefinition["auth"]>;

export interface Account {
  models(): ConfiguredModels;
  /** `auth` for the library's `agent()`; empty when no key is needed. */
  readonly login: LoginDefinition;
}

/** Throws ModelError for an unusable model. A missing key is no error: the user can log in. */
export function openAccount({ config, env, credentials, model }: AccountOptions): Account {
  const choice = { credentials: credentials.key, isKeyOptional: true, ...(model && { model }) };
  let models = configuredModels(config, env, choice);
  let revision = credentials.revision();
  const endpoint = chosenEndpoint(config, env, choice);
  return {
    models() {
      const now = credentials.revision();
      if (now === revision) return models;
      revision = now;
      const next = configuredModels(config, env, choice);
      // keep model objects that may be in use, for example by a recording
      const kept = next.models.map(
        (each) => models.models.find(({ facts }) => facts.id === each.facts.id) ?? each,
      );
      models = { ...next, models: kept };
      return models;
    },
    login: endpoint?.needsKey ? loginTo(endpoint, credentials) : {},
  };
}

function loginTo(endpoint: Endpoint, credentials: CredentialsFile): LoginDefinition {
  const { id, label, keyHint } = endpoint;
  // an environment key cannot be removed, so logout is remembered here
  let loggedOutAt: string | undefined;
  const isLoggedOut = () => loggedOutAt !== undefined && loggedOutAt === credentials.revision();
  return {
    methods: [
      {
        type: "agent",
        methodId: `${id}-key`,
        name: `${label}: the key that is set or stored`,
        description: keyHint,
      },
      {
        type: "terminal",
        methodId: `${id}-login`,
        name: `${label}: enter a key in a terminal`,
        description: "The key is stored on this machine, readable for you only",
        args: ["--login", id],
      },
    ],
    isLoggedIn: () => !isLoggedOut() && endpoint.key() !== undefined,
    login() {
      if (endpoint.key() === undefined) {
        throw new RequestError("auth_required", `There is no key for ${label} yet. ${keyHint}`, {
          data: { reason: "no_key" },
        });
      }
      loggedOutAt = undefined;
    },
    logout() {
      credentials.remove(id);
      loggedOutAt = credentials.revision();
    },
  };
}
