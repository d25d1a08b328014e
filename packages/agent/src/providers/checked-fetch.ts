// Turns web pages and errors with status 200 into proper failures; the SDK would take them for empty answers.

import { ModelError } from "../model/model.ts";
import { Failure } from "../model/retry.ts";
import { fetchWithoutTimeout } from "./fetch-without-timeout.ts";
import type { Endpoint } from "./provider-config.ts";

/** Servers of the user may be slow, so they have no timeout; others fail after five silent minutes. */
export function fetchFor({ kind }: Endpoint): typeof globalThis.fetch {
  return kind === "compatible" ? fetchWithoutTimeout : globalThis.fetch;
}

export function checkedFetch(endpoint: Endpoint): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetchFor(endpoint)(input, init);
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok) return response;
    if (type.startsWith("text/html")) {
      await response.body?.cancel();
      const message = `${endpoint.label} answered with a web page instead of a stream. Check baseUrl in the config: most end with /v1.`;
      throw new Failure(new ModelError("bad_request", message), false);
    }
    return type.startsWith("application/json") ? errorIn(response) : response;
  };
}

/** Some gateways send `{"error":{"code":429}}` with status 200. */
async function errorIn(response: Response): Promise<Response> {
  const text = await response.text();
  const code = /"error"\s*:/.test(text) ? (/"code"\s*:\s*"?([45]\d\d)\b/.exec(text)?.[1] ?? "500") : "200";
  return new Response(text, { status: Number(code), headers: response.headers });
}
