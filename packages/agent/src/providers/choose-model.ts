// Which model a session talks to: the one that was named, else the first provider that the environment has a key for.

import { type Model, ModelError, type ModelFacts } from "../model/model.ts";
import type { Placeholders } from "../model/recording.ts";
import { recordToFile, replayFile } from "../model/recording-file.ts";
import type { Clock, RetryPolicy } from "../model/retry.ts";
import { factsOf, knownNames, providerOfName } from "./known-models.ts";
import {
  asksFor,
  type Credentials,
  type Endpoint,
  type Environment,
  endpointOf,
  type ModelConfig,
  missingKey,
  providerIds,
} from "./provider-config.ts";
import type { ProviderModelOptions } from "./provider-model.ts";

export interface ChooseOptions {
  /** What the user chose in this session: goes before the environment and the config. */
  readonly model?: string;
  readonly credentials?: Credentials;
  /** A provider that lacks its key is no error before it is asked. Default false. */
  readonly isKeyOptional?: boolean;
  readonly clock?: Clock;
  readonly retries?: Partial<RetryPolicy>;
  /** For recordings: what is another text in every run, such as the folder of the project. */
  readonly placeholders?: Placeholders;
}

/**
 * Nothing is configured, or `offline` is: undefined. `replay/FILE` is the model of a recording, which PARLEY_RECORD=FILE
 * makes. A name that cannot be understood is a ModelError of kind
 * bad_request, a provider without a key one of kind auth. Nothing is loaded and nobody is asked before the first request.
 */
export function chooseModel(
  config: ModelConfig,
  env: Environment,
  options: ChooseOptions = {},
): Model | undefined {
  const choice = choiceOf(config, env, options);
  if (choice.replay !== undefined) return replayFile(choice.replay, options.placeholders);
  const { endpoint, name } = choice;
  if (endpoint === undefined) return undefined;
  if (endpoint.needsKey && endpoint.key() === undefined && !options.isKeyOptional) throw missingKey(endpoint);
  const model = loadedLater(endpoint, factsFor(endpoint, name ?? endpoint.defaultModel), options);
  const file = env["PARLEY_RECORD"]?.trim();
  return file ? recordToFile(model, file, options.placeholders) : model;
}

/** The provider of the model that chooseModel would choose; the offline model and recordings have none. */
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
  const { provider, name } =
    wanted === undefined ? fromEnvironment(ids, env, credentials) : named(wanted, ids);
  if (provider === undefined) return {};
  return { endpoint: endpointOf(provider, config, env, credentials), name };
}

/** The models that could be chosen now: those of providers with a key, and what the config names. */
export function listModels(
  config: ModelConfig,
  env: Environment,
  credentials: Credentials = () => undefined,
): readonly ModelFacts[] {
  return providerIds(config).flatMap((id) => {
    const isAskedFor =
      asksFor(id, env) || config.providers?.[id] !== undefined || credentials(id) !== undefined;
    if (!isAskedFor) return [];
    const endpoint = endpointOf(id, config, env, credentials);
    if (endpoint.needsKey && endpoint.key() === undefined) return [];
    const names = [...Object.keys(endpoint.models), ...knownNames(endpoint.kind)];
    const all = names.length === 0 ? [endpoint.defaultModel] : [...new Set(names)];
    return all.map((name) => factsFor(endpoint, name));
  });
}

interface Choice {
  readonly provider: string | undefined;
  readonly name?: string | undefined;
}

function fromEnvironment(ids: readonly string[], env: Environment, credentials: Credentials): Choice {
  return { provider: ids.find((id) => asksFor(id, env) || credentials(id) !== undefined) };
}

/** `anthropic/claude-sonnet-5`, `ollama/library/qwen`, `anthropic`, `claude-sonnet-5`. */
function named(wanted: string, ids: readonly string[]): Choice {
  const [first = "", ...rest] = wanted.split("/");
  if (ids.includes(first)) return { provider: first, name: rest.join("/") || undefined };
  const guessed = providerOfName(wanted);
  if (guessed !== undefined) return { provider: guessed, name: wanted };
  throw new ModelError(
    "bad_request",
    `The model "${wanted}" names no provider that is known. Write provider/name with one of ${ids.join(", ")}, or offline.`,
  );
}

function factsFor(endpoint: Endpoint, name: string): ModelFacts {
  const facts = factsOf(endpoint.id, endpoint.kind, name, endpoint.models[name]);
  return name === "auto" ? { ...facts, name: `${endpoint.label}: the first model that it has` } : facts;
}

/** How a provider is spoken to is a third of this package, and no part of a handshake. */
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
