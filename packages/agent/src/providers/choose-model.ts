// Chooses the model: the named one, else that of the first provider with a key.

import { type Model, ModelError, type ModelFacts } from "../model/model.ts";
import { recordToFile, replayFile } from "../model/recording.ts";
import type { Environment } from "./environment.ts";
import { defaultName, factsOf, knownNames, providerOfName } from "./known-models.ts";
import type { LocalServer } from "./local/local-servers.ts";
import {
  type Credentials,
  type Endpoint,
  endpointOf,
  isConfiguredBy,
  type ModelConfig,
  missingKey,
  providerIds,
} from "./provider-config.ts";
import type { ProviderModelOptions } from "./provider-model.ts";
import { builtInRegistry } from "./registry/built-in.ts";
import type { Registry } from "./registry/registry.ts";

/** What decides which model is chosen, besides the config and the environment. */
export interface ChooseOptions extends ProviderModelOptions {
  /** Overrides the environment and the config. */
  readonly model?: string;
  /** The stored keys. */
  readonly credentials?: Credentials;
  /** Report a missing key with the first request only. Default false. */
  readonly isKeyOptional?: boolean;
  /** What is known of models. Default: the built-in registry. */
  readonly registry?: Registry;
  /** The servers that were found on this machine. */
  readonly servers?: readonly LocalServer[];
}

/**
 * Undefined for `offline` and when nothing is configured. `replay/FILE` replays a recording, which PARLEY_RECORD=FILE makes.
 * Throws ModelError: kind bad_request for an unknown name, auth for a missing key. Loads and requests nothing yet.
 */
export function chooseModel(
  config: ModelConfig,
  env: Environment,
  options: ChooseOptions = {},
): Model | undefined {
  const choice = choiceOf(config, env, options);
  if (choice.replay !== undefined) return replayFile(choice.replay);
  const { endpoint, name } = choice;
  if (endpoint === undefined) return undefined;
  if (endpoint.needsKey && endpoint.key() === undefined && !options.isKeyOptional) throw missingKey(endpoint);
  const chosen = name ?? defaultName(endpoint, options.registry ?? builtInRegistry);
  if (chosen === undefined) throw missingName(endpoint);
  const model = loadedLater(endpoint, factsFor(endpoint, chosen, options), options);
  const file = env["PARLEY_RECORD"]?.trim();
  return file ? recordToFile(model, file) : model;
}

/**
 * Returns the provider of the model for new sessions; undefined for the offline model and for recordings.
 *
 * @throws {ModelError} When the model has an unknown provider.
 *
 * @example
 * import { chosenEndpoint } from "@parley/agent/models";
 *
 * console.log(chosenEndpoint({ model: "anthropic" }, process.env)?.label);
 */
export function chosenEndpoint(
  config: ModelConfig,
  env: Environment,
  options: ChooseOptions = {},
): Endpoint | undefined {
  return choiceOf(config, env, options).endpoint;
}

function choiceOf(
  config: ModelConfig,
  env: Environment,
  options: ChooseOptions,
): { readonly endpoint?: Endpoint; readonly name?: string | undefined; readonly replay?: string } {
  const credentials = options.credentials ?? (() => undefined);
  const wanted = options.model ?? (env["PARLEY_MODEL"]?.trim() || config.model);
  if (wanted === "offline") return {};
  if (wanted?.startsWith("replay/")) return { replay: wanted.slice("replay/".length) };
  const ids = providerIds(config);
  const configured = () => ids.find((id) => isConfiguredBy(id, env) || credentials(id) !== undefined);
  const [provider, name] = wanted === undefined ? [configured()] : named(wanted, ids);
  if (provider === undefined) return {};
  return { endpoint: endpointOf(provider, config, env, credentials), name };
}

/** A model that can be chosen, and its provider. */
export interface ListedModel {
  readonly facts: ModelFacts;
  readonly endpoint: Endpoint;
}

