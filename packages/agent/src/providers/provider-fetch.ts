// Sends requests to providers: no server may be silent for too long, and web pages or errors with status 200 are failures.

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { boundedBody } from "@parley/acp/transport";
import { ModelError } from "../model/model.ts";
import { Failure } from "../model/retry.ts";
import { responseOf } from "../network/node-response.ts";
import { fetchThrough } from "../network/proxy.ts";
import type { Endpoint } from "./provider-config.ts";

/** How long a server may be silent. Servers of the user may begin late: they read a long conversation for minutes. */
const silenceMs = 300_000;
const ownFirstMs = 1_800_000;

/** Fails where the server sends nothing for too long, before its answer or in it. */
function fetchFor(endpoint: Endpoint): typeof globalThis.fetch {
  const { isOwn, timeoutMs } = endpoint;
  // Node's fetch ends a silence after five minutes, whatever the limit
  const direct = isOwn || timeoutMs !== undefined ? fetchWithoutTimeout : globalThis.fetch;
  const send: typeof globalThis.fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const proxy = endpoint.proxy(url);
    // a redirect would take the conversation along, and the key: only one of the headers for keys is dropped on the way
    const options = { ...init, redirect: "manual" } as const;
    return proxy === undefined ? direct(input, options) : fetchThrough(proxy, input, options);
  };
  return withStallLimit(send, timeoutMs ?? (isOwn ? ownFirstMs : silenceMs), timeoutMs ?? silenceMs);
}

function withStallLimit(
  fetch: typeof globalThis.fetch,
  firstMs: number,
  laterMs: number,
): typeof globalThis.fetch {
  return async (input, init) => {
    const silence = new AbortController();
    const timerFor = (ms: number) => {
      // with a code, as errors of the network have
      const stall = Object.assign(new Error(`no data for ${ms / 1000} s`), { code: "ETIMEDOUT" });
      return setTimeout(() => silence.abort(stall), ms).unref();
    };
    const first = timerFor(firstMs);
    let later: NodeJS.Timeout | undefined;
    const stop = () => {
      clearTimeout(first);
      clearTimeout(later);
    };
    const signal = AbortSignal.any([silence.signal, ...(init?.signal ? [init.signal] : [])]);
    signal.addEventListener("abort", stop, { once: true });
    const response = await fetch(input, { ...init, signal }).catch((error: unknown) => {
      stop();
      silence.signal.throwIfAborted();
      throw error;
    });
    if (response.body === null) {
      stop();
      return response;
    }
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        clearTimeout(first);
        later = later?.refresh() ?? timerFor(laterMs);
        controller.enqueue(piece);
      },
      flush: stop,
    });
    const { status, statusText, headers } = response;
    const body = response.body.pipeThrough(watch, { signal: silence.signal });
    return new Response(body, { status, statusText, headers });
  };
}

/** Azure takes a key in its own header only, and its old addresses name a version of the API. */
function forAzure(endpoint: Endpoint, input: string | URL, init: RequestInit): [URL, RequestInit] {
  const url = new URL(input);
  if (endpoint.apiVersion !== undefined) url.searchParams.set("api-version", endpoint.apiVersion);
  const headers = new Headers(init.headers);
  headers.delete("authorization");
  return [url, { ...init, headers: Object.fromEntries(headers) }];
}

export function checkedFetch(endpoint: Endpoint): typeof globalThis.fetch {
  return async (input, init) => {
    const [address, options] =
      endpoint.kind === "azure" && !(input instanceof Request)
        ? forAzure(endpoint, input, init ?? {})
        : [input, init];
    const response = await fetchFor(endpoint)(address, options);
    const type = response.headers.get("content-type") ?? "";
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      const host = URL.parse(response.headers.get("location") ?? "", endpoint.baseUrl)?.host ?? "nowhere";
      const message = `${endpoint.label} answered with a redirect to ${host}, which is not followed. If you trust that address, set it as baseUrl in the config.`;
      throw new Failure(new ModelError("bad_request", message), false);
    }
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
  const text = await answerText(response);
  const code = /"error"\s*:/.test(text) ? (/"code"\s*:\s*"?([45]\d\d)\b/.exec(text)?.[1] ?? "500") : "200";
  return new Response(text, { status: Number(code), headers: response.headers });
}

/** The first model that a Chat Completions server such as Ollama, vLLM or LM Studio lists. */
export async function firstServedModel(endpoint: Endpoint, signal: AbortSignal): Promise<string> {
  const key = endpoint.key();
  const response = await fetchFor(endpoint)(`${endpoint.baseUrl}/models`, {
    headers: { ...endpoint.headers, ...(key && { authorization: `Bearer ${key.value}` }) },
    signal,
  });
  const text = await answerText(response);
  if (!response.ok) throw refusal(response.status, response.statusText);
  const first: unknown = JSON.parse(text)?.data?.[0]?.id;
  if (typeof first === "string") return first;
  throw refusal(404, "it lists no model: load one, or name one as provider/name");
}

/** Has the shape of the SDK's errors. */
function refusal(statusCode: number, message: string): Error {
  return Object.assign(new Error(message), { statusCode });
}

type Send = (
  url: URL,
  options: RequestOptions,
  answered: (message: IncomingMessage) => void,
) => ClientRequest;

/** Supports only what the SDK uses: a string body, no redirects. */
async function fetchWithoutTimeout(...[input, init = {}]: Parameters<typeof fetch>): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const { request }: { request: Send } =
    url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const options = {
    method: init.method ?? "GET",
    // this does not decompress
    headers: { ...Object.fromEntries(new Headers(init.headers)), "accept-encoding": "identity" },
    ...(init.signal && { signal: init.signal }),
  };
  const outgoing = request(url, options, (message) => resolve(responseOf(message)));
  outgoing.on("error", (cause) => reject(new TypeError("fetch failed", { cause })));
  outgoing.end(typeof init.body === "string" ? init.body : undefined);
  return promise;
}

/** More is nothing that a model server answers. */
const maxAnswerBytes = 32 * 1024 * 1024;

async function answerText({ body }: Response): Promise<string> {
  return new TextDecoder().decode((await boundedBody(body, maxAnswerBytes)).bytes);
}
