// Defines what an agent does and offers, checks it when the agent is created, and declares it in `initialize`.

import { milliseconds } from "../../base/deadline.ts";
import { optional } from "../../base/objects.ts";
import type {
  AgentCapabilities,
  AgentIntroduction,
  ClientCapabilities,
} from "../../edition/agent-edition.ts";
import { allEditions, type Editions } from "../../edition/negotiate.ts";
import type { ConnectionOptions, Log } from "../../jsonrpc/connection-options.ts";
import type { AuthMethod, Meta } from "../../model/content.ts";
import type { SessionStore } from "../../model/store.ts";
import { lists, type UnstableFeatures } from "../../validation/unstable-features.ts";
import { checkDefinition, type GroupKeys, type Keys, sharedKeys } from "../base/definition-rules.ts";
import type { Extensions } from "../base/extensions.ts";
import type { AgentSession, PromptEnd, Turn } from "./turn/turn.ts";

/** How a session was opened. Everything else about it is on the session. */
export interface OpenInfo {
  /** A new session; one that was stored, with its history shown again or not; or a copy of one. */
  readonly origin: "new" | "load" | "resume" | "fork";
  /** `_meta` of the request. */
  readonly _meta?: Meta;
}

/**
 * What an agent does and offers. `Data` is the type of `session.data`: what `session.open` returns. `End` is what `prompt`
 * returns; it is inferred, so that the compiler checks the stop reasons of async handlers too.
 */
export interface AgentDefinition<Data = unknown, End extends PromptEnd = PromptEnd> {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly session?: SessionHandlers<Data>;
  /** Answers one prompt. Called once per turn, never twice at once per session. Returns nothing for "end_turn". */
  prompt(turn: Turn<Data>): Promise<End> | End;
  readonly auth?: AuthHandlers;
  /** Kinds of content that prompts may have beside text and links. Default none. */
  readonly promptCapabilities?: {
    readonly image?: boolean;
    readonly audio?: boolean;
    readonly embeddedContext?: boolean;
  };
  /** Kinds of MCP server beside stdio. Default none. */
  readonly mcpCapabilities?: { readonly http?: boolean; readonly sse?: boolean };
  /**
   * A prompt that comes while a turn runs: waits in line ("queue", the default), is answered -32064 ("reject"), or goes
   * to `turn.inbox` ("inbox").
   */
  readonly concurrentPrompts?: "queue" | "reject" | "inbox";
  readonly extensions?: Extensions;
  /** The editions of the protocol to speak, newest first. Default: all. */
  readonly editions?: Editions;
  /** The unstable features to enable. Default: none. */
  readonly unstable?: UnstableFeatures;
  /** Receives errors and warnings. Silent by default. */
  readonly log?: Log;
  readonly connection?: AgentConnectionOptions;
  /** Put into the agent's capabilities. */
  readonly _meta?: Meta;
}

/** A function without data need not return undefined. One with data must return it. */
// biome-ignore lint/suspicious/noConfusingVoidType: the result of a function without a return statement
type Opened<Data> = undefined extends Data ? Data | void : Data;

/**
 * What an agent does when sessions open, change and close, and where they live.
 *
 * @inline
 */
export interface SessionHandlers<Data> {
  /**
   * A session has been opened: set its options and commands here. The result becomes `session.data`. Throw a
   * RequestError to refuse.
   */
  open?(session: AgentSession<undefined>, info: OpenInfo): Promise<Opened<Data>> | Opened<Data>;
  /** A session has been closed, or its connection has ended. */
  close?(session: AgentSession<Data>): Promise<void> | void;
  /** The client chose a value that the option offers. Throw RequestError to refuse. */
  setConfigOption?(
    session: AgentSession<Data>,
    configId: string,
    value: string | boolean,
  ): Promise<void> | void;
  /** Where sessions live. Default: memory, for as long as the agent object lives. */
  readonly store?: SessionStore;
  /**
   * How many characters of a session may wait for a store that is slow or fails. Beyond it updates throw -32067, so
   * that the turn ends with that error. Default 16 Mi.
   */
  readonly maxUnstored?: number;
}

