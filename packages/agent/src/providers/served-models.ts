// Lists the models of a Chat Completions server such as Ollama, vLLM or LM Studio.

import type { Failure } from "../model/retry.ts";
import { fetchFor } from "./checked-fetch.ts";
import type { Endpoint } from "./provider-config.ts";

/** The first model that the server lists. `fail` converts any error. */
export async function firstServedModel(
  endpoint: Endpoint,
  signal: AbortSignal,
  fail: (thrown: unknown) => Failure,
): Promise<string> {
  try {
    const key = endpoint.key();
    const response = await fetchFor(endpoint)(`${endpoint.baseUrl}/models`, {
      headers: { ...endpoint.headers, ...(key && { authorization: `Bearer ${key.value}` }) },
      signal,
    });
    const text = await response.text();
    if (!response.ok) throw refusal(response.status, response.statusText);
    const first: unknown = JSON.parse(text)?.data?.[0]?.id;
    if (typeof first === "string") return first;
    throw refusal(404, "it lists no model: load one, or name one as provider/name");
  } catch (error) {
    throw fail(error);
  }
}

/** Has the shape of the SDK's errors. */
function refusal(statusCode: number, message: string): Error {
  return Object.assign(new Error(message), { statusCode });
}
