// Connects to a remote agent over HTTP or a WebSocket.

import { randomBytes } from "node:crypto";
import { request as httpRequest, STATUS_CODES } from "node:http";
import { request as httpsRequest } from "node:https";
import { httpTransport, type Transport, webSocketTransport } from "@parley/acp";
import { optional } from "@parley/acp/jsonrpc";
import {
  plainTextProblem,
  type Sink,
  type WebSocketLike,
  wrapSink,
  wrapTransport,
} from "@parley/acp/transport";
import type { RemoteEntry } from "../agents/agent-spec.ts";
import { LaunchError } from "./launch-error.ts";
import type { LaunchEvent } from "./launch-event.ts";
import type { Explanation, ReachedAgent } from "./reach-command.ts";
import { endHint } from "./remote-end.ts";
import { remoteFetch } from "./remote-fetch.ts";
import { tlsHint } from "./tls-problem.ts";

/** Throws a LaunchError for addresses that cannot be used from here. */
export function reachRemote(entry: RemoteEntry, onEvent?: (event: LaunchEvent) => void): ReachedAgent {
  const { onCut, over } = cutReporter(entry.name, onEvent ?? (() => undefined));
  const reached = entry.transport === "http" ? reachHttp(entry, onCut) : reachSocket(entry, onCut);
  const { transport } = reached;
  const start: Transport["start"] = (sink) => {
    const end: Sink["end"] = (reason) => {
      over();
      sink.end(reason);
    };
    transport.start(wrapSink(sink, { end }));
  };
  return { ...reached, transport: wrapTransport(transport, { start }) };
}

type OnCut = (isCut: boolean, keptMs: number) => void;

/** Shorter cuts go unnoticed. */
const noticedMs = 2_000;

/** Reports cuts that last, and their end. */
function cutReporter(agent: string, report: (event: LaunchEvent) => void) {
  let timer: NodeJS.Timeout | undefined;
  let isTold = false;
  const onCut: OnCut = (isCut, keptMs) => {
    clearTimeout(timer);
    if (!isCut && isTold) report({ kind: "back", agent });
    isTold = false;
    if (!isCut) return;
    timer = setTimeout(() => {
      isTold = true;
      report({ kind: "cut", agent, keptMs });
    }, noticedMs);
  };
  return { onCut, over: () => clearTimeout(timer) };
}

function reachHttp(entry: RemoteEntry, onCut: OnCut): ReachedAgent {
  const { name, headers = {}, allowPlainText = false, plainPost = false } = entry;
  const url = checkedAddress(entry, /^https?:$/, "http:// or https://");
  try {
    const posts = new Set<Promise<unknown>>();
    const transport = httpTransport(url, {
      headers,
      allowPlainText,
      plainPost,
      fetch: countingFetch(posts),
      onCut,
    });
    return {
      transport,
      async sent() {
        // each may let the next one go
        for (; posts.size > 0; await new Promise(setImmediate)) await Promise.allSettled(posts);
      },
      pid: undefined,
      stderrTail: () => "",
      async explain(error) {
        const status = statusOf(error);
        return { hint: tlsHint(error) ?? endHint(error) ?? hintOf(status, url), ...optional({ status }) };
      },
    };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new LaunchError("unreachable", `${name}: ${why}`, { hint: "correct this agent", cause });
  }
}

function reachSocket(entry: RemoteEntry, onCut: OnCut): ReachedAgent {
  const { name, headers = {} } = entry;
  const url = checkedAddress(entry, /^(?:wss?|https?):$/, "ws:// or wss://");
  // Node's own socket takes headers, which the standard one does not
  const Socket = WebSocket as unknown as new (
    url: URL,
    options: { headers: Readonly<Record<string, string>>; protocols: string[] },
  ) => WebSocketLike;
  try {
    // what the socket would refuse when it is opened
    new Headers(headers);
    if (url.hash !== "") throw new TypeError("a fragment is not sent");
  } catch {
    // its own words may quote a header
    const message = `${name}: the address or the headers cannot be used`;
    throw new LaunchError("unreachable", message, { hint: "correct the url and the headers of this agent" });
  }
  let socket: WebSocketLike | undefined;
  let wasOpen = false;
  const transport = webSocketTransport(
    (protocols) => {
      socket = new Socket(url, { headers, protocols });
      socket.addEventListener("open", () => {
        wasOpen = true;
      });
      return socket;
    },
    { onCut },
  );
  return {
    transport,
    pid: undefined,
    stderrTail: () => "",
    // one that was open was not refused: its own words say why it ended
    explain: async (error) =>
      wasOpen ? { hint: endHint(error) ?? goneHint } : socketExplanation(url, headers),
    async sent() {
      // a standard socket does not report it
      const isWaiting = () =>
        socket !== undefined &&
        (socket.readyState === 0 || (socket.readyState === 1 && socket.bufferedAmount > 0));
      while (isWaiting()) await new Promise((resolve) => setTimeout(resolve, 5));
    },
  };
}

