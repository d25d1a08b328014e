// Fetches a registry, checks it, and stores what is read of it. A bad one changes nothing.

import { readFileSync } from "node:fs";
import { isObject } from "@parley/acp/jsonrpc";
import { replaceFileSync } from "@parley/acp/node";
import { boundedBody, isLoopback } from "@parley/acp/transport";
import { type Environment, fetchThrough, proxyFor } from "../../network/proxy.ts";
import { builtInRegistry } from "./built-in.ts";
import { decodeRegistry, type Registry, RegistryError } from "./registry.ts";

export const defaultRegistryUrl = "https://models.dev/api.json";

const timeoutMs = 30_000;
const maxBytes = 32 * 1024 * 1024;
/** What `decodeRegistry` reads of a model. */
const kept = ["name", "limit", "modalities", "reasoning", "reasoning_options", "tool_call", "cost"];

/** What to fetch, and where to store it. */
export interface RefreshOptions {
  /** The file to write. */
  readonly path: string;
  /** The providers to keep. Default: those that the built-in registry has. */
  readonly providers?: readonly string[];
  /** The address of the registry. Default: that of models.dev. */
  readonly url?: string | undefined;
  /** The environment, which names proxies. */
  readonly env: Environment;
}

/**
 * Fetches facts about models, checks them, and stores them in a file. A failure leaves the old file as it was.
 *
 * @throws {RegistryError} When the registry cannot be fetched, or is not one.
 *
 * @example
 * import { refreshRegistry } from "@parley/agent/models";
 *
 * const registry = await refreshRegistry({ path: "/home/me/.cache/my-app/models.json", env: process.env });
 * console.log([...registry.keys()]);
 */
export async function refreshRegistry({
  path,
  providers = [...builtInRegistry.keys()],
  url = defaultRegistryUrl,
  env,
}: RefreshOptions): Promise<Registry> {
  const address = URL.parse(url);
  if (address === null || (address.protocol !== "https:" && !isLoopback(address)))
    throw new RegistryError(
      "the address of the registry must be an https URL; see agent.registry in the config",
    );
  const document = parsed(await download(address, env));
  const chosen = chosenFields(document, providers);
  const registry = decodeRegistry(chosen);
  if (![...registry.values()].some((models) => models.size > 0))
    throw new RegistryError(`${address.host} sent a registry without any model of our providers`);
  replaceFileSync(path, `${JSON.stringify(chosen)}\n`);
  return registry;
}

/**
 * Reads the registry that `refreshRegistry` stored. Returns undefined if there is none, or if it cannot be read.
 *
 * @example
 * import { builtInRegistry, mergedRegistry, storedRegistry } from "@parley/agent/models";
 *
 * const registry = mergedRegistry(builtInRegistry, storedRegistry("/home/me/.cache/my-app/models.json"));
 * console.log(registry.get("anthropic")?.size);
 */
export function storedRegistry(path: string): Registry | undefined {
  try {
    return decodeRegistry(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    // never refreshed, or written by another version
    return undefined;
  }
}

async function download(url: URL, env: Environment): Promise<string> {
  try {
    const proxy = proxyFor(url, env);
    // a redirect could lead away from https
    const init = { signal: AbortSignal.timeout(timeoutMs), redirect: "error" } as const;
    const response = await (proxy === undefined ? fetch(url, init) : fetchThrough(proxy, url, init));
    if (!response.ok) throw new RegistryError(`${url.host} answered ${response.status}; try again later`);
    const { bytes, isCut } = await boundedBody(response.body, maxBytes);
    if (isCut) throw new RegistryError(`the registry of ${url.host} is larger than ${maxBytes} bytes`);
    return new TextDecoder().decode(bytes);
  } catch (error) {
    if (error instanceof RegistryError) throw error;
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const words = cause instanceof Error ? cause.message : String(cause);
    throw new RegistryError(`${url.host} could not be read: ${words}`, { cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RegistryError("the registry is not JSON; check its address", { cause: error });
  }
}

function chosenFields(document: unknown, providers: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isObject(document)) throw new RegistryError("the registry must be an object; check its address");
  const chosen = providers.flatMap((id) => {
    const provider = Object.hasOwn(document, id) ? document[id] : undefined;
    if (!isObject(provider) || !isObject(provider["models"])) return [];
    const models = Object.entries(provider["models"]).map(([name, model]) => [
      name,
      isObject(model) ? only(model) : model,
    ]);
    return [[id, { models: Object.fromEntries(models) }]];
  });
  return Object.fromEntries(chosen);
}

function only(model: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(model).filter(([name]) => kept.includes(name)));
}
