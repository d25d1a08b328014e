// Connects to one MCP server, and removes its credentials from everything that it answers.

import { pathToFileURL } from "node:url";
import type {
  CallToolResult,
  Client,
  GetPromptResult,
  Progress,
  Prompt,
  ReadResourceResult,
  RequestOptions,
  Resource,
  Tool,
  Transport,
} from "@modelcontextprotocol/client";
import { abortable } from "@parley/acp/jsonrpc";
import { checkedFetch } from "../network/pinned-request.ts";
import type { ServerLogin } from "../oauth/server-login.ts";
import type { ServerQuestions } from "./elicitation.ts";
import { describeFailure } from "./failure.ts";
import { accessOf, type RemoteEntry, type ServerEntry } from "./server-entry.ts";
import { settlingFetch } from "./settled-answers.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** From the start of the process to the answer to `initialize`. */
const startMs = 30_000;
/** Without an answer or progress. */
const callMs = 5 * 60_000;
/** Regardless of progress. */
const longestCallMs = 60 * 60_000;
/** Until a server counts as lost. */
const pingMs = 10_000;
/** For ending the session of an HTTP server. */
const terminateMs = 1_000;

export interface ConnectionOptions {
  /** The agent's version. */
  readonly version: string;
  roots(): readonly string[];
  /** Called when the server reports a changed list. */
  changed(list: "tools" | "prompts"): void;
  /** Called when the connection ends by itself. */
  ended(): void;
  readonly questions: ServerQuestions;
  /** Private hosts that the user's settings allow. */
  readonly privateHosts: readonly string[];
  /** Gives its token to the requests; undefined for servers without logins. */
  readonly login?: ServerLogin | undefined;
  readonly signal: AbortSignal;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Rejects with an Error whose message is for the user. Loads the MCP client on first use, since that takes 250 ms. */
export async function openConnection(
  entry: ServerEntry,
  options: ConnectionOptions,
): Promise<ServerConnection> {
  const mcp = await import("@modelcontextprotocol/client");
  options.signal.throwIfAborted();
  const { offered } = options.questions;
  const capabilities = { roots: { listChanged: true }, ...(offered && { elicitation: offered }) };
  const client = new mcp.Client(
    { name: "parley", title: "Parley", version: options.version },
    { capabilities, listChanged: listChanged(options) },
  );
  if (offered !== undefined) forwardQuestions(client, entry, options.questions);
  client.setRequestHandler("roots/list", () => ({
    roots: options.roots().map((path) => ({ uri: pathToFileURL(path).href })),
  }));
  let connection: ServerConnection | undefined;
  try {
    const transport =
      entry.type === "stdio" ? new StdioTransport(entry) : remoteTransport(mcp, entry, options);
    connection = new ServerConnection(entry, client, transport, options.login);
    const timeout = entry.timeoutMs ?? startMs;
    // the handshake has its own timeout, but opening the stream has none
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(timeout)]);
    await abortable(signal, client.connect(transport, { timeout, signal }));
    connection.watch(() => options.ended());
    return connection;
  } catch (error) {
    const failure = new Error(describeFailure(error, entry, connection?.transport));
    await connection?.close();
    throw failure;
  }
}

export class ServerConnection {
  readonly #entry: ServerEntry;
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #login: ServerLogin | undefined;
  #closing: Promise<void> | undefined;
  #pinging: Promise<unknown> | undefined;
  /** Aborts when an HTTP server is lost: its streams end silently, and the MCP client would wait forever. */
  readonly #lost = new AbortController();

  constructor(entry: ServerEntry, client: Client, transport: Transport, login?: ServerLogin) {
    this.#login = login;
    this.#entry = entry;
    this.#client = client;
    this.#transport = transport;
  }

