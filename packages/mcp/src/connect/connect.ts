// Connects to an MCP server of the kinds stdio, http and sse with the official client.

import type { AuthProvider, Client, ClientCapabilities, Transport } from "@modelcontextprotocol/client";
import { McpFailure } from "@parley/acp";
import { abortable } from "@parley/acp/jsonrpc";
import type { McpCallOptions, McpChannel, McpConnectOptions, McpParams, McpServer } from "@parley/acp/model";
import { stderrReason } from "@parley/acp/node";
import type { EndReason } from "@parley/acp/transport";
import { discoveredFrom, revision } from "../revisions/claims.ts";
import { type DescribedServer, describedServer } from "./described-server.ts";
import { settlingFetch } from "./settled-answers.ts";
import { StdioTransport } from "./stdio-transport.ts";

type ClientPackage = typeof import("@modelcontextprotocol/client");

/** From the start of the process to the end of the handshake. */
const startMs = 30_000;
/** Without an answer or progress. */
const callMs = 5 * 60_000;
/** Regardless of progress. */
const longestCallMs = 60 * 60_000;
/** Until a server counts as lost. */
const pingMs = 10_000;
/** For ending the session of an HTTP server. */
const terminateMs = 1_000;
/** What servers answer that do not know the handshake. */
const unsupportedRevision = -32_022;

/** Options for a program that hosts MCP servers: its capabilities, and its answers to what a server asks. */
export interface McpHost {
  /** How the client introduces itself. Default: as Parley. */
  readonly info?: { readonly name: string; readonly title?: string; readonly version: string } | undefined;
  /** The capabilities of the client, such as `{ roots: { listChanged: true } }`. Default: none. */
  readonly capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** Answers a request of the server, such as "elicitation/create" or "roots/list". */
  request?(method: string, params: McpParams): Promise<object>;
  /** Receives the notifications that belong to no request, such as "notifications/tools/list_changed". */
  notification?(method: string, params: McpParams | undefined): void;
  /** Called once when the connection ends by itself. */
  ended?(): void;
  /** Makes the requests to servers of the kinds http and sse. Default: `fetch`. */
  readonly fetch?: ((input: string | URL, init?: RequestInit) => Promise<Response>) | undefined;
  /** Provides the token of the requests: an `AuthProvider` of the official client. */
  readonly auth?: object | undefined;
}

/** A connection to an MCP server. */
export interface McpConnection extends McpChannel {
  /** Why the process has ended; undefined while it runs, and for servers of other kinds. */
  readonly end: EndReason | undefined;
  /** Sends a notification, such as "notifications/roots/list_changed". */
  notify(method: string, params?: McpParams): Promise<void>;
}

/**
 * Connects to an MCP server of the kind stdio, http or sse. The channel answers "server/discover" for every revision.
 *
 * @param server - The server, as a client declares it. `cwd` and `timeout` are honoured, also in `_meta`.
 * @param options - The directory of the session, limits, and what the server may ask.
 * @returns The connection. Close it when you are done.
 * @throws {TypeError} When the server has no usable address, or is of another kind.
 * @throws {Error} When the server cannot be started or reached, with what it wrote to stderr.
 *
 * @example
 * ```ts
 * import { connectMcp } from "@parley/mcp";
 *
 * const server = { type: "stdio", name: "files", command: "mcp-files", args: [], env: [] } as const;
 * await using files = await connectMcp(server, { cwd: process.cwd() });
 * console.log(await files.request("tools/list"));
 * ```
 */
export async function connectMcp(
  server: McpServer,
  { cwd, timeoutMs: given, signal, host = {} }: McpConnectOptions & { readonly host?: McpHost | undefined },
): Promise<McpConnection> {
  const entry = describedServer(server, cwd);
  const loaded = await import("@modelcontextprotocol/client");
  signal?.throwIfAborted();
  const timeoutMs = given ?? entry.timeoutMs;
  const wanted = { loaded, entry, host, timeoutMs, signal };
  try {
    return await connect(wanted, false);
  } catch (error) {
    if (!isOfOtherRevision(error)) throw described(error, entry);
  }
  try {
    return await connect(wanted, true);
  } catch (error) {
    throw described(error, entry);
  }
}

