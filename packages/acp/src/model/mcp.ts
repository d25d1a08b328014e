// MCP servers that live inside a client or an agent, and channels to them. Neither knows how the messages travel.

import type { McpServer } from "./content.ts";

/** Parameters of an MCP request or notification. */
export type McpParams = Readonly<Record<string, unknown>>;

/** The error of an MCP server, as it travels. An absent `data` is not the same as null. */
export interface McpErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** One request of MCP. */
export interface McpCall {
  /** The method of MCP, such as "tools/call". */
  readonly method: string;
  readonly params: McpParams | undefined;
  /** The session that the server was given to; undefined for a server that belongs to no session. */
  readonly sessionId: string | undefined;
  /** Aborts when the caller cancels, or the connection ends. */
  readonly signal: AbortSignal;
  /** Sends a notification of this request, such as "notifications/progress". After the request it has no effect. */
  notify(method: string, params?: McpParams): void;
}

/** Answers the requests of one MCP server. Whoever asks: an agent over ACP, or a bridge. */
export interface McpProvider {
  /** The name that agents see. */
  readonly name: string;
  /** Resolves with the result. An `McpFailure` becomes an error of MCP; anything else counts as a failure of the server. */
  request(call: McpCall): Promise<unknown>;
  /** Ends the server. Called once, when nobody can ask it any more. */
  close?(): Promise<void>;
}

/** An error of an MCP server, as opposed to one of the connection. */
export class McpFailure extends Error {
  override readonly name = "McpFailure";
  /** The error as it travels. */
  readonly body: McpErrorBody;

  constructor(body: McpErrorBody) {
    super(body.message);
    this.body = body;
  }
}

/** How one request of MCP is made. */
export interface McpCallOptions {
  readonly signal?: AbortSignal | undefined;
  /** Receives the notifications that belong to the request. */
  readonly onNotification?: ((method: string, params: McpParams | undefined) => void) | undefined;
}

/** Asks one MCP server. */
export interface McpChannel {
  /** Rejects with an `McpFailure` (the server's answer), or with the error of the connection. */
  request(method: string, params?: McpParams, options?: McpCallOptions): Promise<unknown>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** What `@parley/mcp` adds to `agent()` and `client()`. */
export interface McpKit {
  /** The servers of what an app calls tools: tools, MCP servers, providers. */
  providers(tools: readonly unknown[], name: string): readonly McpProvider[];
  /** Declares a server to an agent that has no MCP over ACP. Undefined where the agent can use none of the ways. */
  bridge(
    provider: McpProvider,
    session: { readonly sessionId: () => string | undefined; readonly cwd: string },
    agent: { readonly http: boolean; readonly stdio: boolean },
  ): Promise<{ readonly server: McpServer; close(): Promise<void> } | undefined>;
  /** Connects to a server of the other kinds: stdio, http, sse. */
  connect(
    server: McpServer,
    options: { readonly cwd: string; readonly signal?: AbortSignal | undefined },
  ): Promise<McpChannel>;
}
