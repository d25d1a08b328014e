// Asks a provider whether it takes a key, by the cheapest request that it has: the list of its models.

import type { Endpoint } from "../providers/provider-config.ts";
import { scrub } from "../text/scrub.ts";

const patienceMs = 30_000;

/** Nothing where the key is accepted, else the reason in words, without the key. */
export async function keyProblem(endpoint: Endpoint, key: string): Promise<string | undefined> {
  const { baseUrl, label, headers } = endpoint;
  try {
    const response = await fetch(`${baseUrl}/models`, {
      headers: { ...headers, ...authorization(endpoint, key) },
      signal: AbortSignal.timeout(patienceMs),
      // the key is for this address and for no other
      redirect: "error",
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    const isRefused = response.status === 401 || response.status === 403 || response.status === 400;
    return isRefused
      ? `${label} did not accept the key (${response.status})`
      : `${label} could not check the key: it answered ${response.status}`;
  } catch (error) {
    const reason = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const words = reason instanceof Error ? reason.message : String(reason);
    return scrub(`${label} could not be asked: ${words}`, [key]);
  }
}

function authorization({ kind }: Endpoint, key: string): Readonly<Record<string, string>> {
  if (kind === "anthropic") return { "x-api-key": key, "anthropic-version": "2023-06-01" };
  return kind === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}
