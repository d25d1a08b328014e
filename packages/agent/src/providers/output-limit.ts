// Keeps the output limit of a request: the AI SDK adds the tokens for thinking to it, and servers refuse what is too much.

import { isObject } from "@parley/acp/jsonrpc";

/** What is left for the answer itself when a model thinks as much as it may. */
const answerTokens = 4_096;

/** `limit` includes thinking. The thinking itself is not limited here: another budget would not find the cache. */
export function withOutputLimit(fetch: typeof globalThis.fetch, limit: number): typeof globalThis.fetch {
  return (input, init) => {
    const body = typeof init?.body === "string" ? limited(init.body, limit) : undefined;
    return fetch(input, body === undefined ? init : { ...init, body });
  };
}

/** Undefined when it is within the limit. */
function limited(text: string, limit: number): string | undefined {
  const body: unknown = JSON.parse(text);
  if (!isObject(body)) return undefined;
  const { max_tokens: asked, thinking } = body;
  const budget = isObject(thinking) ? Number(thinking["budget_tokens"] ?? 0) : 0;
  const most = Math.max(limit, budget + Math.min(limit, answerTokens));
  if (typeof asked !== "number" || asked <= most) return undefined;
  return JSON.stringify({ ...body, max_tokens: most });
}
