// A `fetch` without the five-minute timeout of the built-in one, for slow local models.

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Readable } from "node:stream";

type Send = (
  url: URL,
  options: RequestOptions,
  answered: (message: IncomingMessage) => void,
) => ClientRequest;

/** Supports only what the SDK uses: a string body, no redirects. */
export async function fetchWithoutTimeout(
  ...[input, init = {}]: Parameters<typeof fetch>
): Promise<Response> {
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

function responseOf(message: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(message.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const status = message.statusCode ?? 500;
  const isEmpty = status === 204 || status === 304;
  if (isEmpty) message.resume();
  // Node's and the DOM's stream types differ; the object is the same
  const body = isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText: message.statusMessage ?? "", headers });
}
