// Determines the provider for a login, and checks its API key.

import { ModelError } from "../model/model.ts";
import { fetchThrough } from "../network/proxy.ts";
import { chosenEndpoint } from "../providers/choose-model.ts";
import type { Environment } from "../providers/environment.ts";
import {
  type Credentials,
  type Endpoint,
  endpointOf,
  type ModelConfig,
  providerIds,
} from "../providers/provider-config.ts";
import { scrub } from "../text/hidden-secrets.ts";

/**
 * Returns the provider that a key is for: the named one, else that of the configured model.
 *
 * @param wanted - The id of a provider, such as `anthropic`.
 * @param credentials - Returns the stored key of a provider.
 * @throws {ModelError} When the provider is not known, or when none is named or configured.
 *
 * @example
 * import { keyProblem, loginProvider } from "@parley/agent/models";
 *
 * const provider = loginProvider({}, process.env, "anthropic");
 * const problem = await keyProblem(provider, "my-key");
 * console.log(problem ?? `${provider.label} accepts the key`);
 */
export function loginProvider(
  config: ModelConfig,
  env: Environment,
  wanted: string | undefined,
  credentials: Credentials = () => undefined,
): Endpoint {
  const ids = providerIds(config);
  const list = `Name one of: ${ids.join(", ")}.`;
  if (wanted !== undefined && !ids.includes(wanted)) {
    throw new ModelError("bad_request", `The provider "${wanted.slice(0, 80)}" is not known. ${list}`);
  }
  const endpoint =
    wanted === undefined
      ? chosenEndpoint(config, env, { credentials, isKeyOptional: true })
      : endpointOf(wanted, config, env, credentials);
  if (endpoint === undefined) {
    throw new ModelError(
      "bad_request",
      `No model is configured, so the provider of the key is unknown. ${list}`,
    );
  }
  return endpoint;
}

const timeoutMs = 30_000;

/** Whether the provider can be asked about a key without using it for a model. */
export function canCheckKey({ kind, apiVersion }: Endpoint): boolean {
  return kind !== "bedrock" && kind !== "vertex" && apiVersion === undefined;
}

/**
 * Asks a provider whether it accepts a key. Returns undefined if it does, else the reason, without the key.
 *
 * @example
 * import { keyProblem, loginProvider } from "@parley/agent/models";
 *
 * const provider = loginProvider({}, process.env, "openai");
 * console.log((await keyProblem(provider, "my-key")) ?? "the key works");
 */
export async function keyProblem(endpoint: Endpoint, key: string): Promise<string | undefined> {
  const { baseUrl, label, headers } = endpoint;
  if (!canCheckKey(endpoint))
    return `a key for ${label} can only be checked by using it; log in without --check`;
  try {
    const url = new URL(`${baseUrl}/models`);
    const init = {
      headers: { ...headers, ...authorization(endpoint, key) },
      signal: AbortSignal.timeout(timeoutMs),
      // never send the key to another address
      redirect: "error",
    } as const;
    const proxy = endpoint.proxy(url);
    const response = await (proxy === undefined ? fetch(url, init) : fetchThrough(proxy, url, init));
    await response.body?.cancel();
    if (response.ok) return undefined;
    const isRefused = response.status === 401 || response.status === 403 || response.status === 400;
    return isRefused
      ? `${label} did not accept the key (${response.status})`
      : `${label} could not check the key (status ${response.status})`;
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const words = reason instanceof Error ? reason.message : String(reason);
    return scrub(`${label} could not be reached: ${words}`, [key]);
  }
}

function authorization({ kind }: Endpoint, key: string): Readonly<Record<string, string>> {
  if (kind === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
  if (kind === "azure") return { "api-key": key };
  return kind === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}
