// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// Connects an agent and a client back to back in every version, or one of them and a peer whose messages the test writes.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as beyondV1 from "../../src/base/parley-extensions.ts";
import {
  type AgentConnection,
  type AgentDefinition,
  agent,
  type ClientConnection,
  type ClientDefinition,
  type ClientSession,
  client,
  type Editions,
  type PromptResult,
  RequestError,
  type SessionUpdate,
  type Transport,
  textOf,
} from "../../src/index.ts";
import type { ProtocolVersion } from "../../src/internal.ts";
import { Connection, type IncomingRequest } from "../../src/jsonrpc.ts";
import { type Dialect, memoryPair } from "../../src/transport.ts";

export const editionChoices: Readonly<Record<string, Editions>> = {
  v1: ["v1"],
  v2: ["v2"],
  negotiated: ["v2", "v1"],
};

export interface Pair {
  readonly editions: Editions;
  /** What is spoken in the end. */
  readonly version: ProtocolVersion;
  /** What the transports of both say that they translate. Their messages have the shapes of version 1. */
  readonly dialect?: Dialect;
}

/** The same test in version 1, in version 2, and with a handshake between two that speak both. */
export function inEveryVersion(name: string, run: (pair: Pair) => Promise<void>): void {
  for (const [label, editions] of Object.entries(editionChoices)) {
    const version = editions[0] === "v1" ? 1 : 2;
    test(`${name} (${label})`, { timeout: 10_000 }, () => run({ editions, version }));
  }
}

/** A dialect that can say everything beyond version 1. Nothing is translated to it. */
export const richDialect: Dialect = {
  name: "rich",
  understands: Object.values(beyondV1).filter((each) => typeof each === "string"),
  isSpokenByClient: () => false,
  isSpokenByAgent: () => false,
  load: () => Promise.reject(new Error("there is nothing to load")),
};

/** Two that speak a dialect, as they look from inside: in the shapes of version 1. */
export const inDialect: Pair = { editions: ["v1"], version: 1, dialect: richDialect };
export const plainV1: Pair = { editions: ["v1"], version: 1 };

export type Prompted = AgentDefinition["prompt"];
export type Wire = { readonly from: "client" | "agent"; readonly message: Record<string, unknown> };

export interface Conversation {
  readonly served: AgentConnection;
  readonly agent: ClientConnection;
  /** Everything that crossed, in order. */
  readonly wire: Wire[];
  readonly log: string[];
  /** Drops the line without a word. */
  cut(): Promise<void>;
}

export async function conversation(
  { editions, dialect }: Pair,
  definition: Partial<AgentDefinition> & { readonly prompt: Prompted },
  clientDefinition: Partial<ClientDefinition> = {},
): Promise<Conversation> {
  const [left, right] = memoryPair();
  if (dialect !== undefined) for (const end of [left, right]) Object.assign(end, { dialect });
  const wire: Wire[] = [];
  const log: string[] = [];
  const served = agent({
    name: "probe-agent",
    version: "1",
    editions,
    log: (level, message) => log.push(`agent ${level}: ${message}`),
    ...definition,
    connection: {
      tap: (direction, text) =>
        wire.push({ from: direction === "in" ? "client" : "agent", message: JSON.parse(text) }),
      ...definition.connection,
    },
  }).connect(left);
  const connected = await client({
    name: "probe-client",
    version: "1",
    editions,
    log: (level, message) => log.push(`client ${level}: ${message}`),
    ...clientDefinition,
  }).connect(right);
  return { served, agent: connected, wire, log, cut: () => left.close() };
}

export const place = { cwd: "/project" } as const;

export async function openSession(
  pair: Pair,
  definition: Partial<AgentDefinition> & { readonly prompt: Prompted },
  clientDefinition: Partial<ClientDefinition> = {},
): Promise<Conversation & { session: ClientSession; updates: SessionUpdate[] }> {
  const talk = await conversation(pair, definition, clientDefinition);
  const session = await talk.agent.newSession(place);
  const updates: SessionUpdate[] = [];
  session.onUpdate((update) => {
    updates.push(update);
  });
  return { ...talk, session, updates };
}

/** The text that the agent said, in pieces and, in a replay, as whole messages. */
export function said(updates: readonly SessionUpdate[]): string {
  return updates
    .map((update) => {
      if (update.sessionUpdate === "agent_message_chunk") return textOf(update.content);
      return update.sessionUpdate === "agent_message" ? textOf(update.content ?? []) : "";
    })
    .join("");
}

/** The statuses of the tool calls, as "id:status" without the id when there is one tool. */
export function statuses(updates: readonly SessionUpdate[]): string[] {
  return updates.flatMap((update) =>
    update.sessionUpdate === "tool_call_update" && update.status ? [String(update.status)] : [],
  );
}

export function states(updates: readonly SessionUpdate[]): string[] {
  return updates.flatMap((update) =>
    update.sessionUpdate === "state_update" ? [String((update as { state: unknown }).state)] : [],
  );
}

