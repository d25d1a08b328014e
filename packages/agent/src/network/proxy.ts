// Finds the proxy of a request in the environment, and sends requests through it.

import { isLoopback } from "@parley/acp/transport";

/**
 * Environment variables, such as `process.env`.
 *
 * @inline
 */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that HTTPS_PROXY or HTTP_PROXY names for an address, unless NO_PROXY has its host. Small letters count first, as
 * with curl. This machine is never behind a proxy. Throws for a proxy that is not an http or https URL.
 */
export function proxyFor(url: URL, env: Environment): string | undefined {
  if (isLoopback(url) || isExcepted(url, variableOf(env, "no_proxy"))) return undefined;
  const name = url.protocol === "https:" ? "https_proxy" : "http_proxy";
  const value = variableOf(env, name);
  if (value === "") return undefined;
  // other programs take proxy:3128, too
  const proxy = URL.parse(value.includes("://") ? value : `http://${value}`);
  if (proxy !== null && /^https?:$/.test(proxy.protocol)) return proxy.href;
  // the value may contain a password
  throw new Error(`${name.toUpperCase()} is not an http or https URL; it should look like http://proxy:3128`);
}

function variableOf(env: Environment, name: string): string {
  return (env[name] ?? env[name.toUpperCase()] ?? "").trim();
}

/** `example.org` and `.example.org` mean the host and all below it, `example.org:8443` one port, `*` everything. */
function isExcepted(url: URL, list: string): boolean {
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const host = url.hostname.toLowerCase();
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === "*") return true;
      const [, name = "", only] = /^\*?\.?(.*?)(?::(\d+))?$/.exec(entry) ?? [];
      if (name === "" || (only !== undefined && only !== port)) return false;
      return host === name || host.endsWith(`.${name}`);
    });
}

type Undici = typeof import("undici");

/** One per proxy, so that connections are used again. A stream may be silent for long: providers think. */
const dispatchers = new Map<string, InstanceType<Undici["ProxyAgent"]>>();

/** Loaded with the first request through a proxy. */
async function dispatcherOf(proxy: string) {
  const undici = await import("undici");
  const known = dispatchers.get(proxy);
  if (known !== undefined) return { undici, dispatcher: known };
  const { href, token } = withoutPassword(proxy);
  const dispatcher = new undici.ProxyAgent({
    uri: href,
    ...(token !== undefined && { token }),
    bodyTimeout: 0,
    headersTimeout: 0,
  });
  dispatchers.set(proxy, dispatcher);
  return { undici, dispatcher };
}

/** Errors name the address of the proxy, so it must not have the password. */
function withoutPassword(proxy: string): { readonly href: string; readonly token?: string } {
  const url = new URL(proxy);
  if (url.username === "" && url.password === "") return { href: proxy };
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = "";
  url.password = "";
  return { href: url.href, token: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** `fetch`, through a proxy. */
export async function fetchThrough(
  proxy: string,
  ...[input, init]: Parameters<typeof globalThis.fetch>
): Promise<Response> {
  const { undici, dispatcher } = await dispatcherOf(proxy);
  const url = input instanceof Request ? input.url : input;
  // as: its classes are the standard ones under other names
  const own = { ...init, dispatcher } as Parameters<Undici["fetch"]>[1];
  return (await undici.fetch(url, own)) as unknown as Response;
}

/** Sends a GET and resolves with the answer as it is: no redirect is followed, nothing is decompressed. */
export async function getThrough(
  proxy: string,
  url: URL,
  { headers, signal }: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) {
  const { undici, dispatcher } = await dispatcherOf(proxy);
  return undici.request(url, { dispatcher, headers, signal });
}