/** Whether a server refused the handshake because it knows 2026-07-28 alone. Over HTTP the refusal is a text. */
function isOfOtherRevision(error: unknown): boolean {
  const { code, data } = error as { code?: unknown; data?: { text?: unknown } }; // each is checked
  return code === unsupportedRevision || String(data?.text).includes(`"code":${unsupportedRevision}`);
}

interface Wanted {
  readonly loaded: ClientPackage;
  readonly entry: DescribedServer;
  readonly host: McpHost;
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal | undefined;
}

async function connect(wanted: Wanted, isModern: boolean): Promise<McpConnection> {
  const { loaded, entry, host, timeoutMs, signal } = wanted;
  const client = new loaded.Client(host.info ?? { name: "parley", title: "Parley", version: "0.1.0" }, {
    // as: the app states its own
    capabilities: (host.capabilities ?? {}) as ClientCapabilities,
    ...(isModern && { versionNegotiation: { mode: { pin: revision } } }),
    inputRequired: { autoFulfill: host.request !== undefined },
    ...(host.notification !== undefined && { listChanged: listChanges(host) }),
  });
  for (const [method, capability] of hostMethods) {
    if (host.request === undefined || host.capabilities?.[capability] === undefined) continue;
    // as: what hosts answer is checked by the client, and by the server
    client.setRequestHandler(
      method,
      async ({ params }) => (await host.request?.(method, { ...params })) as never,
    );
  }
  client.fallbackNotificationHandler = async ({ method, params }) => host.notification?.(method, params);
  const transport = entry.type === "stdio" ? new StdioTransport(entry) : remoteTransport(loaded, entry, host);
  const connection = new Connection(client, transport, wanted);
  try {
    const timeout = timeoutMs ?? startMs;
    // the handshake has its own timeout, but opening the stream has none
    const late = AbortSignal.timeout(timeout);
    const until = signal === undefined ? late : AbortSignal.any([signal, late]);
    await abortable(until, client.connect(transport, { timeout, signal: until }));
    connection.watch(entry.type !== "stdio", () => host.ended?.());
    return connection;
  } catch (error) {
    // closing it ends it as well
    const { end } = connection;
    await connection.close();
    signal?.throwIfAborted();
    throw end === undefined ? error : new StartFailure(end, error);
  }
}

/** What servers ask of clients that say they can do it. */
const hostMethods = [
  ["roots/list", "roots"],
  ["elicitation/create", "elicitation"],
  ["sampling/createMessage", "sampling"],
] as const;

/** The host fetches lists itself. */
function listChanges(host: McpHost) {
  const of = (list: string) => ({
    autoRefresh: false as const,
    onChanged: () => host.notification?.(`notifications/${list}/list_changed`, undefined),
  });
  return { tools: of("tools"), prompts: of("prompts"), resources: of("resources") };
}

/** The process of a server ended before the handshake. */
class StartFailure extends Error {
  readonly end: EndReason;

  constructor(end: EndReason, cause: unknown) {
    const stderr = stderrReason(end.stderr ?? "");
    const wrote = stderr === "" ? "" : `\nIt wrote:\n${stderr}`;
    super(`is not running: ${end.message ?? "it closed its output"}.${wrote}`, { cause });
    this.end = end;
  }
}

class Connection implements McpConnection {
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #timeoutMs: number | undefined;
  /** The host fulfils what results ask for. */
  readonly #isFulfilled: boolean;
  #closing: Promise<void> | undefined;
  #pinging: Promise<unknown> | undefined;
  /** Aborts when an HTTP server is lost: its streams end silently, and the client would wait forever. */
  readonly #lost = new AbortController();

  constructor(client: Client, transport: Transport, { timeoutMs, host }: Wanted) {
    this.#isFulfilled = host.request !== undefined;
    this.#client = client;
    this.#transport = transport;
    this.#timeoutMs = timeoutMs;
  }

  get end(): EndReason | undefined {
    return this.#transport instanceof StdioTransport ? this.#transport.end : undefined;
  }

  /** Calls `ended` when the connection ends by itself. */
  watch(isRemote: boolean, ended: () => void): void {
    this.#client.onclose = ended;
    if (!isRemote) return;
    this.#client.onerror = () => {
      // a server of 2026-07-28 has no connection that could be lost
      if (this.#lost.signal.aborted || this.#client.getNegotiatedProtocolVersion() === revision) return;
      this.#pinging ??= this.#client
        .ping({ timeout: pingMs })
        .catch((error: unknown) => {
          this.#lost.abort(error);
          ended();
        })
        .finally(() => {
          this.#pinging = undefined;
        });
    };
  }

