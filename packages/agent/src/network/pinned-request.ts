// Sends a request to addresses that were checked, so that DNS cannot point it elsewhere afterwards.

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { responseOf } from "./node-response.ts";
import { type Address, checkedAddresses, type NetworkAccess } from "./public-addresses.ts";

export interface PinnedRequest {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves with the answer; a redirect is an answer like any other. */
export function sendTo(
  url: URL,
  addresses: readonly Address[],
  { method = "GET", headers, body, signal }: PinnedRequest,
): Promise<IncomingMessage> {
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = send(url, {
    method,
    headers,
    // its own connection, without a proxy from the environment
    agent: false,
    ...(signal && { signal }),
    lookup: (_, options, done) => {
      const [first] = addresses;
      if (options.all === true) done(null, [...addresses]);
      else done(null, first?.address ?? "", first?.family);
    },
  });
  request.once("response", resolve);
  request.once("error", reject);
  request.end(body);
  return promise;
}

/** Limits of a `fetch`: addresses of private networks are refused, except the origin that the user named. */
export interface FetchAccess extends NetworkAccess {
  readonly ownOrigin: string | undefined;
}

/** A `fetch` for the MCP client: a text or a form as body, and no redirect is followed, so that each one is checked. */
export function checkedFetch(
  access: FetchAccess,
): (input: string | URL, init?: RequestInit) => Promise<Response> {
  return async (input, init = {}) => {
    const url = new URL(input);
    // the user named exactly this host and port, and may use a proxy
    if (url.origin === access.ownOrigin) return fetch(url, { ...init, redirect: "manual" });
    const addresses = await checkedAddresses(url, access);
    const message = await sendTo(url, addresses, {
      method: init.method ?? "GET",
      // this does not decompress
      headers: { ...Object.fromEntries(new Headers(init.headers)), "accept-encoding": "identity" },
      ...(init.body != null && { body: textOf(init.body) }),
      signal: init.signal ?? undefined,
    });
    return responseOf(message);
  };
}

/** The MCP client sends no others. */
function textOf(body: NonNullable<RequestInit["body"]>): string {
  if (typeof body === "string") return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError("checkedFetch: expected a text or a form as body");
}
