// Lists the models for the stored keys, and defines login and logout for the chosen provider.

import { type AgentDefinition, RequestError } from "@parley/acp";
import type { Model } from "../model/model.ts";
import { type ConfiguredModels, chosenEndpoint, configuredModels } from "../providers/choose-model.ts";
import type { Environment } from "../providers/environment.ts";
import type { LocalServer } from "../providers/local/local-servers.ts";
import { type Endpoint, localAddresses, type ModelConfig } from "../providers/provider-config.ts";
import type { Registry } from "../providers/registry/registry.ts";
import type { CredentialsFile } from "./credentials-file.ts";

export interface AccountOptions {
  readonly config: ModelConfig;
  readonly env: Environment;
  readonly credentials: CredentialsFile;
  /** From the command line; overrides the environment and the config. */
  readonly model?: string;
  /** What is known of models. Default: the built-in registry. */
  readonly registry?: Registry;
}

export type LoginDefinition = NonNullable<AgentDefinition["auth"]>;

export interface Account {
  models(): ConfiguredModels;
  /** Looks for servers on this machine, unless the config forbids it or it was done just now. Never rejects. */
  discover(): Promise<void>;
  /** `auth` for the library's `agent()`; empty when no key is needed. */
  readonly login: LoginDefinition;
}

/** Answers of local servers are used for this long. */
const freshMs = 30_000;

/** Throws ModelError for an unusable model. A missing key is no error: the user can log in. */
export function openAccount({ config, env, credentials, model, registry }: AccountOptions): Account {
  const choice = {
    credentials: credentials.key,
    isKeyOptional: true,
    ...(model && { model }),
    ...(registry && { registry }),
  };
  let servers: readonly LocalServer[] = [];
  let models = configuredModels(config, env, choice);
  let revision = credentials.revision();
  const endpoint = chosenEndpoint(config, env, choice);
  const renew = () => {
    const next = configuredModels(config, env, { ...choice, servers });
    models = { ...next, models: next.models.map((each) => kept(each, models.models, env)) };
  };
  let discovery: { readonly done: Promise<void>; readonly at: number } | undefined;
  const discover = async () => {
    // the handshake does not need it
    const { findLocalServers } = await import("../providers/local/local-servers.ts");
    servers = await findLocalServers(localAddresses(config, env));
    renew();
  };
  return {
    models() {
      const now = credentials.revision();
      if (now !== revision) {
        revision = now;
        renew();
      }
      return models;
    },
    discover() {
      if (config.localServers === false) return Promise.resolve();
      if (discovery === undefined || performance.now() - discovery.at > freshMs)
        discovery = { done: discover(), at: performance.now() };
      return discovery.done;
    },
    login: endpoint?.needsKey ? loginTo(endpoint, credentials) : {},
  };
}

/** The model object that may be in use, if nothing new is known of it. A recording has one for all its requests. */
function kept(model: Model, before: readonly Model[], env: Environment): Model {
  const old = before.find(({ facts }) => facts.id === model.facts.id);
  const isSame = old !== undefined && JSON.stringify(old.facts) === JSON.stringify(model.facts);
  return old !== undefined && (isSame || env["PARLEY_RECORD"]?.trim()) ? old : model;
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
        description: "The key is stored on this machine, readable only by you",
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