  async request(method: string, params?: McpParams, options: McpCallOptions = {}): Promise<unknown> {
    if (method === "server/discover") return this.#discovered();
    const { signal, onNotification } = options;
    signal?.throwIfAborted();
    const timeout = this.#timeoutMs ?? callMs;
    const request = { method, ...(params !== undefined && { params }) };
    const token = tokenOf(params);
    const sent = this.#client.request(request, anyResult, {
      timeout,
      allowInputRequired: !this.#isFulfilled,
      ...(signal !== undefined && { signal }),
      ...(onNotification !== undefined && {
        resetTimeoutOnProgress: true,
        maxTotalTimeout: Math.max(longestCallMs, timeout),
        onprogress: (progress: object) =>
          onNotification("notifications/progress", {
            ...progress,
            ...(token !== undefined && { progressToken: token }),
          }),
      }),
    });
    try {
      return await abortable(this.#lost.signal, sent);
    } catch (error) {
      signal?.throwIfAborted();
      throw failureOf(error);
    }
  }

  notify(method: string, params?: McpParams): Promise<void> {
    return this.#client.notification({ method, ...(params !== undefined && { params }) });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #discovered(): object {
    const serverInfo = this.#client.getServerVersion();
    const instructions = this.#client.getInstructions();
    return discoveredFrom({
      capabilities: { ...this.#client.getServerCapabilities() },
      ...(serverInfo !== undefined && { serverInfo }),
      ...(instructions !== undefined && { instructions }),
    });
  }

  async #close(): Promise<void> {
    this.#client.onclose = () => undefined;
    this.#client.onerror = () => undefined;
    const transport = this.#transport as { terminateSession?: () => Promise<void> }; // HTTP has it
    if (transport.terminateSession !== undefined) {
      const late = AbortSignal.timeout(terminateMs);
      await abortable(late, transport.terminateSession()).catch(() => undefined);
    }
    await this.#client.close().catch(() => undefined);
    await this.#transport.close().catch(() => undefined);
  }
}

/** Results pass as they are: the caller knows what it asked for. */
const anyResult = {
  "~standard": { version: 1, vendor: "parley", validate: (value: unknown) => ({ value }) },
} as const;

function tokenOf(params: McpParams | undefined): unknown {
  const { progressToken } = (params?.["_meta"] ?? {}) as { progressToken?: unknown }; // passed on as it is
  return progressToken;
}

function remoteTransport(
  { StreamableHTTPClientTransport, SSEClientTransport }: ClientPackage,
  { type, url, headers }: Extract<DescribedServer, { type: "http" | "sse" }>,
  { fetch = globalThis.fetch, auth }: McpHost,
): Transport {
  const options = {
    requestInit: { headers },
    fetch: settlingFetch(fetch),
    // as: the documentation names the type
    ...(auth !== undefined && { authProvider: auth as AuthProvider }),
  };
  return type === "http"
    ? new StreamableHTTPClientTransport(url, options)
    : new SSEClientTransport(url, options);
}

/** The server's answer as an McpFailure, everything else as it is. */
function failureOf(error: unknown): unknown {
  const { name, code, message, data } = (error ?? {}) as Partial<Error> & { code?: unknown; data?: unknown };
  if (typeof code !== "number" || typeof message !== "string" || name !== "ProtocolError") return error;
  return new McpFailure({ code, message, ...(data !== undefined && { data }) });
}

/** Names the server. The cause has everything. */
function described(error: unknown, { name, ...entry }: DescribedServer): Error {
  if (error instanceof StartFailure)
    return new Error(`the MCP server ${name} ${error.message}`, { cause: error });
  if (error instanceof Error && error.name === "AbortError") return error;
  const { message, code } = (
    error instanceof Error ? error : new Error(String(error))
  ) as NodeJS.ErrnoException;
  const where = entry.type === "stdio" ? "" : ` at ${entry.url.origin}`;
  const isLate = (error as Error).name === "TimeoutError" || String(code) === "REQUEST_TIMEOUT";
  const what = isLate ? "did not answer in time" : `cannot be used: ${message}`;
  return new Error(`the MCP server ${name}${where} ${what}`, { cause: error });
}
