// The types of an agent's definition: what it does, and what it offers.

import type { Credentials, SessionInfo } from "../../edition/agent-edition.ts";
import type { Editions } from "../../edition/negotiate.ts";
import type { ConnectionOptions, Log } from "../../jsonrpc/connection-options.ts";
import type { AuthStatus, Provider, ProviderSetting } from "../../model/agent-status.ts";
import type { AuthMethod, Meta } from "../../model/content.ts";
import type { JsonValue } from "../../model/custom-types.ts";
import type { McpKit } from "../../model/mcp.ts";
import type { OutgoingConfigOption } from "../../model/outgoing.ts";
import type { SessionStore } from "../../model/store.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import type { HandshakeMeta } from "../base/definition-rules.ts";
import type { Extensions } from "../base/extensions.ts";
import type { Between } from "../base/own-proxies.ts";
import type { McpAgentConnector } from "../mcp/session-servers.ts";
import type { AgentSession, PromptEnd, Turn } from "./turn/turn.ts";

/** The request of the client that a handler works on: its custom data, and that of its answer. */
export interface AgentRequest {
  /** Custom data of the request. */
  readonly _meta?: Meta;
  /** Sets the custom data of the answer. Call it before the handler returns. */
  setResultMeta(meta: Meta): void;
}

/** The login that a handler works on. */
export interface LoginRequest extends AgentRequest {
  /**
   * What the user logs in with, by name, such as `{ apiKey: "…" }`. Only clients that speak a dialect send it. It is not part
   * of `_meta`, and is never stored, traced or logged.
   */
  readonly credentials?: Credentials;
}

/**
 * What an agent says about a login.
 *
 * @inline
 */
export interface LoginEnd {
  /** When the login ends, such as "2026-03-01T12:00:00Z" (RFC 3339). Default: not said. */
  readonly expiresAt?: string | undefined;
}

/** How a session was opened. */
export interface OpenRequest extends AgentRequest {
  /**
   * "new"; "load": a stored session, whose history is sent again; "resume": a stored session, without its history;
   * "fork": a copy of another session.
   */
  readonly origin: "new" | "load" | "resume" | "fork";
}

/**
 * What an agent does and offers. Only `name`, `version` and `prompt` are required. `Data` is the type of `session.data`,
 * which `session.open` returns; a definition with data needs `session.open`.
 */
export type AgentDefinition<Data = unknown> = AgentOptions<Data> & OpensData<Data>;

/**
 * Without `open`, the data of a session would be undefined.
 *
 * @inline
 */
type OpensData<Data> = [undefined] extends [Data] ? unknown : { readonly session: { readonly open: object } };

