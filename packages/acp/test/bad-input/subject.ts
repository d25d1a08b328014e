// The peer under test, of either role and version: its handlers obey a hostile peer, and it reports what it did.

import type { ConnectionCounters, ConnectionLimits } from "../../src/jsonrpc/connection-options.ts";
import { ConnectionError, RequestError } from "../../src/jsonrpc/errors.ts";
import type { IncomingRequest } from "../../src/jsonrpc/incoming-request.ts";
import type { Transport } from "../../src/jsonrpc/transport.ts";
import * as v1 from "../../src/v1.gen.ts";
import * as v2 from "../../src/v2.gen.ts";

export type Role = "agent" | "client";

export interface SubjectOptions {
  readonly role: Role;
  readonly version?: 1 | 2;
  /** Cases follow one another faster than ten a second, so by default errors with `id: null` are not limited. */
  readonly limits?: Partial<ConnectionLimits>;
  /** Further extension requests, by name. */
  readonly extensions?: Readonly<Record<`_${string}`, () => unknown>>;
}

/** What the subject did since the last report. */
export interface Report {
  readonly calls: Readonly<Record<string, number>>;
  readonly counters: Readonly<ConnectionCounters>;
  readonly logs: readonly string[];
  /** `({}).polluted`, as the subject's process sees it. */
  readonly polluted: string;
}

export interface Subject {
  readonly closed: Promise<ConnectionError>;
  readonly report: () => Report;
  close(): Promise<void>;
}

type Handler = (params: never, request: IncomingRequest) => unknown;
type Extensions = Pick<v1.AgentPeer, "requestExtension" | "counters" | "closed" | "close">;

export function startSubject(transport: Transport, options: SubjectOptions): Subject {
  const { role, version = 1, limits = { maxNullIdErrorsPerSecond: 1_000_000 } } = options;
  const record = new CallRecord();
  const held = new Map<string, () => void>();
  let peer: Extensions | undefined;
  const report = () => record.take(peer?.counters);

  const requests = record.counted({
    "_test/echo": (params: unknown) => params,
    "_test/size": (params: { value?: unknown }) => sizeOf(params.value),
    "_test/report": report,
    "_test/hold": (_params: unknown, request: IncomingRequest) => hold(held, request),
    "_test/ask": (params: { timeoutMs?: number } | undefined) => ask(peer, params?.timeoutMs),
    ...options.extensions,
    ...(role === "agent" ? agentRequests(version) : clientRequests),
  });
  const notifications = record.counted({
    "_test/note": () => undefined,
    "_test/release": ({ keys }: { keys?: readonly string[] }) => {
      for (const key of keys ?? [...held.keys()]) held.get(key)?.();
      return undefined;
    },
    "session/cancel": () => undefined,
    "session/update": () => undefined,
  });

  // both roles and both versions have one set of handlers here, so their types cannot fit each
  const peerOptions = { requests, notifications, limits, log: record.log } as object;
  const { agentPeer, clientPeer } = version === 1 ? v1 : v2;
  peer = role === "agent" ? agentPeer(transport, peerOptions) : clientPeer(transport, peerOptions);
  const { closed } = peer;
  return { closed, report, close: async () => peer?.close() };
}

/** Runs until the hostile peer lets it go, or until it is cancelled. */
function hold(held: Map<string, () => void>, request: IncomingRequest): Promise<string> {
  const key = typeof request.id === "string" ? request.id : `#${request.id}`;
  return new Promise((resolve, reject) => {
    held.set(key, () => {
      held.delete(key);
      resolve("released");
    });
    request.signal.addEventListener("abort", () => {
      held.delete(key);
      reject(request.signal.reason);
    });
  });
}

/** Asks the hostile peer something and says how that ended. */
async function ask(peer: Extensions | undefined, timeoutMs: number | undefined): Promise<object> {
  try {
    const options = timeoutMs === undefined ? {} : { timeoutMs };
    return { result: await peer?.requestExtension("_test/question", {}, options) };
  } catch (error) {
    if (error instanceof RequestError) return { code: error.code };
    if (error instanceof ConnectionError) return { kind: error.kind };
    throw error;
  }
}

function sizeOf(value: unknown): number {
  if (typeof value === "string" || Array.isArray(value)) return value.length;
  return typeof value === "object" && value !== null ? Object.keys(value).length : -1;
}

function agentRequests(version: 1 | 2): Record<string, Handler> {
  const info = { name: "subject", version: "1" };
  return {
    initialize: () => (version === 1 ? { protocolVersion: 1 } : { protocolVersion: 2, info }),
    "session/new": () => ({ sessionId: "new" }),
    "session/list": () => ({ sessions: [] }),
    "session/prompt": (params: v1.PromptRequest, request) =>
      params.sessionId === "slow" ? untilCancelled(request) : { stopReason: "end_turn" },
  };
}

/** What an agent does with a turn: it ends when it is cancelled, with the answer that says so. */
function untilCancelled(request: IncomingRequest): Promise<v1.PromptResponse> {
  return new Promise((resolve) => {
    request.signal.addEventListener("abort", () => resolve({ stopReason: "cancelled" }));
  });
}

const clientRequests: Record<string, Handler> = {
  "fs/read_text_file": (params: v1.ReadTextFileRequest) => ({ content: params.path }),
  "terminal/create": () => ({ terminalId: "t" }),
  "elicitation/create": () => ({ action: "cancel" }),
  "session/request_permission": () => ({ outcome: { outcome: "cancelled" } }),
};

class CallRecord {
  #calls: Record<string, number> = {};
  #logs: string[] = [];
  #before: ConnectionCounters | undefined;

  readonly log = (level: string, message: string, fields: Readonly<Record<string, unknown>>): void => {
    this.#logs.push(`${level} ${message} ${readable(fields)}`);
  };

  /** The probe and the report are the harness's own and are not counted. */
  counted<Handlers extends object>(handlers: Handlers): Handlers {
    const wrapped = Object.entries(handlers as Record<string, Handler>).map(([method, handler]) => {
      const counting: Handler = (params, request) => {
        if (request?.id !== "probe" && request?.id !== "report") {
          this.#calls[method] = (this.#calls[method] ?? 0) + 1;
        }
        return handler(params, request);
      };
      return [method, counting];
    });
    return Object.fromEntries(wrapped) as Handlers;
  }

  take(counters: Readonly<ConnectionCounters> | undefined): Report {
    const now = { strayAnswers: 0, refused: 0, noise: 0, unsentErrors: 0, dropped: 0, ...counters };
    const since = { ...now };
    for (const key of Object.keys(now) as (keyof ConnectionCounters)[])
      since[key] -= this.#before?.[key] ?? 0;
    const polluted = String(({} as { polluted?: unknown }).polluted);
    const report = { calls: this.#calls, counters: since, logs: this.#logs, polluted };
    this.#before = now;
    this.#calls = {};
    this.#logs = [];
    return report;
  }
}

/** Everything that a logger could print, the stacks and causes of errors included. */
function readable(fields: object): string {
  return JSON.stringify(fields, (_key, value: unknown) => {
    if (typeof value === "bigint") return `${value}n`;
    if (!(value instanceof Error)) return value;
    return { ...value, name: value.name, message: value.message, stack: value.stack, cause: value.cause };
  });
}
