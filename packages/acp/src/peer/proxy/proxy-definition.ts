// The definition of a proxy: its hooks, and the types that they get and return.

import type { Edition, Editions } from "../../edition/negotiate.ts";
import type { Side } from "../../forward/frame.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type {
  ElicitationRequest,
  ElicitationResponse,
  PermissionOutcome,
  PermissionRequest,
} from "../../model/ask.ts";
import type { ContentBlock, McpServer, Meta, SystemPrompt } from "../../model/content.ts";
import type { PromptResult, SessionUpdate } from "../../model/update.ts";

/** The answer to a request that is not passed on. Made by `answer`. */
export class Answer<Value> {
  /** The result. */
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/**
 * Answers a request in place of the peer that it was sent to. The hook `permission` and hooks of `messages` may answer with a promise.
 * Later messages of the session do not wait for the promise, but they wait for a hook that is async.
 *
 * @example
 * import { answer, proxy } from "@parley/acp/proxy";
 *
 * export const readOnly = proxy({
 *   name: "read-only",
 *   version: "1.0.0",
 *   messages: { "terminal/create": () => answer({ terminalId: "none" }) },
 * });
 */
export function answer<Value>(value: Value): Answer<Value> {
  return new Answer(value);
}

/**
 * Refuses a request with a reason for the peer that sent it. Throw it, or return it.
 *
 * @example
 * import { proxy, refuse } from "@parley/acp/proxy";
 *
 * export const noForks = proxy({
 *   name: "no-forks",
 *   version: "1.0.0",
 *   open: ({ kind }) => (kind === "fork" ? refuse("sessions are not forked here") : undefined),
 * });
 */
export function refuse(reason: string): RequestError {
  return new RequestError("invalid_request", reason, { data: { reason: "refused" } });
}

/** The return value of a hook: undefined (the message passes), another value, an answer or a refusal. */
export type HookResult<Value, Result> = Value | Answer<Result> | RequestError | undefined;
/** A value, or a promise of it. */
export type MaybePromise<Value> = Value | PromiseLike<Value>;

/** The request that a hook looks at. */
export interface ProxiedCall {
  /** The name of the method on the wire. */
  readonly method: string;
  /** Aborts when the answer is no longer needed. */
  readonly signal: AbortSignal;
}

/** A request that opens a session. */
export interface ProxiedSetup {
  /** The kind of request. */
  readonly kind: "new" | "load" | "resume" | "fork";
  /** The session that is opened again, or forked. */
  readonly sessionId?: string;
  /** The working directory. */
  readonly cwd: string;
  /** Further directories. */
  readonly additionalDirectories: readonly string[];
  /** The MCP servers that the client gives the agent. */
  readonly mcpServers: readonly McpServer[];
  /** The client's part of the system prompt. */
  readonly systemPrompt?: SystemPrompt;
  /** Custom data. */
  readonly _meta?: Meta;
}

/** A prompt on its way to the agent. */
export interface ProxiedPrompt {
  /** What the user wrote. */
  readonly content: readonly ContentBlock[];
  /** Custom data. */
  readonly _meta?: Meta;
}

/** The result of a turn that the proxy answers instead of the agent. */
export interface ProxiedTurn extends Pick<PromptResult, "stopReason" | "usage" | "_meta"> {
  /** A text for the user, shown as a message of the agent. */
  readonly say?: string;
}

/** A session, as a proxy sees it. */
export interface ProxiedSession<Data = undefined> {
  /** Its id. */
  readonly sessionId: string;
  /** The value that the hook `session` returned for it. */
  readonly data: Data;
  /** The version of the protocol on this connection. */
  readonly edition: Edition;
  /** Sends an update to the client, after everything that has passed so far. */
  update(update: SessionUpdate): void;
  /** Sends a text to the client, which shows it as a message of the agent. */
  say(text: string): void;
  /** Sends a notification to one side. */
  notify(to: Side, method: string, params: object): void;
  /** Sends a request to one side. Rejects with a `RequestError` if it fails. */
  request(to: Side, method: string, params: object): Promise<unknown>;
  /**
   * Asks the user. The client shows the question and its options. A question that the hook `permission` got is sent as the
   * agent sent it. The question is withdrawn when the signal aborts. Rejects with a `RequestError` if the client fails.
   */
  ask(
    question: PermissionRequest,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<PermissionOutcome>;
}

/** A message of any method, as it is on the wire. */
export interface ProxiedMessage {
  /** The peer that sent it. */
  readonly from: Side;
  /** The name of the method. */
  readonly method: string;
  /** Whether the message is a request, which is answered, or a notification, which is not. */
  readonly kind: "request" | "notification";
  /** The params, as they came. Do not change this object: return a new one. */
  readonly params: unknown;
}

/** Looks at a message. */
export type MessageHook<Data> = (
  message: ProxiedMessage,
  session: ProxiedSession<Data> | undefined,
  call: ProxiedCall | undefined,
) => MaybePromise<HookResult<object, unknown> | null>;

/** Looks at the result of a request. Returns another result, or undefined. */
export type ResultHook<Data> = (
  result: unknown,
  session: ProxiedSession<Data> | undefined,
  message: ProxiedMessage,
) => MaybePromise<unknown>;

/**
 * What a proxy does with messages. With an empty definition, everything passes. A message passes as it came if its hook returns
 * undefined or the same value. A message that a hook changes keeps its unknown fields. Hooks of requests may be async: later
 * messages of the session wait for them.
 */
export interface ProxyDefinition<Data = undefined> {
  /** The name of the proxy, in errors and logs. */
  readonly name: string;
  /** The version of the proxy. */
  readonly version: string;
  /** Makes the data of a session when the session is first named. */
  readonly session?: (session: Omit<ProxiedSession, "data">) => Data;
  /** Looks at a request that opens a session. */
  readonly open?: (setup: ProxiedSetup, call: ProxiedCall) => MaybePromise<HookResult<ProxiedSetup, never>>;
  /**
   * Called when a request that opens a session has been answered. `setup` is what `open` returned or was given. The agent has
   * opened `session`, or refused with `error`.
   */
  readonly opened?: (
    setup: ProxiedSetup,
    session: ProxiedSession<Data> | undefined,
    error: Error | undefined,
  ) => void;
  /** Looks at a prompt, or at a message for a turn that runs. */
  readonly prompt?: (
    prompt: ProxiedPrompt,
    session: ProxiedSession<Data>,
    call: ProxiedCall,
  ) => MaybePromise<HookResult<ProxiedPrompt, ProxiedTurn>>;
  /** Looks at an update of the agent. Null drops it. It cannot be async. */
  readonly update?: (
    update: SessionUpdate,
    session: ProxiedSession<Data>,
  ) => SessionUpdate | null | undefined;
  /** Looks at a permission question. */
  readonly permission?: (
    ask: PermissionRequest,
    session: ProxiedSession<Data>,
    call: ProxiedCall,
  ) => MaybePromise<HookResult<PermissionRequest, MaybePromise<PermissionOutcome>>>;
  /** Looks at a form that the agent shows, or an address that it wants to open. */
  readonly elicitation?: (
    ask: ElicitationRequest,
    session: ProxiedSession<Data> | undefined,
    call: ProxiedCall,
  ) => MaybePromise<HookResult<ElicitationRequest, ElicitationResponse>>;
  /** Called when a turn has ended, with its result. */
  readonly turnEnd?: (result: PromptResult, session: ProxiedSession<Data>) => void;
  /**
   * Look at messages, by their method on the wire. `"*"` is for all others. They run first: the other hooks get what they return.
   * Null drops a notification.
   */
  readonly messages?: Readonly<Record<string, MessageHook<Data>>>;
  /** Look at results, by the method of the request. `"*"` is for all others. With undefined, a result passes as it came. */
  readonly results?: Readonly<Record<string, ResultHook<Data>>>;
  /**
   * What happens when a hook throws anything but a `RequestError`, which refuses. "open": the message passes as it came.
   * "closed": a request is refused, and a notification is dropped. Default: "open".
   */
  readonly errors?: "open" | "closed";
  /**
   * The proxy decides what is allowed: `errors` is always "closed". Messages that it cannot read are refused, and parts of them that
   * it cannot read do not pass.
   */
  readonly policy?: true;
  /**
   * The chain ends with an error that names the proxy if a hook has not settled for this time, in milliseconds. Time in which a
   * request of the proxy in the session is open does not count, and each message of the proxy in the session starts it anew. So a
   * hook may wait for a person whom it asks with `request`. Use Infinity for a hook that waits for a person in another way.
   * Default: 300,000.
   */
  readonly hookMs?: number;
  /** Starts the agent behind the proxy and returns its transport, for a proxy that is not part of a chain. */
  readonly agent?: () => Transport | PromiseLike<Transport>;
  /** The editions that the client and the agent may speak, for a proxy that is not part of a chain. Default: v2 and v1. */
  readonly editions?: Editions;
  /** Receives errors and warnings. */
  readonly log?: Log;
  /** Called when a connection has closed. */
  readonly closed?: () => void;
}