/** The parts of an `AgentDefinition`. */
export interface AgentOptions<Data = unknown> {
  /** The name of the agent for programs, such as "my-agent". */
  readonly name: string;
  /** The version of the agent, such as "1.0.0". */
  readonly version: string;
  /** The name of the agent for people. Default: `name`. */
  readonly title?: string | undefined;
  /**
   * Handles the opening, changing and closing of sessions, and sets where they are stored. Write it before `prompt`, so
   * that the compiler infers the type of `session.data`. Default: sessions are kept in memory.
   */
  readonly session?: SessionHandlers<Data> | undefined;
  // The type parameter has no use at run time. Without it the compiler would widen the result of
  // `async prompt() { return "end_turn"; }` to `string`, which is no stop reason.
  /**
   * Answers one prompt. Called once per turn; a session has one turn at a time. Return nothing when the agent is done, or
   * a stop reason such as "max_tokens", or `{ stopReason, usage }`. Throwing ends the turn with an error, whose message
   * the client shows to the user (see `exposeErrors`).
   */
  prompt<const Literal extends never>(turn: Turn<Data>): Promise<PromptEnd> | PromptEnd | Literal;
  /** How users log in and out. Default: no login. */
  readonly auth?: AuthHandlers | undefined;
  /**
   * The model providers that clients can configure. Needs the unstable feature "providers". Default: none.
   *
   * @experimental
   */
  readonly providers?: ProviderHandlers | undefined;
  /** Content that prompts may have in addition to text and links. A client does not send other content. Default: none. */
  readonly promptCapabilities?:
    | {
        /** Images. Default false. */
        readonly image?: boolean | undefined;
        /** Audio. Default false. */
        readonly audio?: boolean | undefined;
        /** Files whose text or bytes are part of the prompt. Default false. */
        readonly embeddedContext?: boolean | undefined;
      }
    | undefined;
  /** Connects to the MCP servers of sessions (`session.mcpServers`) and makes servers of tools: `mcpKit()` of `@parley/mcp`. */
  readonly mcp?: McpKit | undefined;
  /**
   * MCP servers that this agent hosts for its clients, by name: providers, and with `mcp` also MCP servers and lists of
   * tools. Clients ask them with `connection.mcp(name)`. They are yours to close. Default: none.
   */
  readonly mcpServers?: Readonly<Record<string, object>> | undefined;
  /**
   * Connects to MCP servers that other agents host: for the servers `acp` of the dialect `scoped`, which name an agent by an
   * address such as "acp://localhost/search". Return undefined for an address that the user has not configured: the session
   * is then refused. Needs the unstable feature "mcp_over_acp". Default: none, and clients are told so.
   *
   * @experimental
   */
  readonly mcpAgents?: ((address: string) => McpAgentConnector | undefined) | undefined;
  /** Kinds of MCP servers that the agent can use in addition to stdio. Default: those of `mcp`; none without it. */
  readonly mcpCapabilities?:
    | {
        /** Servers over Streamable HTTP. Default: whether there is `mcp`. */
        readonly http?: boolean | undefined;
        /** Servers over the older HTTP+SSE. Default: whether there is `mcp`. */
        readonly sse?: boolean | undefined;
      }
    | undefined;
  /**
   * The treatment of a prompt that arrives during a turn. "queue" makes it the next turn, "reject" refuses it with
   * RequestError "turn_in_progress", "inbox" puts it into `turn.inbox` and lets v1 clients steer the turn. Default "queue".
   */
  readonly concurrentPrompts?: "queue" | "reject" | "inbox" | undefined;
  /** Requests and notifications outside the protocol; their names begin with `_`. Default: none. */
  readonly extensions?: Extensions | undefined;
  /** The editions of the protocol to speak, newest first. Default: `["v2", "v1"]`. */
  readonly editions?: Editions | undefined;
  /** The unstable features of the protocol to enable, or "*" for all. Default: none. */
  readonly unstable?: UnstableFeatures | undefined;
  /**
   * Whether clients get the message of an Error that a handler throws; never its stack. Set it to false if clients must not
   * see it, for example in an agent that you host: they then get "internal error" and a `correlationId`, which `log` has
   * too. A RequestError is always sent as it is. Default true.
   */
  readonly exposeErrors?: boolean | undefined;
  /**
   * Proxies in front of the agent, the first of them next to the client. Needs the unstable feature "proxies".
   *
   * @experimental
   */
  readonly proxies?: readonly Between[] | undefined;
  /** Receives errors and warnings. Silent by default. */
  readonly log?: Log | undefined;
  /** Limits and timeouts of the connections. */
  readonly connection?: AgentConnectionOptions | undefined;
  /** Custom data for the agent's capabilities. */
  readonly _meta?: Meta | undefined;
  /** Custom data for other parts of the handshake. */
  readonly handshakeMeta?: HandshakeMeta | undefined;
}

/**
 * A function without data may return nothing. A function with data must return it.
 *
 * @inline
 */
// biome-ignore lint/suspicious/noConfusingVoidType: the result of a function without a return statement
type Opened<Data> = undefined extends Data ? Data | void : Data;

/**
 * The handlers for opening, changing and closing sessions, and the store.
 */