/** Every microtask that is due has run: memory delivers by microtasks, so the wire is quiet afterwards. */
export function quiet(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

export function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

/** A prompt that the agent refused or failed: an outcome with that error, in every version. */
export async function failsWith(
  outcome: Promise<PromptResult>,
  code: number,
  data: Record<string, unknown> = {},
): Promise<NonNullable<PromptResult["error"]>> {
  const { stopReason, error } = await outcome;
  assert.equal(stopReason, "error");
  assert.ok(error !== undefined);
  assert.equal(error.code, code, error.message);
  for (const [key, value] of Object.entries(data))
    assert.deepEqual((error.data as Record<string, unknown>)[key], value);
  return error;
}

export async function rejects(
  promise: Promise<unknown>,
  code: number,
  data: Record<string, unknown> = {},
): Promise<RequestError> {
  const error = await promise.then(
    (value) => assert.fail(`resolved with ${JSON.stringify(value)}, wanted the error ${code}`),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof RequestError, `rejected with ${String(error)}, wanted the error ${code}`);
  assert.equal(error.code, code, error.message);
  for (const [key, value] of Object.entries(data))
    assert.deepEqual((error.data as Record<string, unknown>)[key], value);
  return error;
}

type Answer = (params: Record<string, unknown>, request: IncomingRequest) => unknown;

/** A peer by hand: answers with what is written here. */
export interface ScriptedPeer {
  readonly connection: Connection;
  /** Methods and params of what came, in order. */
  readonly got: { method: string; params: Record<string, unknown> }[];
  notify(method: string, params: object): void;
  update(sessionId: string, update: object): void;
  methods(): string[];
}

function scripted(transport: Transport, answers: Record<string, Answer>): ScriptedPeer {
  const got: ScriptedPeer["got"] = [];
  const connection = new Connection(transport, {
    handlers: {
      request(method, params, request) {
        got.push({ method, params: params as Record<string, unknown> });
        const answer = answers[method];
        if (answer === undefined) throw new RequestError("method_not_found", `no ${method} here`);
        return answer(params as Record<string, unknown>, request);
      },
      notification(method, params) {
        got.push({ method, params: params as Record<string, unknown> });
        answers[method]?.(params as Record<string, unknown>, undefined as never);
      },
    },
  });
  return {
    connection,
    got,
    notify: (method, params) => void connection.notify(method, params),
    update: (sessionId, update) => void connection.notify("session/update", { sessionId, update }),
    methods: () => got.map(({ method }) => method),
  };
}

/** Our client and an agent by hand. It answers initialize and session/new unless told otherwise. */
export async function withScriptedAgent(
  version: ProtocolVersion,
  answers: Record<string, Answer>,
  definition: Partial<ClientDefinition> = {},
): Promise<{ peer: ScriptedPeer; agent: ClientConnection; log: string[]; cut(): Promise<void> }> {
  const [left, right] = memoryPair();
  const log: string[] = [];
  const peer = scripted(left, {
    initialize: () => initialized(version),
    "session/new": () => ({ sessionId: "s1" }),
    ...answers,
  });
  const connected = await client({
    name: "probe-client",
    version: "1",
    log: (level, message) => log.push(`${level}: ${message}`),
    ...definition,
  }).connect(right);
  return { peer, agent: connected, log, cut: () => left.close() };
}

/** Our agent and a client by hand. */
export function withScriptedClient(
  definition: Partial<AgentDefinition> & { readonly prompt: Prompted },
  answers: Record<string, Answer> = {},
): { peer: ScriptedPeer; served: AgentConnection; log: string[]; call: Connection["request"] } {
  const [left, right] = memoryPair();
  const log: string[] = [];
  const own: AgentDefinition = {
    name: "probe-agent",
    version: "1",
    log: (level, message) => log.push(`${level}: ${message}`),
    ...definition,
  };
  const served = agent(own).connect(left);
  const peer = scripted(right, answers);
  return {
    peer,
    served,
    log,
    call: (method, params, options) => peer.connection.request(method, params, options),
  };
}

export function initialize(version: number): object {
  return version === 1
    ? { protocolVersion: 1, clientCapabilities: {} }
    : { protocolVersion: version, info: { name: "raw", version: "1" }, capabilities: {} };
}

export function initialized(version: ProtocolVersion): object {
  if (version === 2) {
    return {
      protocolVersion: 2,
      info: { name: "raw", version: "1" },
      capabilities: { session: { delete: {} } },
      authMethods: [],
    };
  }
  return {
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: true,
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
    authMethods: [],
  };
}

export const text = (value: string) => ({ type: "text" as const, text: value });
export const chunk = (value: string, messageId?: string) => ({
  sessionUpdate: "agent_message_chunk",
  ...(messageId === undefined ? {} : { messageId }),
  content: text(value),
});
