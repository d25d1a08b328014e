// MCP servers that live inside a client or an agent, and channels to them. Neither knows how the messages travel.

import type { McpServer } from "./content.ts";

/** Parameters of an MCP request or notification. */
export type McpParams = Readonly<Record<string, unknown>>;

/** The error of an MCP server, as it travels. An absent `data` is not the same as null. */
export interface McpErrorBody {
  /** The number of the error, such as -32602. */
  readonly code: number;
  /** What is wrong, in a sentence. */
  readonly message: string;
  /** What the server adds. */
  readonly data?: unknown;
}

/** One request of MCP. */
export interface McpCall {
  /** The method of MCP, such as "tools/call". */
  readonly method: string;
  /** The parameters of the method; undefined without any. */
  readonly params: McpParams | undefined;
  /**
   * The session that the server was given to. Undefined for a server that belongs to no session, and for requests that come
   * before the agent has named the session.
   */
  readonly sessionId: string | undefined;
  /** The caller's id of the request, where it has one. A "subscriptions/listen" stream is named after it. */
  readonly requestId?: string | number | undefined;
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
  /** Ends the server. Called once by who made it: for what a kit made of tools, when their session has ended. */
  close?(): Promise<void>;
}

/** An error of an MCP server, as opposed to one of the connection. */
export class McpFailure extends Error {
  /** Always "McpFailure". */
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
  /** Aborting it cancels the request. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the notifications that belong to the request. */
  readonly onNotification?: ((method: string, params: McpParams | undefined) => void) | undefined;
}

/** Asks one MCP server. */
export interface McpChannel {
  /** Rejects with an `McpFailure` (the server's answer), or with the error of the connection. */
  request(method: string, params?: McpParams, options?: McpCallOptions): Promise<unknown>;
  /** Ends the channel; its open requests reject. */
  close(): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** What `@parley/mcp` adds to `agent()` and `client()`. */
export interface McpKit {
  /** The servers of what an app calls tools: tools become one server of this name, each MCP server one of its own. */
  providers(tools: readonly unknown[], name: string): readonly McpProvider[];
  /** A bridge for one connection to an agent that has no MCP over ACP. It listens when the first server is declared. */
  bridge(agent: McpBridgeTarget): McpBridge;
  /** Connects to a server of the other kinds: stdio, http, sse. */
  connect(server: McpServer, options: McpConnectOptions): Promise<McpChannel>;
}

/** The kinds of servers that an agent can use. */
export interface McpBridgeTarget {
  /** Servers by Streamable HTTP. */
  readonly http: boolean;
  /** Servers that are started as commands. */
  readonly stdio: boolean;
  /** A folder that the agent sees, for the sockets of commands. Default: chosen by the kit. */
  readonly socketFolder?: string | undefined;
}

/** Makes servers of a client reachable for one agent. */
export interface McpBridge {
  /**
   * Makes a server reachable, and resolves with what to declare: by HTTP, else by a command. Undefined where the agent can use
   * neither. Each request of the agent reaches the provider, and nothing else does, except "server/discover".
   */
  declare(provider: McpProvider, session: McpBridgeSession): Promise<McpBridgedServer | undefined>;
  /** Ends all servers and what listens for them. Called once, when the connection has ended. */
  close(): Promise<void>;
}

/** The session that a server is declared for. */
export interface McpBridgeSession {
  /** The directory of the session. */
  readonly cwd: string;
  /** Undefined until the agent has named the session. Read it for each request. */
  sessionId(): string | undefined;
}

/** A server that is reachable. */
export interface McpBridgedServer {
  /** What the client declares to the agent. */
  readonly server: McpServer;
  /** Ends this server: running requests abort, later ones are refused. */
  close(): Promise<void>;
}

/** How a server is connected to. */
export interface McpConnectOptions {
  /** Where a command runs. */
  readonly cwd: string;
  /** How long one request may take, in milliseconds, if whoever configured the server limits it. */
  readonly timeoutMs?: number | undefined;
  /** Aborting it ends the attempt. */
  readonly signal?: AbortSignal | undefined;
}