/** Adds each request that is being sent. */
function countingFetch(posts: Set<Promise<unknown>>): typeof remoteFetch {
  return (url, init) => {
    const response = remoteFetch(url, init);
    if (init.method !== "POST") return response;
    posts.add(response);
    const done = () => void posts.delete(response);
    response.then(done, done);
    return response;
  };
}

function checkedAddress({ name, url, allowPlainText }: RemoteEntry, wanted: RegExp, words: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !wanted.test(parsed.protocol)) {
    const message = `${name}: invalid address; use ${words}`;
    throw new LaunchError("unreachable", message, { hint: "correct the url of this agent" });
  }
  const problem = allowPlainText ? undefined : plainTextProblem(parsed);
  if (problem === undefined) return parsed;
  throw new LaunchError("unreachable", `${name}: ${problem}`, {
    hint: 'use that, or forward a port with ssh (docs/serve.md); where the network is your own, an agent of the config file may have "allowPlainText": true',
  });
}

/** The status of the answer that ended the connection, if there was one. */
function statusOf(error: unknown): number | undefined {
  const { cause } = error as { readonly cause?: { readonly status?: unknown } };
  return typeof cause?.status === "number" ? cause.status : undefined;
}

const upgradeHint =
  "the server was not asked for a WebSocket: a proxy in front must pass on the headers Upgrade and Connection; or use http:// or https://, which needs no upgrade";
const goneHint = "check that the agent runs there, and connect again";

function hintOf(status: number | undefined, { pathname }: URL): string {
  if (status === undefined) return "check the address, and that the agent runs there";
  if (status === 401 || status === 403)
    return "check the headers of this agent: the server does not let us in";
  if (status === 429) return "too many logins have failed from here: the right token works at once";
  if (status === 400) return "check the address: a server with TLS needs https:// or wss://";
  if (status === 421)
    return "use the address that the server has printed, or start it with --allow-host NAME:PORT";
  if (status < 300) return "check the address: what answers there does not speak ACP";
  if (status < 400) return "correct the url of this agent";
  if (status < 500)
    return pathname === "/acp"
      ? "check the url of this agent: the server has no agent there"
      : "check the path of the url: an agent is usually at /acp";
  return "the server has a problem of its own: try again later, or ask whoever runs it";
}

const patienceMs = 5_000;

/**
 * A WebSocket does not report why it was refused; the same request over HTTP does. The message has neither the headers
 * nor the body, which may repeat them.
 */
function socketExplanation(url: URL, headers: Readonly<Record<string, string>>): Promise<Explanation> {
  const isSecure = url.protocol === "wss:" || url.protocol === "https:";
  const address = new URL(url);
  address.protocol = isSecure ? "https:" : "http:";
  const where = `GET ${url.origin}${url.pathname}`;
  return new Promise((resolve) => {
    const request = (isSecure ? httpsRequest : httpRequest)(address, {
      headers: {
        ...headers,
        Connection: "Upgrade",
        Upgrade: "websocket",
        "Sec-WebSocket-Key": randomBytes(16).toString("base64"),
        "Sec-WebSocket-Version": "13",
      },
      timeout: patienceMs,
    });
    const done = (message?: string, status?: number, error?: unknown) => {
      const noUpgrade = status === 406 || status === 426 ? upgradeHint : undefined;
      resolve({ hint: tlsHint(error) ?? noUpgrade ?? hintOf(status, url), ...optional({ message, status }) });
      request.destroy();
    };
    request.on("response", ({ statusCode: status = 0 }) => {
      const got = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
      done(`${where}: got ${got}, wanted 101`, status);
    });
    request.on("upgrade", () => done());
    request.on("timeout", () => done());
    request.on("error", (error: NodeJS.ErrnoException) =>
      done(`${where}: ${error.message || String(error.code)}`, undefined, error),
    );
    request.end();
  });
}
