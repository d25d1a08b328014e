// Checks an API key by listing the provider's models.

import type { Endpoint } from "../providers/provider-config.ts";
import { scrub } from "../text/scrub.ts";

const timeoutMs = 30_000;

/** Undefined when the key is accepted, else the reason, without the key. */
export async function keyProblem(endpoint: Endpoint, key: string): Promise<string | undefined> {
  const { baseUrl, label, headers } = endpoint;
  try {
    const response = await fetch(`${baseUrl}/models`, {
      headers: { ...headers, ...authorization(endpoint, key) },
      signal: AbortSignal.timeout(timeoutMs),
      // never send the key to another address
      redirect: "error",
    });
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
  return kind === "google" ? { "x-goog-api-key": key } : { authorization: `Bearer ${key}` };
}
