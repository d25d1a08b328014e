// Finds model servers on this machine, with their models and windows: Ollama, LM Studio, llama.cpp and vLLM.

import { isObject, optional } from "@parley/acp/jsonrpc";
import { boundedBody } from "@parley/acp/transport";
import type { KnownFacts } from "../registry/registry.ts";
import { llamaCpp, lmStudio, ollama, type Read, vllm } from "./server-kinds.ts";

/**
 * A model server on this machine.
 *
 * @inline
 */
export interface LocalServer {
  /** The id of its provider, such as `ollama`. */
  readonly id: string;
  /** Without the version of the API. */
  readonly url: string;
  /** By name, in the order of the server. */
  readonly models: ReadonlyMap<string, KnownFacts>;
}

export interface LocalAddress {
  readonly id: string;
  /** The address of its Chat Completions API, which ends with /v1. */
  readonly baseUrl: string;
}

const kinds = { ollama, lmstudio: lmStudio, llamacpp: llamaCpp, vllm } as const;

/** A server on this machine answers at once, or is busy. Hardly anything waits for this. */
const defaultTimeoutMs = 3_000;
const maxBytes = 4 * 1024 * 1024;
const maxModels = 200;
/** What other programs call their models is not to be trusted with a screen. */
const safeName = /^[^\p{C}\p{Z}]{1,200}$/u;

/** Asks all addresses at once. A server that does not answer as its kind does is left out. Never rejects. */
export async function findLocalServers(
  addresses: readonly LocalAddress[],
  timeoutMs = defaultTimeoutMs,
): Promise<readonly LocalServer[]> {
  const found = await Promise.all(addresses.map((address) => asked(address, timeoutMs)));
  return found.filter((server) => server !== undefined);
}

async function asked({ id, baseUrl }: LocalAddress, timeoutMs: number): Promise<LocalServer | undefined> {
  const url = baseUrl.replace(/\/v1\/?$/, "");
  const kind = Object.hasOwn(kinds, id) ? kinds[id as keyof typeof kinds] : undefined; // as: checked
  if (kind === undefined) return undefined;
  const signal = AbortSignal.timeout(timeoutMs);
  const read: Read = (path, body) => answerOf(`${url}${path}`, body, signal);
  try {
    const listed = (await kind(read)).filter(({ name }) => safeName.test(name)).slice(0, maxModels);
    if (listed.length === 0) return undefined;
    const models = listed.map(({ name, ...facts }) => [name, { name, ...optional(facts) }] as const);
    return { id, url, models: new Map(models) };
  } catch {
    // nothing there, or something else
    return undefined;
  }
}

/** Sends no key, and follows no redirect: whatever listens there may be somebody else's program. */
async function answerOf(
  url: string,
  body: object | undefined,
  signal: AbortSignal,
): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(url, {
    signal,
    redirect: "error",
    ...(body && {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    }),
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  }
  const { bytes, isCut } = await boundedBody(response.body, maxBytes);
  if (isCut) throw new Error("too long");
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (!isObject(value)) throw new Error("not an object");
  return value;
}
