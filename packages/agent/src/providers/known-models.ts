// Facts about models: from the config, else from a registry, else cautious defaults.

import type { Effort, ModelFacts } from "../model/model.ts";
import type { ProviderKind } from "./builtin-providers.ts";
import type { Endpoint, ModelOverrides } from "./provider-config.ts";
import { builtInRegistry } from "./registry/built-in.ts";
import type { KnownFacts, Registry } from "./registry/registry.ts";

const textOnly = { takesImages: false, takesAudio: false, takesDocuments: false };
const pages = { ...textOnly, takesImages: true, takesDocuments: true };
const levels: readonly Effort[] = ["low", "medium", "high"];

const defaults: Readonly<Record<ProviderKind, Omit<ModelFacts, "id" | "name">>> = {
  // the API demands a limit, and servers with other models than Claude allow at least this
  anthropic: { contextWindow: 200_000, maxOutput: 32_000, ...pages, efforts: ["none", ...levels] },
  openai: { contextWindow: 128_000, ...pages, efforts: levels },
  "openai-chat": { contextWindow: 128_000, ...pages, efforts: [] },
  azure: { contextWindow: 128_000, ...pages, efforts: [] },
  google: { contextWindow: 1_048_576, ...pages, takesAudio: true, efforts: levels },
  vertex: { contextWindow: 1_048_576, ...pages, takesAudio: true, efforts: levels },
  bedrock: { contextWindow: 128_000, ...textOnly, efforts: [] },
  compatible: { contextWindow: 32_768, ...textOnly, efforts: [] },
};

/** The provider that makes the models of an API. */
const makers: Partial<Readonly<Record<ProviderKind, string>>> = {
  anthropic: "anthropic",
  openai: "openai",
  "openai-chat": "openai",
  google: "google",
};

/** The models to offer. Those of Azure have the names of the user's deployments. */
export function knownNames({ id, kind, listsModels }: Endpoint, registry: Registry): readonly string[] {
  const own = listsModels ? undefined : registry.get(id);
  return [...((own ?? registry.get(makers[kind] ?? ""))?.keys() ?? [])];
}

/** Undefined where the user must name one. `auto` takes the first model that the server lists. */
export function defaultName(endpoint: Endpoint, registry: Registry): string | undefined {
  const [configured] = Object.keys(endpoint.models);
  if (configured !== undefined) return configured;
  return endpoint.listsModels ? "auto" : registry.get(endpoint.id)?.keys().next().value;
}

/** Guesses the provider of a bare model name. */
export function providerOfName(name: string): string | undefined {
  if (/^claude-/.test(name)) return "anthropic";
  if (/^(?:gpt-|o\d|codex-)/.test(name)) return "openai";
  return /^gemini-/.test(name) ? "google" : undefined;
}

/** `found`: what a server on this machine says of its model. */
export function factsOf(
  endpoint: Endpoint,
  name: string,
  registry: Registry = builtInRegistry,
  found?: KnownFacts,
): ModelFacts {
  const { id, kind, label, models } = endpoint;
  const overrides: ModelOverrides = Object.hasOwn(models, name) ? (models[name] ?? {}) : {};
  const known = lookedUp(endpoint, name, registry);
  // whatever listens on this machine may call its model as it likes: people see where it is
  const here = found && { ...found, name: `${name} (${label})` };
  const facts = { name, ...defaults[kind], ...known, ...here, ...overrides, id: `${id}/${name}` };
  // servers count the limit as used: a conversation must fit beside it
  const most =
    overrides.maxOutput ?? Math.min(facts.maxOutput ?? Infinity, Math.floor(facts.contextWindow / 3));
  return facts.maxOutput === undefined ? facts : { ...facts, maxOutput: most };
}

/** A dated name such as claude-sonnet-4-5-20250929 has the facts of the undated one. */
function lookedUp({ id, kind, listsModels }: Endpoint, name: string, registry: Registry): KnownFacts {
  const undated = name.replace(/[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$/, "");
  // clouds serve the models of others under longer names, at prices of their own
  const bare = undated.replace(/^(?:[a-z]+\.)?anthropic\./, "").replace(/(?:-\d{8})?-v\d+(?::\d+)?$/, "");
  const own = registry.get(listsModels ? (makers[kind] ?? "") : id);
  const made = own?.get(name) ?? own?.get(undated) ?? registry.get(makers[kind] ?? "")?.get(undated);
  if (made !== undefined) return made;
  const maker = { bedrock: "anthropic", vertex: "google", azure: "openai" }[kind as string];
  const { price: _, ...elsewhere } = registry.get(maker ?? "")?.get(bare) ?? {};
  return elsewhere;
}
