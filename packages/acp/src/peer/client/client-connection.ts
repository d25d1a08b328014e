// The interfaces of a client's connection to an agent, and of the options of a session.

import type { AgentCapabilities, SessionInfo } from "../../edition/agent-edition.ts";
import type { Edition } from "../../edition/negotiate.ts";
import type { ConnectionCounters } from "../../jsonrpc/connection-options.ts";
import type { ConnectionError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type {
  AuthMethod,
  AvailableCommand,
  Implementation,
  Meta,
  SessionConfigOption,
  SystemPrompt,
} from "../../model/content.ts";
import type { Entry } from "../../model/entry.ts";
import type { OutgoingMcpServer, SessionUpdate } from "../../model/update.ts";
import type { ClientSession, SessionListener } from "./session/client-session.ts";

/**
 * The connection of a client to an agent, made by `client().connect()`. A method that the agent does not offer rejects with
 * a TypeError, and nothing is sent.
 */
export interface ClientConnection {
  /** The name and version of the agent. */
  readonly info: Implementation | undefined;
  /** The capabilities of the agent. */
  readonly capabilities: AgentCapabilities;
  /** The ways to log in. */
  readonly authMethods: readonly AuthMethod[];
  /** The edition of the protocol that was agreed on. */
  readonly edition: Edition;
  /** Counts of ignored input: noise, stray answers, updates of unknown sessions. */
  readonly counters: ClientCounters;
  /** Resolves when the connection has closed, with the reason; never rejects. */
  readonly closed: Promise<ConnectionError>;
  /** Opens a new session. */
  newSession(options: SessionOptions): Promise<ClientSession>;
  /** Loads a session with its history, which arrives as updates before this resolves. */
  loadSession(sessionId: string, options: SessionOptions): Promise<ClientSession>;
  /** Resumes a session without its history. */
  resumeSession(sessionId: string, options: SessionOptions): Promise<ClientSession>;
  /** Opens a new session with the conversation of another one. Needs the unstable feature "fork". */
  forkSession(sessionId: string, options: SessionOptions): Promise<ClientSession>;
  /** One page of the agent's sessions. Pass `nextCursor` on as it is. */
  listSessions(query?: SessionQueryOptions): Promise<SessionPage>;
  /** Deletes a session at the agent. */
  deleteSession(sessionId: string, options?: CallOptions): Promise<void>;
  /** Logs in by one of `authMethods` that is no terminal login. */
  login(methodId: string, options?: CallOptions): Promise<void>;
  logout(options?: CallOptions): Promise<void>;
  /** Sends a request outside the protocol; its name begins with `_`. */
  request(
    method: `_${string}`,
    params?: unknown,
    options?: Omit<RequestOptions<unknown>, "receive">,
  ): Promise<unknown>;
  /** Sends a notification outside the protocol; its name begins with `_`. Await it before you send many more. */
  notify(method: `_${string}`, params?: unknown): Promise<void>;
  /** Ends the connection and all that its sessions were served. */
  close(reason?: string): Promise<void>;
  /** The same as `close`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Options of a call to the agent.
 *
 * @inline
 */
export interface CallOptions {
  /** Cancels the request at the agent when it aborts, and rejects with ConnectionError "aborted". */
  readonly signal?: AbortSignal;
}

/** The directories, servers and listeners of a session; nothing is inherited from an earlier activation. */
export interface SessionOptions extends CallOptions {
  /** The working directory: an absolute path. */
  readonly cwd: string;
  /** Absolute paths. */
  readonly additionalDirectories?: readonly string[];
  readonly mcpServers?: readonly OutgoingMcpServer[];
  readonly systemPrompt?: SystemPrompt;
  /** Custom data of the request. */
  readonly _meta?: Meta;
  /**
   * For a load or a resume: the last known options and commands. They count until the agent reports others, since many
   * agents do not repeat them.
   */
  readonly known?: {
    readonly configOptions: readonly SessionConfigOption[];
    readonly availableCommands: readonly AvailableCommand[];
  };
  /** A listener that misses nothing. Only 1,024 updates of a history are kept for one that is registered later. */
  readonly onUpdate?: SessionListener<SessionUpdate>;
  /** The same for entries. */
  readonly onEntry?: SessionListener<Entry>;
}

/**
 * Which sessions to list.
 *
 * @inline
 */
export interface SessionQueryOptions extends CallOptions {
  /** Only sessions with this working directory: an absolute path. */
  readonly cwd?: string;
  /** `nextCursor` of the page before. */
  readonly cursor?: string;
}

/** One page of the agent's sessions. */
export interface SessionPage {
  readonly sessions: readonly SessionInfo[];
  /** Absent on the last page. */
  readonly nextCursor?: string;
}

/**
 * Counts of ignored input.
 *
 * @inline
 */
export interface ClientCounters extends Readonly<ConnectionCounters> {
  /** Updates of unknown sessions. */
  readonly orphanUpdates: number;
}
