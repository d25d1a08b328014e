// Validates the messages of one role in one version of the protocol: lenient in, strict out.

import type { AgentCapabilities } from "../../edition/agent-edition.ts";
import { dialectAnswer, dialectError } from "../../edition/dialect-tells.ts";
import type { Connection } from "../../jsonrpc/connection.ts";
import type { BatchCall, Log } from "../../jsonrpc/connection-options.ts";
import { ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { ContentBlock } from "../../model/content.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import {
  type BoundMethod,
  bindMethod,
  decodeParams,
  decodeResult,
  describeFailure,
  encodeParams,
  encodeResult,
  Failure,
  modes,
} from "../../wire/decode.ts";
import type { DialectTells, MethodRow, WireVersion } from "../../wire/method-row.ts";
import { methodTable } from "../../wire/methods.gen.ts";

export type Role = "agent" | "client";

/** A request that this side sends, and the decoder of its result. */
interface SentRequest {
  readonly bound: BoundMethod;
  readonly receive: (result: unknown) => unknown;
}

export class BoundWire {
  readonly #log: Log;
  readonly #receivedRequests: ReadonlyMap<string, BoundMethod>;
  readonly #receivedNotifications: ReadonlyMap<string, BoundMethod>;
  readonly #sentRequests: ReadonlyMap<string, SentRequest>;
  readonly #sentNotifications: ReadonlyMap<string, BoundMethod>;
  readonly #methods: readonly MethodRow[];
  readonly #dialects: DialectTells | undefined;

  constructor(version: WireVersion, role: Role, unstable: UnstableFeatures, log: Log) {
    const other = role === "agent" ? "client" : "agent";
    this.#log = log;
    this.#receivedRequests = bindRows(version, role, "request", unstable);
    this.#receivedNotifications = bindRows(version, role, "notification", unstable);
    this.#methods = version.methods;
    this.#dialects = version.dialects;
    const sent = bindRows(version, other, "request", unstable);
    this.#sentRequests = new Map(
      Array.from(sent, ([method, bound]) => [
        method,
        { bound, receive: (result) => receivedResult(bound, result, version) },
      ]),
    );
    this.#sentNotifications = bindRows(version, other, "notification", unstable);
  }

  /** Undefined for a request that this role does not receive. */
  receivedRequest(method: string): BoundMethod | undefined {
    return this.#receivedRequests.get(method);
  }

  receivedNotification(method: string): BoundMethod | undefined {
    return this.#receivedNotifications.get(method);
  }

  /** The params of a request of the peer. Throws the error to answer with. */
  requestParams(bound: BoundMethod, params: unknown): unknown {
    const { method } = bound.row;
    if (this.#dialects?.paramsThatPass.has(method)) this.#refuseDialect(method, params);
    const decoded = decodeParams(bound, params);
    if (!(decoded instanceof Failure)) return decoded;
    this.#refuseDialect(method, params);
    throw invalidParams(method, decoded);
  }

  #refuseDialect(method: string, params: unknown): void {
    const dialect = this.#dialects?.params(method, params);
    if (dialect !== undefined) throw dialectError("invalid_params", method, dialect);
  }

  /** The params of a notification, or a Failure that has been logged: notifications are never answered. */
  notificationParams(method: BoundMethod, params: unknown): unknown {
    const decoded = decodeParams(method, params);
    if (decoded instanceof Failure) {
      this.#log("warn", "refused the params of a notification", failureDetails(method.row.method, decoded));
    }
    return decoded;
  }

  /** A handler's result, ready to send. A wrong one is logged, and the peer gets an internal error. */
  result(method: BoundMethod, value: unknown): unknown {
    const encoded = encodeResult(method, value);
    if (!(encoded instanceof Failure)) return encoded;
    this.#log("error", "a handler returned an invalid result", failureDetails(method.row.method, encoded));
    throw new RequestError("internal_error", "internal error", { data: { reason: "invalid_result" } });
  }

  /** Throws at once when the params are not valid. The promise is of the decoded result. */
  request<Result>(
    connection: Connection,
    method: string,
    params: unknown,
    options: RequestOptions<Result>,
  ): Promise<Result> {
    const { params: valid, receive } = this.prepare(method, params);
    const { signal, cancelGraceMs, timeoutMs, receive: after } = options;
    // without a hook of its own the caller gets the decoded result, which is a Result
    const decoded = receive as (result: unknown) => Result;
    const hook = after === undefined ? decoded : (result: unknown) => after(receive(result));
    return connection.request(method, valid, { signal, cancelGraceMs, timeoutMs, receive: hook });
  }

  /** Validates a request that the caller sends, and returns the decoder of its result. */
  prepare(method: string, params: unknown): { params: unknown; receive: (result: unknown) => unknown } {
    const { bound, receive } = this.#sendable(this.#sentRequests, method);
    return { params: checked(bound, encodeParams(bound, params)), receive };
  }

  /** The decoder of the result of a request that was sent before. */
  sent(method: string): { params?: undefined; receive: (result: unknown) => unknown } {
    return { receive: this.#sendable(this.#sentRequests, method).receive };
  }

  /**
   * Throws at once when the params are not valid. `isQuoted`: they are the words of the peer, which may have values that
   * this version does not know.
   */
  notification(method: string, params: unknown, isQuoted = false): unknown {
    const bound = this.#sendable(this.#sentNotifications, method);
    return checked(bound, encodeParams(bound, params, isQuoted ? bound.send & ~modes.own : bound.send));
  }

  #sendable<Row>(methods: ReadonlyMap<string, Row>, method: string): Row {
    const row = methods.get(method);
    if (row !== undefined) return row;
    const { unstable } = this.#methods.find((each) => each.method === method) ?? {};
    const hint = unstable === undefined ? "" : `; it needs unstable: ["${unstable}"]`;
    throw new TypeError(`${method}: not a method that this side sends${hint}`);
  }
}

