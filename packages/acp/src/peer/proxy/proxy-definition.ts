// What an app says about a proxy.

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

/** The answer to a request that goes no further. Made by `answer`. */
export class Answer<Value> {
  /** The result. */
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/**
 * Answers a request in place of the peer that it was sent to.
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

/** What a hook says: nothing (it passes), another value, an answer or a refusal. */
export type HookResult<Value, Result> = Value | Answer<Result> | RequestError | undefined;
/** A value, or a promise of it. */
export type MaybePromise<Value> = Value | PromiseLike<Value>;

/** A request while a hook looks at it. */
export interface ProxiedCall {
  /** The name of the method on the wire. */
  readonly method: string;
  /** Aborts when nobody waits for the answer any more. */
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

/** The end of a turn in place of the agent's. */
export interface ProxiedTurn extends Pick<PromptResult, "stopReason" | "usage" | "_meta"> {
  /** What the agent would say: the user reads it. */
  readonly say?: string;
}

/** A session that a proxy sees. */
export interface ProxiedSession<Data = undefined> {
  /** Its id. */
  readonly sessionId: string;
  /** What the hook `session` made for it. */
  readonly data: Data;
  /** The version of the protocol that the messages of the connection are in. */
  readonly edition: Edition;
  /** Sends an update to the client, after everything that has passed. */
  update(update: SessionUpdate): void;
  /** Sends a message to the client that the user reads as one of the agent. */
  say(text: string): void;
  /** Sends a notification to one side. */
  notify(to: Side, method: string, params: object): void;
  /** Sends a request to one side. Rejects with RequestError. */
  request(to: Side, method: string, params: object): Promise<unknown>;
}

/** A message of any method, as it is on the wire. */
export interface ProxiedMessage {
  /** The peer that sent it. */
  readonly from: Side;
  /** The name of the method. */
  readonly method: string;
  /** A notification is not answered. */
  readonly kind: "request" | "notification";
  /** The params, as they came. Do not change them: return others. */
  readonly params: unknown;
}

/** Looks at a message. */
export type MessageHook<Data> = (
  message: ProxiedMessage,
  session: ProxiedSession<Data> | undefined,
  call: ProxiedCall | undefined,
) => MaybePromise<HookResult<object, unknown> | null>;

/** Looks at the result of a request. Returns another one, or nothing. */
export type ResultHook<Data> = (
  result: unknown,
  session: ProxiedSession<Data> | undefined,
  message: ProxiedMessage,
) => MaybePromise<unknown>;

/**
 * What a proxy does with what passes. An empty definition passes everything. What a hook does not return, or returns as it
 * was, passes as it came; what it changes keeps its unknown fields. Hooks of requests may be async: then what follows in the
 * session waits.
 */
export interface ProxyDefinition<Data = undefined> {
  /** Its name, in errors and logs. */
  readonly name: string;
  /** Its version. */
  readonly version: string;
  /** Makes the data of a session when the session is first named. */
  readonly session?: (session: Omit<ProxiedSession, "data">) => Data;
  /** Looks at a request that opens a session. */
  readonly open?: (setup: ProxiedSetup, call: ProxiedCall) => MaybePromise<HookResult<ProxiedSetup, never>>;
  /** Looks at a prompt. */
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
  /** Looks at a question for permission. */
  readonly permission?: (
    ask: PermissionRequest,
    session: ProxiedSession<Data>,
    call: ProxiedCall,
  ) => MaybePromise<HookResult<PermissionRequest, PermissionOutcome>>;
  /** Looks at a form or an address that the agent shows. */
  readonly elicitation?: (
    ask: ElicitationRequest,
    session: ProxiedSession<Data> | undefined,
    call: ProxiedCall,
  ) => MaybePromise<HookResult<ElicitationRequest, ElicitationResponse>>;
  /** Called when a turn has ended, with its result. */
  readonly turnEnd?: (result: PromptResult, session: ProxiedSession<Data>) => void;
  /**
   * Looks at messages by the names of their methods on the wire; `"*"` at all others. It comes first: the other hooks see what it
   * returns. Null drops a notification.
   */
  readonly messages?: Readonly<Record<string, MessageHook<Data>>>;
  /** Looks at the results of requests, by their methods; `"*"` at all others. Undefined passes it as it came. */
  readonly results?: Readonly<Record<string, ResultHook<Data>>>;
  /**
   * What an error in a hook means. "open": the message passes as it came. "closed": a request is refused, a notification is
   * dropped. Default: "open".
   */
  readonly errors?: "open" | "closed";
  /** It decides what is allowed: its errors are always closed, and nothing passes that it could not read. */
  readonly policy?: true;
  /** Makes the transport of the agent behind it, for a proxy that is not part of a chain. */
  readonly agent?: () => Transport | PromiseLike<Transport>;
  /** The editions that the client and the agent may speak, when it is not part of a chain. Default: v2 and v1. */
  readonly editions?: Editions;
  /** Receives errors and warnings. */
  readonly log?: Log;
  /** Called when a connection has closed. */
  readonly closed?: () => void;
}
