// The fetch for remote agents: HTTP/2 where the server has it, and the proxies of the environment.

import { subscribe } from "node:diagnostics_channel";
import type { ClientHttp2Stream } from "node:http2";
import { type HttpTransportOptions, isLoopback } from "@parley/acp/transport";
import type { Dispatcher } from "undici";

type Fetch = NonNullable<HttpTransportOptions["fetch"]>;

/**
 * TLS settles which version is spoken. Without TLS it is HTTP/1.1: a server that knows no HTTP/2 can only be found out by
 * a request that it may misread, and what HTTP/2 is for, many streams over one socket, saves nothing on this machine.
 */
export const remoteFetch: Fetch = async (url, init) => {
  loading ??= load();
  return (await loading)(url, init);
};

/** One for the process: agents at one address share a connection. */
let loading: Promise<Fetch> | undefined;

async function load(): Promise<Fetch> {
  // it takes longer to load than to use
  const { Agent, EnvHttpProxyAgent, fetch } = await import("undici");
  subscribe("http2.client.stream.created", ignoreLateAnswers);
  const tls = { preferH2: true };
  // an event stream may be silent, and a first answer may wait for an agent to start; the transport has limits of its own
  const options = { allowH2: true, connect: tls, bodyTimeout: 0, headersTimeout: 0 };
  const direct = new Replaceable(() => new Agent(options));
  const proxied = new Replaceable(
    () =>
      new EnvHttpProxyAgent({
        ...options,
        requestTls: tls,
        ...proxyOption("httpProxy", "http_proxy"),
        ...proxyOption("httpsProxy", "https_proxy"),
      }),
  );
  return (url, init) => {
    const dispatcher = (isLoopback(new URL(url)) ? direct : proxied).forRequest(init.signal);
    // as: its classes are the standard ones under other names
    const own = { ...init, dispatcher } as Parameters<typeof fetch>[1];
    return fetch(url, own) as Promise<unknown> as Promise<Response>;
  };
}

/**
 * Sockets, and new ones when a server was silent for too long: on a socket that is dead without a word, HTTP/2 would send
 * the next requests too. What is still open on the old ones goes on.
 */
class Replaceable {
  readonly #create: () => Dispatcher;
  #current: Dispatcher | undefined;

  constructor(create: () => Dispatcher) {
    this.#create = create;
  }

  forRequest(signal: AbortSignal | null | undefined): Dispatcher {
    this.#current ??= this.#create();
    const used = this.#current;
    signal?.addEventListener("abort", () => {
      if (signal.reason?.name !== "TimeoutError" || this.#current !== used) return;
      this.#current = undefined;
      // it waits for what is open
      void used.close();
    });
    return used;
  }
}

/**
 * An answer to a request that was aborted meanwhile comes as a stream of its own, to which nobody listens. If the socket
 * then breaks, the error of this stream would end the process.
 */
function ignoreLateAnswers(message: unknown): void {
  // as: what Node documents for this channel
  const { stream, headers } = message as { stream: ClientHttp2Stream; headers?: Record<string, unknown> };
  if (headers?.[":status"] === undefined) return;
  stream.on("error", () => undefined);
  setImmediate(() => stream.destroy());
}

/** Other programs take "proxy:3128", too. */
function proxyOption(option: string, name: string): Readonly<Record<string, string>> {
  const value = process.env[name] ?? process.env[name.toUpperCase()] ?? "";
  if (value === "" || value.includes("://")) return {};
  return { [option]: `http://${value}` };
}
