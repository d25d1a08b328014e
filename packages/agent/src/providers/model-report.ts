// Reports which models can be used now, with what is known of them and where their keys are from.

import type { ModelFacts } from "../model/model.ts";
import { builtins } from "./builtin-providers.ts";
import { type ChooseOptions, chosenEndpoint, listModels } from "./choose-model.ts";
import type { Environment } from "./environment.ts";
import type { LocalServer } from "./local/local-servers.ts";
import { localAddresses, type ModelConfig } from "./provider-config.ts";

/** A model that can be used now. */
export interface ReportedModel extends ModelFacts {
  /** The id of its provider. */
  readonly provider: string;
  /** `ANTHROPIC_API_KEY`, `config` or `login`; undefined where none is needed. */
  readonly key: string | undefined;
}

/** The models that can be used now. */
export interface ModelReport {
  /** The models, by provider. */
  readonly models: readonly ReportedModel[];
  /** The servers on this machine that answered. */
  readonly servers: readonly LocalServer[];
  /** Built-in providers without a key, with the variable that would have it. */
  readonly withoutKey: readonly { readonly provider: string; readonly variable: string }[];
}

/**
 * Reports which models can be used now. Looks for model servers on this machine, unless the config forbids it.
 *
 * @throws {ModelError} When a provider cannot be used.
 *
 * @example
 * import { modelReport } from "@parley/agent/models";
 *
 * const { models, withoutKey } = await modelReport({}, process.env);
 * for (const { id, key } of models) console.log(id, key);
 * for (const { provider, variable } of withoutKey) console.log(`${provider}: set ${variable}`);
 */
export async function modelReport(
  config: ModelConfig,
  env: Environment,
  options: Omit<ChooseOptions, "servers"> = {},
): Promise<ModelReport> {
  // fails for a model whose provider is not known
  chosenEndpoint(config, env, options);
  const isAllowed = config.localServers !== false;
  // the handshake does not need it
  const { findLocalServers } = await import("./local/local-servers.ts");
  const servers = isAllowed ? await findLocalServers(localAddresses(config, env)) : [];
  const isSilent = (id: string) =>
    builtins[id]?.isLocal === true && !servers.some((server) => server.id === id);
  const listed = listModels(config, env, { ...options, servers })
    // one that does not answer cannot be used now
    .filter(({ endpoint }) => !isAllowed || !isSilent(endpoint.id));
  const usable = new Set(listed.map(({ endpoint }) => endpoint.id));
  return {
    models: listed.map(({ facts, endpoint }) => ({
      ...facts,
      provider: endpoint.id,
      key: endpoint.key()?.from,
    })),
    servers,
    withoutKey: Object.entries(builtins).flatMap(
      ([
        provider,
        {
          keys: [variable],
        },
      ]) => (variable === undefined || usable.has(provider) ? [] : [{ provider, variable }]),
    ),
  };
}
