// Lists the models for the stored keys, and defines login and logout for the chosen provider.

import { type AgentDefinition, RequestError } from "@parley/acp";
import type { Model } from "../model/model.ts";
import { type ConfiguredModels, chosenEndpoint, configuredModels } from "../providers/choose-model.ts";
import type { Environment } from "../providers/environment.ts";
import type { LocalServer } from "../providers/local/local-servers.ts";
import {
  type Credentials,
  type Endpoint,
  localAddresses,
  type ModelConfig,
} from "../providers/provider-config.ts";
import type { Registry } from "../providers/registry/registry.ts";
import type { CredentialsFile } from "./credentials-file.ts";

/** The settings of an account. */
export interface AccountOptions {
  /** The section `agent` of the config file. */
  readonly config: ModelConfig;
  /** The environment variables, such as `process.env`. */
  readonly env: Environment;
  /** The file with the stored keys. */
  readonly credentials: CredentialsFile;
  /** From the command line; overrides the environment and the config. */
  readonly model?: string;
  /** What is known of models. Default: the built-in registry. */
  readonly registry?: Registry;
}

/** Login and logout for the library's `agent()`. */
export type LoginDefinition = NonNullable<AgentDefinition["auth"]>;

/** The models that can be used with the keys that are there, and the login for the chosen provider. */
export interface Account {
  /** The models for the keys that are there now. */
  models(): ConfiguredModels;
  /** Looks for servers on this machine, unless the config forbids it or it was done just now. Never rejects. */
  discover(): Promise<void>;
  /** `auth` for the library's `agent()`; empty when no key is needed. */
  readonly login: LoginDefinition;
}

/** Answers of local servers are used for this long. */
const freshMs = 30_000;

/**
 * Returns the models for the keys that are set and stored, and the login of the chosen provider. A missing key is not an
 * error, since the user can log in.
 *
 * @throws {ModelError} When the chosen model cannot be used.
 *
 * @example
 * import { codingAgent } from "@parley/agent";
 * import { credentialsFile, openAccount } from "@parley/agent/models";
 * import { serveStdio } from "@parley/acp/node";
 *
 * const credentials = credentialsFile("/home/me/.config/my-agent/credentials.json");
 * const account = openAccount({ config: {}, env: process.env, credentials });
 * await serveStdio(codingAgent({ auth: account.login, configured: account.models, version: "1.0.0" }));
 */
export function openAccount({ config, env, credentials: file, model, registry }: AccountOptions): Account {
  const credentials = new SaidKeys(file);
  const choice = {
    credentials: credentials.keys,
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

/** The stored keys, and those that the client has said. These are kept in memory only. */
class SaidKeys {
  readonly #file: CredentialsFile;
  readonly #said = new Map<string, string>();
  #changes = 0;

  constructor(file: CredentialsFile) {
    this.#file = file;
  }

  get keys(): Credentials {
    return Object.assign((provider: string) => this.#file.key(provider), {
      said: (provider: string) => this.#said.get(provider),
    });
  }

  revision(): string {
    return `${this.#file.revision()} ${this.#changes}`;
  }

  say(provider: string, key: string): void {
    this.#said.set(provider, key);
    this.#changes += 1;
  }

  remove(provider: string): void {
    this.#file.remove(provider);
    if (this.#said.delete(provider)) this.#changes += 1;
  }
}

function loginTo(endpoint: Endpoint, credentials: SaidKeys): LoginDefinition {
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
    async login(_methodId, { credentials: given }) {
      const key = given?.["apiKey"];
      if (typeof key === "string" && key.trim() !== "") {
        await checkKey(endpoint, key.trim());
        credentials.say(id, key.trim());
      }
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

/** Throws unless the provider accepts the key, or can only be asked by using it. */
async function checkKey(endpoint: Endpoint, key: string): Promise<void> {
  const { canCheckKey, keyProblem } = await import("./login.ts");
  const problem = canCheckKey(endpoint) ? await keyProblem(endpoint, key) : undefined;
  if (problem === undefined) return;
  throw new RequestError("auth_required", problem, { data: { reason: "bad_key" } });
}
