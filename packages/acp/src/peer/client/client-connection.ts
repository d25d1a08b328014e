// The interfaces of a client's connection to an agent, and of the options of a session.

import type { AgentCapabilities, Credentials, SessionInfo } from "../../edition/agent-edition.ts";
import type { Dialect } from "../../edition/dialect.ts";
import type { EditionName } from "../../edition/negotiate.ts";
import type { ConnectionCounters } from "../../jsonrpc/connection-options.ts";
import type { ConnectionError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type {
  ArchiveFilter,
  AuthStatus,
  Provider,
  ProviderSetting,
  SessionStatus,
} from "../../model/agent-status.ts";
import type {
  AuthMethod,
  AvailableCommand,
  Implementation,
  Meta,
  SessionConfigOption,
  SystemPrompt,
} from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";
import type { McpChannel } from "../../model/mcp.ts";
import type { OutgoingMcpServer, SessionUpdate } from "../../model/update.ts";
import type { ConnectionSnapshot } from "./connection-snapshot.ts";
import type {
  CallOptions,
  CallResult,
  ClientSession,
  SessionListener,
  TitleResult,
} from "./session/client-session.ts";

export type { CallOptions } from "./session/client-session.ts";

/**
 * The connection of a client to an agent, created by `connect`. If the agent does not offer a method (`capabilities`), the
 * call rejects with a TypeError and nothing is sent. If the agent refuses a request, the call rejects with a RequestError;
 * if the connection is lost, with a ConnectionError.
 */
export interface ClientConnection {
  /** The name and version of the agent; undefined if it sent none. */
  readonly info: Implementation | undefined;
  /** The features of the agent, with the extensions that it declares in `capabilities._meta`. */
  readonly capabilities: AgentCapabilities;
  /** Custom data of the answer to the handshake. */
  readonly _meta: Meta | undefined;
  /** The login methods, for `login`. Empty if the agent offers none. */
  readonly authMethods: readonly AuthMethod[];
  /** The negotiated edition of the protocol. */
  readonly edition: EditionName;
  /** The dialect that the agent speaks. Undefined for version 1 and version 2. */
  readonly dialect?: Dialect | undefined;
  /** Counts of ignored input: lines that are not messages, stray answers, dropped updates. The log has the first of each. */
  readonly counters: ClientCounters;
  /** Resolves when the connection has closed, with the reason; never rejects. */
  readonly closed: Promise<ConnectionError>;
  /**
   * Opens a new session.
   *
   * @throws {TypeError} When `cwd` or another directory is not an absolute path (as a rejection).
   * @throws {RequestError} Of kind "auth_required", when the agent needs a login first (as a rejection).
   */
  newSession(options: SessionOptions): Promise<ClientSession>;
  /**
   * Opens a session that the agent has stored. Its history arrives as updates before the promise resolves: pass `onUpdate`
   * or `onEntry` in the options to receive all of it. Needs `capabilities.load`.
   */
  loadSession(sessionId: string, options: ReopenOptions): Promise<ClientSession>;
  /** Opens a session that the agent has stored, without its history. Needs `capabilities.resume`. */
  resumeSession(sessionId: string, options: ReopenOptions): Promise<ClientSession>;
  /**
   * Opens a new session that starts with the conversation of another one, or with its beginning (`before`). Needs
   * `capabilities.fork` and the unstable feature "fork".
   *
   * @experimental
   */
  forkSession(sessionId: string, options: ForkOptions): Promise<ClientSession>;
  /** One page of the agent's sessions. Pass `nextCursor` as `cursor` to get the next one. Needs `capabilities.list`. */
  listSessions(query?: SessionQueryOptions): Promise<SessionPage>;
  /** Deletes a session at the agent, with its history. Needs `capabilities.delete`. */
  deleteSession(sessionId: string, options?: CallOptions): Promise<CallResult>;
  /**
   * Archives a session at the agent: it is closed and left out of lists, and keeps its history. Needs
   * `capabilities.archive` and the unstable feature "archive".
   *
   * @experimental
   */
  archiveSession(sessionId: string, options?: CallOptions): Promise<CallResult>;
  /**
   * Takes a session out of the archive. Needs `capabilities.archive` and the unstable feature "archive".
   *
   * @experimental
   */
  unarchiveSession(sessionId: string, options?: CallOptions): Promise<CallResult>;
  /**
   * Asks whether the agent has a session in memory, without changing anything. Needs `capabilities.sessionStatus` and the
   * unstable feature "session_status".
   *
   * @experimental
   */
  sessionStatus(sessionId: string, options?: CallOptions): Promise<SessionStatus>;
  /**
   * Sets the title of a session, open or not. Resolves with the `title` that the agent has stored. Needs
   * `capabilities.setTitle` and the unstable feature "session_title".
   *
   * @experimental
   */
  setSessionTitle(sessionId: string, title: string, options?: CallOptions): Promise<TitleResult>;
  /**
   * Logs in with one of `authMethods`.
   *
   * @throws {TypeError} When the agent has no such method, when it is a terminal login, and when `credentials` are given to
   * an agent that speaks no dialect (as a rejection).
   */
  login(methodId: string, options?: LoginOptions): Promise<LoginResult>;
  /** Logs out. Needs `capabilities.logout`. */
  logout(options?: CallOptions): Promise<CallResult>;
  /**
   * Asks whether a login is needed, and which accounts the agent has. Needs `capabilities.authStatus` and the unstable
   * feature "auth_status".
   *
   * @experimental
   */
  authStatus(options?: CallOptions): Promise<AuthStatus>;
  /**
   * Calls the listener when the agent reports that its login has changed, and at once with the last report. Returns a
   * function that removes it. Needs the unstable feature "auth_status".
   *
   * @experimental
   */
  onAuthStatus(listener: SessionListener<AuthStatus>): () => void;
  /**
   * The model providers of the agent. Configure them before you open sessions. Needs `capabilities.providers` and the
   * unstable feature "providers".
   *
   * @experimental
   */
  listProviders(options?: CallOptions): Promise<ProviderList>;
  /**
   * Replaces the setting of a model provider. Needs `capabilities.providers` and the unstable feature "providers".
   *
   * @experimental
   */
  setProvider(setting: ProviderSetting, options?: CallOptions): Promise<CallResult>;
  /**
   * Disables a model provider. Needs `capabilities.providers` and the unstable feature "providers".
   *
   * @throws {TypeError} When `listProviders` has shown that the agent requires it (as a rejection).
   * @experimental
   */
  disableProvider(providerId: string, options?: CallOptions): Promise<CallResult>;
  /** The names of the MCP servers that the agent hosts, for `mcp`. Empty if it announced none. */
  readonly mcpServers: readonly string[];
  /**
   * Asks an MCP server that the agent hosts, such as `connection.mcp("search").request("tools/list")`.
   *
   * @throws {TypeError} When the agent has announced no such server.
   */
  mcp(serverName: string): McpChannel;
  /** Sends a request outside the protocol; its name begins with `_`. */
  request(
    method: `_${string}`,
    params?: unknown,
    options?: Omit<RequestOptions<unknown>, "receive"> & Pick<CallOptions, "key">,
  ): Promise<unknown>;
  /** Sends a notification outside the protocol; its name begins with `_`. Await it if you send many. */
  notify(method: `_${string}`, params?: unknown): Promise<void>;
  /** The open sessions, also those that are being loaded. */
  readonly sessions: readonly ClientSession[];
  /**
   * What the connection holds, as JSON: the answer to the handshake, the sessions with their open prompts, the calls and the
   * questions that have no answer yet. `client().restore` goes on from it, in this process or another. Take it between two
   * messages, not in a listener or a handler, and store it with the place where the transport stands. It has prompts and may have
   * texts of the agent.
   *
   * @throws {TypeError} When the connection speaks a dialect, or has `proxies`: what these hold is not JSON.
   * @throws {ConnectionError} When the connection has ended.
   */
  snapshot(): ConnectionSnapshot;
  /**
   * A call that was open when the snapshot was taken which this connection was restored from, by its `key`: a promise of what
   * the call resolves with. That of a prompt is its result. Undefined if there was no such call, or it had been answered.
   */
  pending(key: string): Promise<unknown> | undefined;
  /** Closes the connection and its sessions. Open prompts reject. `reason` is for the log. */
  close(reason?: string): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * What a user logs in with.
 *
 * @inline
 */
export interface LoginOptions extends CallOptions {
  /**
   * What the user logs in with, by name, such as `{ apiKey: "…" }`. Only agents that speak a dialect take it: v1 and v2 have
   * no place for it. It is never stored, traced or logged.
   */
  readonly credentials?: Credentials | undefined;
}

/**
 * The answer to a login.
 *
 * @inline
 */
export interface LoginResult extends CallResult {
  /** When the login ends, such as "2026-03-01T12:00:00Z" (RFC 3339), if the agent says it. */
  readonly expiresAt?: string;
}

/** The directories, servers and listeners of a session. Pass all of them again when you load or resume a session. */
export interface SessionOptions extends CallOptions {
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** Further directories that the agent may work in: absolute paths. Needs `capabilities.additionalDirectories`. */
  readonly additionalDirectories?: readonly string[] | undefined;
  /** MCP servers for the agent to use. Default: none. */
  readonly mcpServers?: readonly OutgoingMcpServer[] | undefined;
  /**
   * Tools of this program for the agent to use in this session: tools and MCP servers that `mcp` of the definition takes,
   * and MCP providers. They end with the session. The agent gets them over this connection, if both sides have the unstable
   * feature "mcp_over_acp", and else through a bridge. Give them again when you load or resume the session. Default: none.
   */
  readonly tools?: readonly object[] | undefined;
  /**
   * A system prompt that is added to the agent's own or replaces it. Needs the unstable feature "system_prompt".
   *
   * @experimental
   */
  readonly systemPrompt?: SystemPrompt | undefined;
  /**
   * For `loadSession` and `resumeSession`: the last known options and commands of the session. They are used until the
   * agent reports others, because many agents do not repeat them.
   */
  readonly lastKnown?:
    | {
        /** `configOptions` of the session. */
        readonly configOptions: readonly SessionConfigOption[];
        /** `availableCommands` of the session. */
        readonly availableCommands: readonly AvailableCommand[];
      }
    | undefined;
  /**
   * Called for every update from the start. A listener that is registered later with `session.onUpdate` gets at most
   * 1,024 earlier updates.
   */
  readonly onUpdate?: SessionListener<SessionUpdate> | undefined;
  /** Called for every entry from the start. The same as `session.onEntry`, but it misses none. */
  readonly onEntry?: SessionListener<Entry> | undefined;
}

/** The options of `loadSession` and `resumeSession`. */
export interface ReopenOptions extends SessionOptions {
  /**
   * Takes the session from another client that has it open. That client's `session.closed` resolves, and its open prompts
   * reject, with ConnectionError "session_taken". Without it, the agent refuses with RequestError "conflict". Only agents of
   * Parley know it. Default false.
   */
  readonly takeover?: boolean | undefined;
}

/** The options of `forkSession`. */
export interface ForkOptions extends SessionOptions {
  /**
   * The id of a message of the user: the copy has the conversation before it. Needs an agent that names the extension
   * `forkBeforeKey` in `capabilities.partsMeta`, under "session.fork", as all agents of Parley do. Default: the whole conversation.
   *
   * @experimental
   */
  readonly before?: string | undefined;
}

/**
 * The sessions to list.
 *
 * @inline
 */
export interface SessionQueryOptions extends CallOptions {
  /** Only sessions with this working directory: an absolute path. */
  readonly cwd?: string | undefined;
  /**
   * "exclude" (default) leaves archived sessions out, "include" lists all, "only" lists archived ones. Keep it for the next
   * pages. Needs `capabilities.archive` and the unstable feature "archive".
   *
   * @experimental
   */
  readonly archived?: ArchiveFilter | undefined;
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** One page of the agent's sessions. */
export interface SessionPage {
  /** The sessions of this page, in the agent's order. */
  readonly sessions: readonly SessionInfo[];
  /** Pass it as `cursor` to get the next page. Absent on the last page. */
  readonly nextCursor?: string;
  /** Custom data of the answer. */
  readonly _meta?: Meta;
}

/**
 * The model providers of the agent.
 *
 * @inline
 */
export interface ProviderList extends CallResult {
  /** All providers, also disabled ones. */
  readonly providers: readonly Provider[];
}

/**
 * Counts of ignored input.
 *
 * @inline
 */
export interface ClientCounters extends Readonly<ConnectionCounters> {
  /** Updates of unknown sessions, which were dropped. */
  readonly orphanUpdates: number;
  /** Updates that the protocol does not allow, which were dropped. */
  readonly invalidUpdates: number;
  /** The dialect that dropped updates were written in. Name it in the `editions`. */
  readonly droppedDialect?: string;
  /** Updates that the protocol does not allow, which could be repaired: for example messages without an id on v2. */
  readonly repairedUpdates: number;
}