/**
 * How users log in.
 *
 * @inline
 */
export interface AuthHandlers {
  /** Ways to log in. A terminal method is only shown to clients that can run one. */
  readonly methods?: readonly AuthMethod[];
  login?(methodId: string): Promise<void> | void;
  logout?(): Promise<void> | void;
  /**
   * Whether a user is logged in. Called before each request about a session; false answers it with -32000 and the ways
   * to log in. It is not awaited, since requests start in order: keep the answer at hand.
   */
  isLoggedIn?(): boolean;
}

/**
 * How the connections of an agent behave.
 *
 * @inline
 */
export interface AgentConnectionOptions
  extends Pick<ConnectionOptions, "limits" | "tap" | "batches" | "drainMs"> {
  /**
   * How many milliseconds the client may take over a file or a terminal of its own before the request fails; waiting
   * for an exit and for the user's answers has no limit. Default 60,000.
   */
  readonly clientTimeoutMs?: number;
}

const agentKeys: Keys<AgentDefinition> = {
  ...sharedKeys,
  prompt: true,
  session: true,
  auth: true,
  promptCapabilities: true,
  mcpCapabilities: true,
  concurrentPrompts: true,
};
const groupKeys: GroupKeys<
  AgentDefinition,
  "session" | "auth" | "promptCapabilities" | "mcpCapabilities" | "extensions" | "connection"
> = {
  session: { open: true, close: true, setConfigOption: true, store: true, maxUnstored: true },
  auth: { methods: true, login: true, logout: true, isLoggedIn: true },
  promptCapabilities: { image: true, audio: true, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  extensions: { requests: true, notifications: true },
  connection: { limits: true, tap: true, batches: true, drainMs: true, clientTimeoutMs: true },
};

/** Throws a TypeError for a definition that could not be served. */
export function checkAgentDefinition(definition: AgentDefinition): void {
  checkDefinition("agent", definition, agentKeys, groupKeys);
  if (typeof definition.prompt !== "function")
    throw new TypeError("agent: prompt must be a function; it is called with each turn");
  const { session: { maxUnstored } = {}, auth: { methods = [], login, logout } = {} } = definition;
  const { editions = allEditions, connection: { clientTimeoutMs } = {} } = definition;
  if (maxUnstored !== undefined && !(typeof maxUnstored === "number" && maxUnstored >= 0)) {
    throw new TypeError(
      `agent: session.maxUnstored must be a number of characters, got ${String(maxUnstored)}`,
    );
  }
  if (clientTimeoutMs !== undefined) milliseconds("connection.clientTimeoutMs", clientTimeoutMs);
  // an agent that lists a way to log in must have it (A12)
  if (methods.some(({ type }) => type !== "terminal") && login === undefined)
    throw new TypeError("agent: auth.methods need auth.login(), which is called with the chosen method");
  if (methods.length > 0 && editions.includes("v2") && logout === undefined)
    throw new TypeError("agent: auth.methods need auth.logout(), which v2 demands beside login()");
  const ids = new Set<unknown>();
  for (const method of methods) {
    if (ids.has(method.methodId))
      throw new TypeError(`agent: two auth.methods have the id ${JSON.stringify(method.methodId)}`);
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
    `agent: the env of the auth method ${JSON.stringify(methodId)} has ${JSON.stringify(twice)} twice`,
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
  const { methods = [] } = definition.auth ?? {};
  return methods.filter((method) => method.type !== "terminal" || client.terminalAuth);
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
    fork: lists(unstable, "fork"),
    additionalDirectories: true,
    systemPrompt: lists(unstable, "system_prompt"),
    systemPromptOverride: lists(unstable, "system_prompt"),
    logout: definition.auth?.logout !== undefined,
  };
}