function bindRows(
  version: WireVersion,
  receiver: Role,
  kind: MethodRow["kind"],
  unstable: UnstableFeatures,
): Map<string, BoundMethod> {
  const bound = version.methods
    .filter((row) => row.kind === kind && (row.receiver === receiver || row.receiver === "both"))
    .map((row) => bindMethod(row, unstable, version));
  return new Map(bound.filter((method) => method.enabled).map((method) => [method.row.method, method]));
}

function checked(method: BoundMethod, value: unknown): unknown {
  if (value instanceof Failure) throw new TypeError(describeFailure(method.row.method, "params", value));
  return value;
}

function receivedResult(bound: BoundMethod, value: unknown, { dialects }: WireVersion): unknown {
  const { method } = bound.row;
  const refuse = (): void => {
    const dialect = dialects?.result(method, value);
    if (dialect !== undefined) throw dialectAnswer(method, dialect);
  };
  if (dialects?.resultsThatPass.has(method)) refuse();
  const decoded = decodeResult(bound, value);
  if (!(decoded instanceof Failure)) return decoded;
  refuse();
  throw new ConnectionError("protocol", describeFailure(method, "result", decoded));
}

function invalidParams(method: string, failure: Failure): RequestError {
  const kind = failure.limit ? "limit_exceeded" : "invalid_params";
  failure.path = shortened(failure.path);
  return new RequestError(kind, describeFailure(method, "params", failure), {
    data: { reason: kind, path: failure.path },
  });
}

/** Details for the log, without the value, which may be a secret. */
function failureDetails(method: string, { path, expected }: Failure): Readonly<Record<string, string>> {
  return { method, path: shortened(path), expected };
}

/** Names and keys are the peer's, and error data is at most 1 KiB. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The wire for a relay: the values of others pass, and their custom fields move into `_meta`. */
export function forwarding({ ownValues: _, ...wire }: WireVersion): WireVersion {
  return { ...wire, extras: "moved" };
}

const orderedUpdates = new Set(["terminal_update", "terminal_output_chunk"]);

/** The reason why these calls may not travel in one batch; undefined when they may. */
export function refuseBatch(calls: readonly BatchCall[]): string | undefined {
  const terminals = new Set<string>();
  for (const { method, params } of calls) {
    if (methodTable.get(method)?.travelsAlone) return `${method} must be sent on its own (B1)`;
    const terminal = method === "session/update" ? orderedTerminal(params) : undefined;
    if (terminal === undefined) continue;
    if (terminals.has(terminal)) return "two updates of one terminal depend on their order (B8)";
    terminals.add(terminal);
  }
  return undefined;
}

function orderedTerminal(params: unknown): string | undefined {
  const { sessionId, update } = (params ?? {}) as {
    sessionId?: unknown;
    update?: { sessionUpdate?: unknown; terminalId?: unknown };
  };
  if (typeof update?.sessionUpdate !== "string" || !orderedUpdates.has(update.sessionUpdate))
    return undefined;
  return JSON.stringify([sessionId, update.terminalId]);
}

/** Checks what the type says, for callers without types. */
export function extensionName(method: string): string {
  if (typeof method === "string" && method.startsWith("_")) return method;
  throw new TypeError(
    `got ${JSON.stringify(method)}, a method outside the protocol has a name that begins with "_"`,
  );
}

/** Describes the first block that the agent does not accept. Text and links are always accepted. */
export function unsupportedContent(
  content: readonly ContentBlock[],
  features: Pick<AgentCapabilities, "image" | "audio" | "embeddedContext">,
): string | undefined {
  for (const { type } of content) {
    const fine =
      type === "text" ||
      type === "resource_link" ||
      (type === "image" && features.image) ||
      (type === "audio" && features.audio) ||
      (type === "resource" && features.embeddedContext);
    if (!fine) return `this agent takes no content of type ${String(type)}: leave it out, or send a link`;
  }
  return undefined;
}
