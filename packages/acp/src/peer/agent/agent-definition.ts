// Defines what an agent does and offers, checks it when the agent is created, and declares it in `initialize`.

import { milliseconds } from "../../base/deadline.ts";
import { optional } from "../../base/objects.ts";
import type {
  Activation,
  AgentCapabilities,
  AgentIntroduction,
  ClientCapabilities,
} from "../../edition/agent-edition.ts";
import { type ProtocolVersion, protocolVersions } from "../../edition/negotiate.ts";
import type { ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import type { AuthMethod, Meta } from "../../model/content.ts";
import type { SessionStore } from "../../model/store.ts";
import type { UnstableMethods } from "../../wire/decode.ts";
import { checkDefinition, type Keys, sharedKeys } from "../base/definition-rules.ts";
import type { ExtensionContext } from "../base/extensions.ts";
import type { AgentSession, Turn, TurnEnd } from "./turn/turn.ts";

/** How a session came to life on this connection. */
export type SessionOrigin = "new" | "load" | "resume" | "fork";

export interface AgentDefinition
  extends Pick<ConnectionOptions, "limits" | "log" | "tap" | "batches" | "drainMs"> {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  /** Answers one prompt. Called once per turn, never twice at once per session. Returns nothing for "end_turn". */
  prompt(turn: Turn): Promise<TurnEnd> | TurnEnd;
  /** A session has been opened; a good place to set its options and commands. Throw `authRequired()` to refuse. */
  open?(session: AgentSession, origin: SessionOrigin, activation: Activation): Promise<void> | void;
  /** A session has been closed, or its connection has ended. */
  close?(session: AgentSession): Promise<void> | void;
  /** The client chose a value that the option offers. Throw RequestError to refuse. */
  setConfigOption?(session: AgentSession, configId: string, value: string | boolean): Promise<void> | void;
  /** The user wants this tool call, or terminal, to stop (v2). Offer it with `capabilities: { cancel: {} }`. */
  cancelTool?(session: AgentSession, toolCallId: string): Promise<void> | void;
  cancelTerminal?(session: AgentSession, terminalId: string): Promise<void> | void;

  /** Kinds of content that prompts may have beside text and links. Default none. */
  readonly promptCapabilities?: {
    readonly image?: boolean;
    readonly audio?: boolean;
    readonly embeddedContext?: boolean;
  };
  /** Kinds of MCP server beside stdio. Default none. */
  readonly mcpCapabilities?: { readonly http?: boolean; readonly sse?: boolean };
  /** Ways to log in. A terminal method is only shown to clients that can run one. */
  readonly authMethods?: readonly AuthMethod[];
  login?(methodId: string): Promise<void> | void;
  /**
   * Whether a user is logged in. Called before each request about a session; false answers it with -32000 and the ways
   * to log in. It is not awaited, since requests start in order: keep the answer at hand.
   */
  isLoggedIn?(): boolean;
  logout?(): Promise<void> | void;

  /** Where sessions live. Default: memory, for as long as the agent object lives. */
  readonly store?: SessionStore;
  /**
   * How many characters of a session may wait for a store that is slow or fails. Beyond it updates throw -32067, so
   * that the turn ends with that error. Default 16 Mi.
   */
  readonly maxUnstored?: number;
  /**
   * How many milliseconds the client may take over a file or a terminal of its own before the request fails; waiting
   * for an exit and for the user's answers has no limit. Default 60,000.
   */
  readonly clientTimeoutMs?: number;
  /** A prompt that comes while a turn runs goes to `turn.inbox`. Default false. */
  readonly steering?: boolean;
  /** Without steering: wait in line (default), or be answered -32064. */
  readonly concurrentPrompts?: "queue" | "reject";
  /** Newest first. Default both. */
  readonly versions?: readonly ProtocolVersion[];
  readonly unstable?: UnstableMethods;
  /** Put into the agent's capabilities. */
  readonly _meta?: Meta;
  /** Requests and notifications outside the protocol; names begin with `_`. */
  readonly requests?: Readonly<Record<`_${string}`, (params: unknown, context: ExtensionContext) => unknown>>;
  readonly notifications?: Readonly<
    Record<`_${string}`, (params: unknown, context: ExtensionContext) => undefined>
  >;
}

const agentKeys: Keys<AgentDefinition> = {
  ...sharedKeys,
  prompt: true,
  open: true,
  close: true,
  setConfigOption: true,
  cancelTool: true,
  cancelTerminal: true,
  promptCapabilities: true,
  mcpCapabilities: true,
  authMethods: true,
  login: true,
  isLoggedIn: true,
  logout: true,
  store: true,
  maxUnstored: true,
  clientTimeoutMs: true,
  steering: true,
  concurrentPrompts: true,
};

/** Throws a TypeError for a definition that could not be served. */
export function checkAgentDefinition(definition: AgentDefinition): void {
  checkDefinition("agent", definition, agentKeys);
  if (typeof definition.prompt !== "function")
    throw new TypeError("agent: prompt must be a function; it is called with each turn");
  const { maxUnstored, authMethods = [], versions = protocolVersions } = definition;
  if (maxUnstored !== undefined && !(typeof maxUnstored === "number" && maxUnstored >= 0)) {
    throw new TypeError(`agent: maxUnstored must be a number of characters, got ${String(maxUnstored)}`);
  }
  if (definition.clientTimeoutMs !== undefined) milliseconds("clientTimeoutMs", definition.clientTimeoutMs);
  // an agent that lists a way to log in must have it (A12)
  if (authMethods.some(({ type }) => type !== "terminal") && definition.login === undefined)
    throw new TypeError("agent: authMethods need login(), which is called with the method that was chosen");
  if (authMethods.length > 0 && versions.includes(2) && definition.logout === undefined)
    throw new TypeError("agent: authMethods need logout(), which version 2 demands beside login()");
  const ids = new Set<unknown>();
  for (const method of authMethods) {
    if (ids.has(method.methodId))
      throw new TypeError(`agent: two authMethods have the id ${JSON.stringify(method.methodId)}`);
    ids.add(method.methodId);
    if (method.type === "terminal") checkEnv(method.methodId, method.env ?? []);
  }
}

/** With a name twice it would be unclear which value counts. */
function checkEnv(methodId: string, env: readonly { readonly name: string }[]): void {
  const names = env.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return;
  throw new TypeError(
    `agent: the env of the authMethod ${JSON.stringify(methodId)} has ${JSON.stringify(twice)} twice`,
  );
}

export function introduction(definition: AgentDefinition, client: ClientCapabilities): AgentIntroduction {
  const { name, version, title, _meta: meta } = definition;
  return {
    info: { name, version, ...optional({ title }) },
    capabilities: features(definition),
    authMethods: authMethodsFor(definition, client),
    _meta: meta,
  };
}

/** A terminal login is only shown to clients that can run one. */
export function authMethodsFor(
  definition: AgentDefinition,
  client: ClientCapabilities,
): readonly AuthMethod[] {
  const { authMethods = [] } = definition;
  return authMethods.filter((method) => method.type !== "terminal" || client.terminalAuth);
}

function features(definition: AgentDefinition): AgentCapabilities {
  const { promptCapabilities: accepts = {}, mcpCapabilities: mcp = {}, unstable = [] } = definition;
  return {
    image: accepts.image === true,
    audio: accepts.audio === true,
    embeddedContext: accepts.embeddedContext === true,
    mcpStdio: true,
    mcpHttp: mcp.http === true,
    mcpSse: mcp.sse === true,
    sessions: true,
    load: true,
    resume: true,
    list: true,
    close: true,
    delete: true,
    fork: lists(unstable, "session/fork"),
    additionalDirectories: true,
    systemPrompt: lists(unstable, "session/new"),
    systemPromptOverride: lists(unstable, "session/new"),
    logout: definition.logout !== undefined,
  };
}

export function lists(unstable: UnstableMethods, method: string): boolean {
  return unstable === "*" || unstable.includes(method);
}