/** The available models: those of providers with a key, those in the config, and those of servers on this machine. */
export function listModels(
  config: ModelConfig,
  env: Environment,
  options: ChooseOptions = {},
): readonly ListedModel[] {
  const { credentials = () => undefined, registry = builtInRegistry, servers = [] } = options;
  return providerIds(config).flatMap((id) => {
    const found = servers.find((server) => server.id === id)?.models;
    const isConfigured =
      found !== undefined ||
      isConfiguredBy(id, env) ||
      config.providers?.[id] !== undefined ||
      credentials(id) !== undefined;
    if (!isConfigured) return [];
    const endpoint = endpointOf(id, config, env, credentials);
    if (endpoint.needsKey && endpoint.key() === undefined) return [];
    const known = found === undefined ? knownNames(endpoint, registry) : [...found.keys()];
    const names = [...Object.keys(endpoint.models), ...known];
    const all = names.length === 0 ? [defaultName(endpoint, registry)] : [...new Set(names)];
    return all.flatMap((name) =>
      name === undefined ? [] : [{ facts: factsFor(endpoint, name, options), endpoint }],
    );
  });
}

/** The models that users can choose, and the one for new sessions. */
export interface ConfiguredModels {
  /** The models to offer, in addition to the offline model. */
  readonly models: readonly Model[];
  /** The id of the chosen model; `offline` when nothing is configured. */
  readonly chosen: string;
}

/**
 * Returns the models that can be used with the config and the keys of the environment.
 *
 * @throws {ModelError} When the configured model or its provider cannot be used.
 *
 * @example
 * import { codingAgent } from "@parley/agent";
 * import { configuredModels } from "@parley/agent/models";
 *
 * const configured = configuredModels({ model: "anthropic" }, process.env, { isKeyOptional: true });
 * await using agent = codingAgent({ configured: () => configured, version: "1.0.0" });
 */
export function configuredModels(
  config: ModelConfig,
  env: Environment,
  options: ChooseOptions = {},
): ConfiguredModels {
  const first = chooseModel(config, env, options);
  const others = listModels(config, env, options)
    .filter(({ facts }) => facts.id !== first?.facts.id)
    .flatMap(({ facts }) => chooseModel(config, env, { ...options, model: facts.id }) ?? []);
  if (first === undefined) return { models: others, chosen: "offline" };
  return { models: [first, ...others], chosen: first.facts.id };
}

/** `anthropic/claude-sonnet-5`, `ollama/library/qwen`, `anthropic`, `claude-sonnet-5`. */
function named(wanted: string, ids: readonly string[]): [provider: string, name: string | undefined] {
  const [first = "", ...rest] = wanted.split("/");
  if (ids.includes(first)) return [first, rest.join("/") || undefined];
  const guessed = providerOfName(wanted);
  if (guessed !== undefined) return [guessed, wanted];
  throw new ModelError(
    "bad_request",
    `The model "${wanted}" has an unknown provider. Write provider/name with one of ${ids.join(", ")}, or offline.`,
  );
}

function factsFor(endpoint: Endpoint, name: string, { registry, servers }: ChooseOptions): ModelFacts {
  const server = servers?.find(({ id }) => id === endpoint.id);
  const facts = factsOf(endpoint, name, registry, server?.models.get(name));
  return name === "auto" ? { ...facts, name: `${endpoint.label}: the first model that it lists` } : facts;
}

function missingName({ id, label, kind }: Endpoint): ModelError {
  const what = kind === "azure" ? "deployment" : "model";
  return new ModelError("bad_request", `${label} has no default model. Name a ${what}: ${id}/NAME.`);
}

/** Loads the provider code on the first request, to keep the handshake fast. */
function loadedLater(endpoint: Endpoint, facts: ModelFacts, options: ProviderModelOptions): Model {
  let model: Promise<Model> | undefined;
  return {
    facts,
    async *stream(request) {
      model ??= import("./provider-model.ts").then(({ providerModel }) =>
        providerModel(endpoint, facts, options),
      );
      yield* (await model).stream(request);
    },
  };
}
