// Turns an answer of Node's HTTP client into a Response.

import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

export function responseOf(message: IncomingMessage): Response {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(message.headersDistinct)) {
    for (const value of values) headers.append(name, value);
  }
  const status = message.statusCode ?? 500;
  const isEmpty = status === 204 || status === 205 || status === 304;
  if (isEmpty) message.resume();
  // Node's and the DOM's stream types differ; the object is the same
  const body = isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText: message.statusMessage ?? "", headers });
}
