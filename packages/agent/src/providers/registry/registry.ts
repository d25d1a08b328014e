// Reads registries: facts about models, by provider and name, in the format of models.dev.

import { isObject, optional } from "@parley/acp/jsonrpc";
import { allEfforts } from "../../model/efforts.ts";
import type { Effort, ModelFacts, Price } from "../../model/model.ts";

/**
 * The facts that are known of a model.
 *
 * @inline
 */
export type KnownFacts = Partial<Omit<ModelFacts, "id">>;

/** Facts about models, by provider and then by name. The first model of a provider is its default. */
export type Registry = ReadonlyMap<string, ReadonlyMap<string, KnownFacts>>;

/** A registry that cannot be used, with the place of the first error. */
export class RegistryError extends Error {
  /** Always "RegistryError". */
  override readonly name = "RegistryError";
}

type Fields = Readonly<Record<string, unknown>>;

const maxTokens = 1_000_000_000;
const maxDollars = 1_000_000;
const maxNameLength = 200;

/** Throws a RegistryError for a value of the wrong type. Models without tools and without a window are left out. */
export function decodeRegistry(document: unknown, providers?: readonly string[]): Registry {
  const all = fields(document, "the registry");
  const ids = (providers ?? Object.keys(all)).filter((id) => Object.hasOwn(all, id));
  const decoded = ids.map((id) => {
    const models = fields(fields(all[id], id)["models"], `${id}.models`);
    const known = Object.entries(models).flatMap(([name, model]): [string, KnownFacts][] => {
      const facts = decodeModel(fields(model, `${id}.models.${name}`), id, `${id}.models.${name}`);
      return facts === undefined || !isName(name) ? [] : [[name, facts]];
    });
    return [id, new Map(known)] as const;
  });
  return new Map(decoded);
}

/**
 * Merges two registries. Values of `newer` replace those of `older`, field by field; models of `older` come first.
 *
 * @example
 * import { builtInRegistry, mergedRegistry, storedRegistry } from "@parley/agent/models";
 *
 * const stored = storedRegistry("/home/me/.cache/my-app/models.json");
 * console.log(mergedRegistry(builtInRegistry, stored).size);
 */
export function mergedRegistry(older: Registry, newer: Registry | undefined): Registry {
  if (newer === undefined) return older;
  const ids = new Set([...older.keys(), ...newer.keys()]);
  return new Map(
    [...ids].map((id) => {
      const models = new Map(older.get(id));
      for (const [name, facts] of newer.get(id) ?? []) models.set(name, { ...models.get(name), ...facts });
      return [id, models];
    }),
  );
}

function decodeModel(model: Fields, provider: string, at: string): KnownFacts | undefined {
  const limit = fields(model["limit"], `${at}.limit`);
  const contextWindow = tokens(limit["context"], `${at}.limit.context`);
  if (contextWindow === undefined || contextWindow === 0 || model["tool_call"] === false) return undefined;
  const maxOutput = tokens(limit["output"], `${at}.limit.output`);
  const input = list(
    fields(model["modalities"] ?? {}, `${at}.modalities`)["input"],
    `${at}.modalities.input`,
  );
  const name = model["name"];
  return {
    ...(typeof name === "string" && isName(name) && { name }),
    contextWindow,
    ...optional({ maxOutput: maxOutput === 0 ? undefined : maxOutput }),
    takesImages: input.includes("image"),
    takesAudio: input.includes("audio"),
    takesDocuments: input.includes("pdf"),
    // a model that thinks without a word about levels: they are not known
    ...(!(model["reasoning"] === true && model["reasoning_options"] === undefined) && {
      efforts: effortsOf(list(model["reasoning_options"], `${at}.reasoning_options`), provider),
    }),
    ...optional({ price: priceOf(model["cost"], `${at}.cost`) }),
  };
}

/** APIs that turn a level into a number of tokens, and that can switch thinking off. Others only know levels. */
const withBudgets = ["anthropic", "google", "google-vertex", "amazon-bedrock", "minimax"];

function effortsOf(options: readonly unknown[], provider: string): readonly Effort[] {
  const found = new Set<unknown>();
  for (const option of options) {
    const { type, values, min } = isObject(option) ? option : {};
    if (type === "effort" && Array.isArray(values)) for (const value of values) found.add(value);
    if (!withBudgets.includes(provider)) continue;
    if (type === "toggle" || (type === "budget_tokens" && min === 0)) found.add("none");
    if (type === "budget_tokens") for (const level of ["low", "medium", "high"]) found.add(level);
  }
  const efforts = allEfforts.filter((effort) => found.has(effort));
  // thinking that can only be switched off has no levels
  return efforts.some((effort) => effort !== "none") ? efforts : [];
}

function priceOf(value: unknown, at: string): Price | undefined {
  if (value === undefined || value === null) return undefined;
  const cost = fields(value, at);
  const input = dollars(cost["input"], `${at}.input`);
  const output = dollars(cost["output"], `${at}.output`);
  if (input === undefined || output === undefined) return undefined;
  const cachedInput = dollars(cost["cache_read"], `${at}.cache_read`);
  const cacheWrite = dollars(cost["cache_write"], `${at}.cache_write`);
  return { input, output, ...optional({ cachedInput, cacheWrite, long: longOf(cost, input, output, at) }) };
}

/** The first step of the price; the others are for lengths that few models take. */
function longOf(cost: Fields, input: number, output: number, at: string): Price["long"] {
  const [tier] = list(cost["tiers"], `${at}.tiers`);
  if (tier === undefined || input === 0 || output === 0) return undefined;
  const step = fields(tier, `${at}.tiers`);
  const above = tokens(fields(step["tier"], `${at}.tiers.tier`)["size"], `${at}.tiers.tier.size`);
  const longInput = dollars(step["input"], `${at}.tiers.input`);
  const longOutput = dollars(step["output"], `${at}.tiers.output`);
  if (above === undefined || longInput === undefined || longOutput === undefined) return undefined;
  return { above, input: longInput / input, output: longOutput / output };
}

function fields(value: unknown, at: string): Fields {
  if (isObject(value)) return value;
  throw wrong(at, "an object", value);
}

function list(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw wrong(at, "a list", value);
}

function tokens(value: unknown, at: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= maxTokens) return value;
  throw wrong(at, "a number of tokens", value);
}

function dollars(value: unknown, at: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" && value >= 0 && value <= maxDollars) return value;
  throw wrong(at, "a price in dollars", value);
}

/** Names are shown, and are part of options: no control characters, and not too long. */
function isName(name: string): boolean {
  return name.length > 0 && name.length <= maxNameLength && !/[\p{C}\p{Zl}\p{Zp}]/u.test(name);
}

function wrong(at: string, wanted: string, got: unknown): RegistryError {
  const kind = got === null ? "null" : Array.isArray(got) ? "a list" : typeof got;
  return new RegistryError(`${at.slice(0, 200)} must be ${wanted}, got ${kind}`);
}