  /** Calls `ended` when the connection ends by itself. */
  watch(ended: () => void): void {
    this.#client.onclose = ended;
    if (this.#entry.type === "stdio") return;
    this.#client.onerror = () => {
      if (this.#lost.signal.aborted) return;
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

  get transport(): Transport {
    return this.#transport;
  }

  get hasResources(): boolean {
    return this.#client.getServerCapabilities()?.resources !== undefined;
  }

  async tools(signal: AbortSignal): Promise<readonly Tool[]> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return [];
    return (await this.#list((options) => this.#client.listTools(undefined, options), signal)).tools;
  }

  async prompts(signal: AbortSignal): Promise<readonly Prompt[]> {
    if (this.#client.getServerCapabilities()?.prompts === undefined) return [];
    return (await this.#list((options) => this.#client.listPrompts(undefined, options), signal)).prompts;
  }

  async resources(call: CallOptions): Promise<readonly Resource[]> {
    return (await this.#ask((options) => this.#client.listResources(undefined, options), call)).resources;
  }

  callTool(name: string, input: Record<string, unknown>, call: CallOptions): Promise<CallToolResult> {
    return this.#ask((options) => this.#client.callTool({ name, arguments: input }, options), call);
  }

  prompt(name: string, args: Record<string, string>, call: CallOptions): Promise<GetPromptResult> {
    return this.#ask((options) => this.#client.getPrompt({ name, arguments: args }, options), call);
  }

  resource(uri: string, call: CallOptions): Promise<ReadResourceResult> {
    return this.#ask((options) => this.#client.readResource({ uri }, options), call);
  }

  /** Tells the server that the roots have changed. */
  async rootsChanged(): Promise<void> {
    await this.#client.sendRootsListChanged();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
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

  /** Turns wait for the lists: all of their pages have the time of a start. */
  async #list<Result>(
    send: (options: RequestOptions) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    const late = AbortSignal.timeout(this.#entry.timeoutMs ?? startMs);
    try {
      return await this.#ask(send, { signal: AbortSignal.any([signal, late]) });
    } catch (error) {
      if (!late.aborted || signal.aborted) throw error;
      throw new Error(describeFailure(late.reason, this.#entry, this.#transport));
    }
  }

  async #ask<Result>(
    send: (options: RequestOptions) => Promise<Result>,
    { signal, onProgress }: CallOptions,
  ): Promise<Result> {
    const { secrets, timeoutMs: timeout = callMs } = this.#entry;
    const onprogress = (progress: Progress) => onProgress?.(secrets.clean(progress));
    try {
      const sent = send({
        signal,
        timeout,
        ...(onProgress === undefined
          ? {}
          : { onprogress, resetTimeoutOnProgress: true, maxTotalTimeout: Math.max(longestCallMs, timeout) }),
      });
      const result = await abortable(this.#lost.signal, sent);
      return secrets.clean(result);
    } catch (error) {
      signal.throwIfAborted();
      const { name, requiredScope } = error as { name?: unknown; requiredScope?: unknown }; // each is checked
      // the user is asked with the next turn
      if (name === "InsufficientScopeError" && typeof requiredScope === "string")
        this.#login?.needsMore(requiredScope);
      throw new Error(describeFailure(error, this.#entry, this.#transport));
    }
  }
}

/** Passes the server's questions on, without its credentials. */
function forwardQuestions(client: Client, { name, secrets }: ServerEntry, questions: ServerQuestions): void {
  client.setRequestHandler("elicitation/create", ({ params }) => questions.ask(name, secrets.clean(params)));
  client.setNotificationHandler("notifications/elicitation/complete", ({ params }) =>
    questions.done(name, params.elicitationId),
  );
}

function listChanged({ changed }: ConnectionOptions) {
  // the server's owner fetches the lists
  const options = (list: "tools" | "prompts") => ({ autoRefresh: false, onChanged: () => changed(list) });
  return { tools: options("tools"), prompts: options("prompts") };
}

function remoteTransport(
  { StreamableHTTPClientTransport, SSEClientTransport }: typeof import("@modelcontextprotocol/client"),
  entry: RemoteEntry,
  { privateHosts, login }: ConnectionOptions,
): Transport {
  const { type, url, headers } = entry;
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new TypeError("its url must begin with http:// or https://");
  }
  // the client does not follow redirects to other hosts, which would get the headers
  const fetch = settlingFetch(checkedFetch(accessOf(entry, privateHosts)));
  const options = { requestInit: { headers }, fetch, ...(login && { authProvider: login }) };
  return type === "http"
    ? new StreamableHTTPClientTransport(parsed, options)
    : new SSEClientTransport(parsed, options);
}