export interface SessionHandlers<Data> {
  /**
   * Called when a session has been opened, before the client gets it. Set its options and commands here. The result
   * becomes `session.data`. Write `session` before `prompt` in the definition, so that the compiler can infer its type.
   * Throw a RequestError to refuse the session. It is not called when another client takes over a session that is open.
   *
   * @example
   * import { agent } from "@parley/acp";
   *
   * export const helpful = agent({
   *   name: "my-agent",
   *   version: "1.0.0",
   *   session: {
   *     open(session) {
   *       session.setAvailableCommands([{ name: "count", description: "Says how many prompts there were" }]);
   *       return { prompts: 0 };
   *     },
   *   },
   *   async prompt(turn) {
   *     turn.session.data.prompts += 1;
   *     await turn.say(`${turn.session.data.prompts}`);
   *   },
   * });
   */
  readonly open?:
    | ((session: AgentSession<undefined>, info: OpenRequest) => Promise<Opened<Data>> | Opened<Data>)
    | undefined;
  /**
   * Called when a session has been closed or the connection that holds it has ended. Release the resources in `data` here. It is awaited
   * for 5 seconds. Do not await `agent.close()` or the end of the connection in it: they wait for it. `request` is
   * undefined if the client did not ask for it.
   */
  readonly close?:
    | ((session: AgentSession<Data>, request: AgentRequest | undefined) => Promise<void> | void)
    | undefined;
  /**
   * Called with each page of stored sessions before the client gets it. Return the sessions to send, for example with
   * `_meta`; nothing sends the page as it is.
   */
  readonly onList?:
    | ((
        sessions: readonly SessionInfo[],
        request: AgentRequest,
      ) => Promise<Opened<readonly SessionInfo[] | undefined>> | Opened<readonly SessionInfo[] | undefined>)
    | undefined;
  /** Called when the client deletes a session, before the store deletes it. Throw a RequestError to refuse it. */
  readonly onDelete?: ((sessionId: string, request: AgentRequest) => Promise<void> | void) | undefined;
  /**
   * Called when the client chooses a value that the option offers, before it takes effect: a string for a choice, true or
   * false for a boolean, any JSON value for an option of type `_json`. Throw a RequestError to refuse it.
   */
  readonly setConfigOption?:
    | ((
        session: AgentSession<Data>,
        configId: string,
        value: JsonValue,
        request: AgentRequest,
      ) => Promise<void> | void)
    | undefined;
  /**
   * Called before the client archives a session, which is closed by then. Throw a RequestError to refuse it. Needs the
   * unstable feature "archive".
   *
   * @experimental
   */
  readonly onArchive?: ((sessionId: string, request: AgentRequest) => Promise<void> | void) | undefined;
  /**
   * Called before the client takes a session out of the archive. Throw a RequestError to refuse it. Needs the unstable
   * feature "archive".
   *
   * @experimental
   */
  readonly onUnarchive?: ((sessionId: string, request: AgentRequest) => Promise<void> | void) | undefined;
  /**
   * Called when the client asks for the status of a session, which need not be open. It must change nothing. Needs the
   * unstable feature "session_status".
   *
   * @experimental
   */
  readonly onStatus?: ((sessionId: string, request: AgentRequest) => Promise<void> | void) | undefined;
  /**
   * Called before a title that the client has set is stored; the session need not be open. Return another title to
   * store, or throw a RequestError to refuse it. Needs the unstable feature "session_title".
   *
   * @experimental
   */
  readonly onSetTitle?: // biome-ignore lint/suspicious/noConfusingVoidType: the result of a function without a return statement
    | ((sessionId: string, title: string, request: AgentRequest) => Promise<string | void> | string | void)
    | undefined;
  /**
   * The options that new sessions begin with. Clients that speak a dialect are told them before there is a session. Default:
   * none, and `open` sets them.
   */
  readonly initialOptions?: readonly OutgoingConfigOption[] | undefined;
  /** Where sessions are stored, such as `sqliteStore` of `@parley/acp/node`. Default: in memory, as long as the agent exists. */
  readonly store?: SessionStore | undefined;
  /**
   * How many characters of one session may wait for a store that is slow or fails. Beyond this limit, updates throw a
   * RequestError of kind "unavailable", which ends the turn. Default 16,777,216.
   */
  readonly maxUnstored?: number | undefined;
}

/**
 * How users log in and out.
 *
 * @inline
 */
export interface AuthHandlers {
  /** The login methods. Terminal logins are offered only to clients that can run them. Default: none. */
  readonly methods?: readonly AuthMethod[] | undefined;
  /**
   * Logs in with one of `methods` that is not a terminal login. Throw a RequestError if it fails. Return `{ expiresAt }` if
   * the login ends by itself.
   */
  readonly login?:
    | ((
        methodId: string,
        request: LoginRequest,
      ) => Promise<Opened<LoginEnd | undefined>> | Opened<LoginEnd | undefined>)
    | undefined;
  /** Logs out. v2 requires it of agents that have `methods`. */
  readonly logout?: ((request: AgentRequest) => Promise<void> | void) | undefined;
  /**
   * Whether a user is logged in. Called before each request about a session; `false` refuses the request with RequestError
   * "auth_required" and the login methods. It must return at once, without a promise. Default: always true.
   */
  readonly isLoggedIn?: (() => boolean) | undefined;
  /**
   * The login of the agent, for display. It must change nothing. Needs the unstable feature "auth_status". Default: what
   * `methods` and `isLoggedIn` say. Call `agent.reportAuthStatus()` when it has changed by itself.
   *
   * @experimental
   */
  readonly status?: ((request: AgentRequest) => Promise<AuthStatus> | AuthStatus) | undefined;
}

/**
 * The model providers of an agent. Settings apply to sessions that are opened later, and last as long as the process.
 *
 * @inline
 * @experimental
 */
export interface ProviderHandlers {
  /** All providers, also disabled ones. */
  list(request: AgentRequest): Promise<readonly Provider[]> | readonly Provider[];
  /** Replaces the setting of a provider. Called only for a listed provider and a protocol that it supports. */
  set(setting: ProviderSetting, request: AgentRequest): Promise<void> | void;
  /** Disables a provider. Called only for a listed provider that is not required. */
  disable(providerId: string, request: AgentRequest): Promise<void> | void;
}

/**
 * Limits and timeouts of an agent's connections.
 *
 * @inline
 */
export interface AgentConnectionOptions
  extends Pick<ConnectionOptions, "limits" | "tap" | "batches" | "drainMs"> {
  /**
   * How long the client may take to answer a request about its files and terminals, in milliseconds. There is no limit
   * for the exit of a command and for answers of the user. While the client is away, the time stands still. Default 60,000.
   */
  readonly clientTimeoutMs?: number | undefined;
  /**
   * How long a prompt handler may go on after its turn was cancelled, in milliseconds. Then the turn ends as cancelled
   * without it, and further prompts are refused with RequestError "turn_in_progress" until it returns. Default 10,000.
   */
  readonly cancelGraceMs?: number | undefined;
}
