// A typed peer on the raw wire of one version, for those who want no model: method names and shapes are
// the protocol's own, everything is validated both ways, nothing is translated.

import { Connection } from "../jsonrpc/connection.ts";
import type { BatchCall, ConnectionCounters, ConnectionOptions } from "../jsonrpc/connection-options.ts";
import { ConnectionError, RequestError, rpcCodes } from "../jsonrpc/errors.ts";
import type { IncomingRequest } from "../jsonrpc/incoming-request.ts";
import type { Log } from "../jsonrpc/log.ts";
import type { RequestOptions } from "../jsonrpc/pending-requests.ts";
import type { Transport } from "../jsonrpc/transport.ts";
import {
  type BoundMethod,
  bindMethod,
  decodeParams,
  decodeResult,
  describeFailure,
  encodeParams,
  encodeResult,
  Failure,
  type MethodRow,
  type UnstableMethods,
} from "../wire/decode.ts";
import { refuseBatch } from "./batch-rules.ts";

export type RequestMap<Map> = { [Method in keyof Map]: { params: unknown; result: unknown } };
export type NotificationMap<Map> = { [Method in keyof Map]: { params: unknown } };

// biome-ignore lint/suspicious/noConfusingVoidType: an async handler without a return statement is a Promise<void>
type Nothing = undefined | void;

/** A handler may return nothing where the protocol's result has no required field. */
type Returns<Result> = Record<never, never> extends Result ? Result | Nothing : Result;

/** The requests of the peer; an unhandled one is answered -32601. Names of extensions begin with `_`. */
export type RequestHandlers<Requests extends RequestMap<Requests>> = {
  readonly [Method in keyof Requests]?: (
    params: Requests[Method]["params"],
    request: IncomingRequest,
  ) => Returns<Requests[Method]["result"]> | Promise<Returns<Requests[Method]["result"]>>;
} & { readonly [Extension in `_${string}`]?: (params: unknown, request: IncomingRequest) => unknown };

/** The notifications of the peer, synchronous by type; an unhandled one is ignored. */
export type NotificationHandlers<Notifications extends NotificationMap<Notifications>> = {
  readonly [Method in keyof Notifications]?: (params: Notifications[Method]["params"]) => undefined;
} & { readonly [Extension in `_${string}`]?: (params: unknown) => undefined };

interface WirePeerSettings
  extends Pick<ConnectionOptions, "limits" | "log" | "tap" | "batches" | "noise" | "drainMs"> {
  /** Unstable methods to switch on, by name; naming a stable method switches on its unstable fields. Default none. */
  readonly unstable?: UnstableMethods;
}

export interface WirePeerOptions<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> extends WirePeerSettings {
  readonly requests?: RequestHandlers<Requests>;
  readonly notifications?: NotificationHandlers<Notifications>;
}

export interface WireVersion {
  readonly methods: readonly MethodRow[];
  readonly idPolicy: "any" | "strict";
}

type AnyHandler = (params: unknown, request: IncomingRequest) => unknown;

export class WirePeer<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> {
  /** Resolves when the connection has closed, with the reason; never rejects. */
  readonly closed: Promise<ConnectionError>;
  readonly #connection: Connection;
  readonly #sentRequests: Map<string, BoundMethod>;
  readonly #sentNotifications: Map<string, BoundMethod>;

