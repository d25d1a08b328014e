// Lists all available models and the chosen one.

import type { Model } from "../model/model.ts";
import { type ChooseOptions, chooseModel, listModels } from "./choose-model.ts";
import type { Environment, ModelConfig } from "./provider-config.ts";

export interface ConfiguredModels {
  readonly models: readonly Model[];
  /** The id of the chosen model; `offline` when nothing is configured. */
  readonly chosen: string;
}

/** Throws ModelError for an unusable name or provider. */
export function configuredModels(
  config: ModelConfig,
  env: Environment,
  options: ChooseOptions = {},
): ConfiguredModels {
  const first = chooseModel(config, env, options);
  const others = listModels(config, env, options.credentials)
    .filter(({ id }) => id !== first?.facts.id)
    .flatMap(({ id }) => chooseModel(config, env, { ...options, model: id }) ?? []);
  if (first === undefined) return { models: others, chosen: "offline" };
  return { models: [first, ...others], chosen: first.facts.id };
}
