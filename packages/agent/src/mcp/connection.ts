// A connection to one MCP server: started within a time, asked through here only, so that whatever it answers is
// without its credentials. The MCP client is loaded when the first server is: it takes a quarter of a second.

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
import type { ServerQuestions } from "./elicitation.ts";
import { failureInWords } from "./failure.ts";
import type { RemoteEntry, ServerEntry } from "./server-entry.ts";
import { StdioTransport } from "./stdio-transport.ts";

/** From the start of the process to the answer to `initialize`. */
const startMs = 30_000;
/** Without an answer and without progress. */
const callMs = 5 * 60_000;
/** Whatever progress is reported. */
const longestCallMs = 60 * 60_000;
/** For a sign of life. */
const pingMs = 10_000;
/** For the goodbye to a server over HTTP. */
const goodbyeMs = 1_000;

export interface ConnectionSetting {
  /** The agent's. */
  readonly version: string;
  roots(): readonly string[];
  /** The server says that a list has changed. */
  changed(list: "tools" | "prompts"): void;
  /** It ended by itself. */
  ended(): void;
  readonly questions: ServerQuestions;
  readonly signal: AbortSignal;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** Rejects with an Error that has words for the user. */
export async function openConnection(entry: ServerEntry, setting: ConnectionSetting): Promise<Connection> {
  const mcp = await import("@modelcontextprotocol/client");
  setting.signal.throwIfAborted();
  const { offered } = setting.questions;
  const capabilities = { roots: { listChanged: true }, ...(offered && { elicitation: offered }) };
  const client = new mcp.Client(
    { name: "parley", title: "Parley", version: setting.version },
    { capabilities, listChanged: listChanged(setting) },
  );
  if (offered !== undefined) forwardQuestions(client, entry, setting.questions);
  client.setRequestHandler("roots/list", () => ({
    roots: setting.roots().map((path) => ({ uri: pathToFileURL(path).href })),
  }));
  let connection: Connection | undefined;
  try {
    const transport = entry.type === "stdio" ? new StdioTransport(entry) : remoteTransport(mcp, entry);
    connection = new Connection(entry, client, transport);
    const timeout = entry.timeoutMs ?? startMs;
    // the handshake has a time limit of its own, but a stream that never opens has none
    const signal = AbortSignal.any([setting.signal, AbortSignal.timeout(timeout)]);
    await aborted(signal, client.connect(transport, { timeout, signal }));
    connection.watch(() => setting.ended());
    return connection;
  } catch (error) {
    const failure = new Error(failureInWords(error, { entry, transport: connection?.transport }));
    await connection?.close();
    throw failure;
  }
}

export class Connection {
  readonly #entry: ServerEntry;
  readonly #client: Client;
  readonly #transport: Transport;
  #closing: Promise<void> | undefined;
  #looking: Promise<unknown> | undefined;
  /** Aborts when a server over HTTP has gone: its streams end without a word, and the MCP client would wait. */
  readonly #lost = new AbortController();

  constructor(entry: ServerEntry, client: Client, transport: Transport) {
    this.#entry = entry;
    this.#client = client;
    this.#transport = transport;
  }

  /** `ended` is called when it is over by itself. */
  watch(ended: () => void): void {
    this.#client.onclose = ended;
    if (this.#entry.type === "stdio") return;
    this.#client.onerror = () => {
      if (this.#lost.signal.aborted) return;
      this.#looking ??= this.#client
        .ping({ timeout: pingMs })
        .catch((error: unknown) => {
          this.#lost.abort(error);
          ended();
        })
        .finally(() => {
          this.#looking = undefined;
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
    return (await this.#ask((options) => this.#client.listTools(undefined, options), { signal })).tools;
  }

  async prompts(signal: AbortSignal): Promise<readonly Prompt[]> {
    if (this.#client.getServerCapabilities()?.prompts === undefined) return [];
    return (await this.#ask((options) => this.#client.listPrompts(undefined, options), { signal })).prompts;
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

  /** Servers that asked for the roots may want to ask again. */
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
      const late = AbortSignal.timeout(goodbyeMs);
      await aborted(late, transport.terminateSession()).catch(() => undefined);
    }
    await this.#client.close().catch(() => undefined);
    await this.#transport.close().catch(() => undefined);
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
      const result = await aborted(this.#lost.signal, sent);
      return secrets.clean(result);
    } catch (error) {
      signal.throwIfAborted();
      throw new Error(failureInWords(error, { entry: this.#entry, transport: this.#transport }));
    }
  }
}

/** What it asks of the user; its credentials are in no question either. */
function forwardQuestions(client: Client, { name, secrets }: ServerEntry, questions: ServerQuestions): void {
  client.setRequestHandler("elicitation/create", ({ params }) => questions.ask(name, secrets.clean(params)));
  client.setNotificationHandler("notifications/elicitation/complete", ({ params }) =>
    questions.done(name, params.elicitationId),
  );
}

function listChanged({ changed }: ConnectionSetting) {
  // the lists are asked for by whoever wants them, in one place
  const options = (list: "tools" | "prompts") => ({ autoRefresh: false, onChanged: () => changed(list) });
  return { tools: options("tools"), prompts: options("prompts") };
}

function remoteTransport(
  { StreamableHTTPClientTransport, SSEClientTransport }: typeof import("@modelcontextprotocol/client"),
  { type, url, headers }: RemoteEntry,
): Transport {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new TypeError("its url must begin with http:// or https://");
  }
  // redirects to other hosts are not followed: they would be given the headers
  const options = { requestInit: { headers } };
  return type === "http"
    ? new StreamableHTTPClientTransport(parsed, options)
    : new SSEClientTransport(parsed, options);
}

/** Rejects with the signal, whatever the work does then. */
async function aborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
    work.catch(() => undefined);
    promise.catch(() => undefined);
  }
}
