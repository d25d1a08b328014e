// fetch for servers on slow machines: the built-in one gives up after five minutes without a word, and a model that
// reads a long prompt on a CPU takes longer. An abort and a broken connection are all that ends this one.

import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import { Readable } from "node:stream";

type Send = (
  url: URL,
  options: RequestOptions,
  answered: (message: IncomingMessage) => void,
) => ClientRequest;

/** For what the SDK does: a text as the body, no redirects. */
export async function patientFetch(...[input, init = {}]: Parameters<typeof fetch>): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const { request }: { request: Send } =
    url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<Response>();
  const options = {
    method: init.method ?? "GET",
    // Nothing here could unpack an answer that was compressed.
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
  // The two declarations of a web stream differ, the stream is the same.
  const body = isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText: message.statusMessage ?? "", headers });
}