  /** @internal Made by agentPeer() and clientPeer(). */
  constructor(
    transport: Transport,
    version: WireVersion,
    options: WirePeerSettings & {
      readonly role: "agent" | "client";
      readonly requests?: object;
      readonly notifications?: object;
    },
  ) {
    const { role, unstable = [], requests = {}, notifications = {}, log = () => undefined } = options;
    const sentTo = role === "agent" ? "client" : "agent";
    this.#sentRequests = bindRows(version.methods, sentTo, "request", unstable);
    this.#sentNotifications = bindRows(version.methods, sentTo, "notification", unstable);
    this.#connection = new Connection(transport, {
      // an agent's stdout may carry other people's prints: a client skips them instead of answering
      noise: role === "client" ? "skip" : "answer",
      ...options,
      scopeOf: sessionOf,
      refuseBatch,
      handlers: {
        request: requestDispatcher(bindRows(version.methods, role, "request", unstable), requests, log),
        notification: notificationDispatcher(
          bindRows(version.methods, role, "notification", unstable),
          notifications,
          log,
        ),
      },
    });
    this.#connection.idPolicy = version.idPolicy;
    this.closed = this.#connection.closed;
  }

  get counters(): Readonly<ConnectionCounters> {
    return this.#connection.counters;
  }

  /** Throws at once when the params are not valid for this version of the protocol. */
  request<Method extends keyof Requests & string>(
    method: Method,
    params: Requests[Method]["params"],
    options: Omit<RequestOptions<unknown>, "receive"> = {},
  ): Promise<Requests[Method]["result"]> {
    const bound = sendable(this.#sentRequests, method);
    const valid = checked(method, "params", encodeParams(bound, params));
    return this.#connection.request<Requests[Method]["result"]>(method, valid, {
      ...options,
      receive: (result) => receivedResult(bound, result) as Requests[Method]["result"],
    });
  }

  /** Throws at once when the params are not valid. Returns a promise only when the peer is slow. */
  notify<Method extends keyof Notifications & string>(
    method: Method,
    params: Notifications[Method]["params"],
  ): Promise<void> | undefined {
    const valid = encodeParams(sendable(this.#sentNotifications, method), params);
    if (valid instanceof Failure) throw new TypeError(describeFailure(method, "params", valid));
    return this.#connection.notify(method, valid);
  }

  /** A request outside the protocol: its name begins with `_` (X3), nothing is validated. */
  requestExtension(
    method: `_${string}`,
    params?: unknown,
    options: RequestOptions<unknown> = {},
  ): Promise<unknown> {
    return this.#connection.request(method, params, options);
  }

  notifyExtension(method: `_${string}`, params?: unknown): Promise<void> | undefined {
    return this.#connection.notify(method, params);
  }

  /**
   * Sends several calls as one array, for peers that are known to take arrays. Throws for calls that may not
   * be batched. Gives one promise per call, `undefined` for notifications.
   */
  batch(calls: readonly BatchCall[]): (Promise<unknown> | undefined)[] {
    const checkedCalls = calls.map((call) => {
      if (call.method.startsWith("_")) return call;
      const bound = sendable(call.notification ? this.#sentNotifications : this.#sentRequests, call.method);
      const params = checked(call.method, "params", encodeParams(bound, call.params));
      const receive = (result: unknown) => receivedResult(bound, result);
      return { ...call, params, options: { ...call.options, receive } };
    });
    return this.#connection.batch(checkedCalls);
  }

  /** Rejects what is pending, lets running handlers answer, flushes, closes. Idempotent. */
  close(reason?: string): Promise<void> {
    return this.#connection.close(reason);
  }
}

function bindRows(
  rows: readonly MethodRow[],
  receiver: "agent" | "client",
  kind: MethodRow["kind"],
  unstable: UnstableMethods,
): Map<string, BoundMethod> {
  const bound = rows
    .filter((row) => row.kind === kind && (row.receiver === receiver || row.receiver === "both"))
    .map((row) => bindMethod(row, unstable));
  return new Map(bound.filter((method) => method.enabled).map((method) => [method.row.method, method]));
}

function requestDispatcher(
  methods: ReadonlyMap<string, BoundMethod>,
  handlers: object,
  log: Log,
): ConnectionOptions["handlers"]["request"] {
  const handlerOf = new Map(Object.entries(handlers as Record<string, AnyHandler | undefined>));
  return (method, params, request) => {
    const handler = handlerOf.get(method);
    const bound = methods.get(method);
    if (handler === undefined || (bound === undefined && !method.startsWith("_"))) {
      throw new RequestError(rpcCodes.methodNotFound, "method not found", {
        reason: "method_not_found",
        method: shortened(method),
      });
    }
    if (bound === undefined) return handler(params, request);
    const decoded = decodeParams(bound, params);
    if (decoded instanceof Failure) throw invalidParams(method, decoded);
    const result = handler(decoded, request);
    return result instanceof Promise
      ? result.then((value) => sentResult(bound, value, log))
      : sentResult(bound, result, log);
  };
}

function notificationDispatcher(
  methods: ReadonlyMap<string, BoundMethod>,
  handlers: object,
  log: Log,
): ConnectionOptions["handlers"]["notification"] {
  const handlerOf = new Map(
    Object.entries(handlers as Record<string, ((params: unknown) => void) | undefined>),
  );
  return (method, params) => {
    const handler = handlerOf.get(method);
    if (handler === undefined) return;
    const bound = methods.get(method);
    if (bound === undefined) {
      if (method.startsWith("_")) handler(params);
      return;
    }
    const decoded = decodeParams(bound, params);
    // notifications are never answered, valid or not (X16)
    if (decoded instanceof Failure)
      log("warn", "refused the params of a notification", place(method, decoded));
    else handler(decoded);
  };
}

function sendable(methods: ReadonlyMap<string, BoundMethod>, method: string): BoundMethod {
  const bound = methods.get(method);
  if (bound !== undefined) return bound;
  throw new TypeError(
    `${method}: not a method that this side sends; an unstable one must be listed in options.unstable`,
  );
}

function checked(method: string, where: "params" | "result", value: unknown): unknown {
  if (value instanceof Failure) throw new TypeError(describeFailure(method, where, value));
  return value;
}

function receivedResult(method: BoundMethod, value: unknown): unknown {
  const decoded = decodeResult(method, value);
  if (!(decoded instanceof Failure)) return decoded;
  throw new ConnectionError("protocol", describeFailure(method.row.method, "result", decoded));
}

function sentResult(method: BoundMethod, value: unknown, log: Log): unknown {
  const encoded = encodeResult(method, value);
  if (!(encoded instanceof Failure)) return encoded;
  log("error", "a handler returned an invalid result", place(method.row.method, encoded));
  throw new RequestError(rpcCodes.internalError, "internal error", { reason: "invalid_result" });
}

function invalidParams(method: string, failure: Failure): RequestError {
  const code = failure.limit ? rpcCodes.limitExceeded : rpcCodes.invalidParams;
  const reason = failure.limit ? "limit_exceeded" : "invalid_params";
  failure.path = shortened(failure.path);
  return new RequestError(code, describeFailure(method, "params", failure), { reason, path: failure.path });
}

/** For the log: where it went wrong, without the value, which may be anybody's secret. */
function place(method: string, { path, expected }: Failure): Readonly<Record<string, string>> {
  return { method, path: shortened(path), expected };
}

/** Names and keys are the peer's choice, error data is at most 1 KiB. */
function shortened(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function sessionOf(params: unknown): string | undefined {
  const sessionId = (params as { sessionId?: unknown } | null | undefined)?.sessionId;
  return typeof sessionId === "string" ? sessionId : undefined;
}
