// A typed peer on the raw wire of one version: everything is validated both ways, and nothing is translated.

import { guardedLog, isPromiseLike } from "../../jsonrpc/callbacks.ts";
import { Connection } from "../../jsonrpc/connection.ts";
import type { BatchCall, ConnectionCounters, ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import { type BoundMethod, Failure } from "../../wire/decode.ts";
import type { WireVersion } from "../../wire/method-row.ts";
import { BoundWire, extensionName, type Role, refuseBatch, sessionOf } from "./bound-wire.ts";
import { checkUnstable } from "./definition-rules.ts";

export type RequestMap<Map> = { [Method in keyof Map]: { params: unknown; result: unknown } };
export type NotificationMap<Map> = { [Method in keyof Map]: { params: unknown } };

/** What a handler returns. It may return nothing where the protocol's result has no required field. */
export type HandlerResult<Result> =
  Record<never, never> extends Result
    ? // biome-ignore lint/suspicious/noConfusingVoidType: an async handler without a return statement is a Promise<void>
      Result | undefined | void
    : Result;

/**
 * A request of the peer while its handler runs. To ask the peer something meanwhile, use the peer, which validates:
 * `peer.request(method, params, { signal: request.signal })`.
 */
export type WireRequest = Pick<IncomingRequest, "id" | "method" | "signal" | "cancelled" | "afterReply">;

/** The requests of the peer; an unhandled one is answered with "method_not_found". Names of extensions begin with `_`. */
export type RequestHandlers<Requests extends RequestMap<Requests>> = {
  readonly [Method in keyof Requests]?: (
    params: Requests[Method]["params"],
    request: WireRequest,
  ) => HandlerResult<Requests[Method]["result"]> | Promise<HandlerResult<Requests[Method]["result"]>>;
} & { readonly [Extension in `_${string}`]?: (params: unknown, request: WireRequest) => unknown };

/** The notifications of the peer, synchronous by type; an unhandled one is ignored. */
export type NotificationHandlers<Notifications extends NotificationMap<Notifications>> = {
  readonly [Method in keyof Notifications]?: (params: Notifications[Method]["params"]) => undefined;
} & { readonly [Extension in `_${string}`]?: (params: unknown) => undefined };

/** The handlers and settings of a peer. */
export interface WirePeerOptions<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> extends Pick<ConnectionOptions, "limits" | "log" | "tap" | "batches" | "noise" | "drainMs"> {
  /** The unstable features to enable. Default: none. */
  readonly unstable?: UnstableFeatures;
  readonly requests?: RequestHandlers<Requests>;
  readonly notifications?: NotificationHandlers<Notifications>;
}

type AnyHandler = (params: unknown, request: WireRequest) => unknown;

/** One side of a connection on the raw wire. */
export interface WirePeer<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> {
  /** Resolves when the connection has closed, with the reason; never rejects. */
  readonly closed: Promise<ConnectionError>;
  readonly counters: Readonly<ConnectionCounters>;
  /** Throws at once when the params are not valid for this version of the protocol. */
  request<Method extends keyof Requests & string>(
    method: Method,
    params: Requests[Method]["params"],
    options?: Omit<RequestOptions<unknown>, "receive">,
  ): Promise<Requests[Method]["result"]>;
  /** Throws at once when the params are not valid. Returns a promise only when the peer is slow. */
  notify<Method extends keyof Notifications & string>(
    method: Method,
    params: Notifications[Method]["params"],
  ): Promise<void> | undefined;
  /** Sends a request outside the protocol. Its name begins with `_`, and nothing is validated. */
  requestExtension(
    method: `_${string}`,
    params?: unknown,
    options?: RequestOptions<unknown>,
  ): Promise<unknown>;
  /** Sends a notification outside the protocol. Its name begins with `_`, and nothing is validated. */
  notifyExtension(method: `_${string}`, params?: unknown): Promise<void> | undefined;
  /**
   * Sends several calls as one array, for peers that are known to take arrays. Throws for calls that may not
   * be batched. Gives one promise per call, `undefined` for notifications.
   */
  batch(calls: readonly BatchCall[]): (Promise<unknown> | undefined)[];
  /** Rejects what is pending, lets running handlers answer, flushes, closes. Idempotent. */
  close(reason?: string): Promise<void>;
}

/** The settings of a peer of either side. */
type PeerSettings = Omit<WirePeerOptions<object, object>, "requests" | "notifications"> & {
  readonly requests?: object | undefined;
  readonly notifications?: object | undefined;
};

/** Connects one side of a version. */
export function wirePeer<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
>(
  transport: Transport,
  version: WireVersion,
  role: Role,
  options: PeerSettings,
): WirePeer<Requests, Notifications> {
  return new ConnectedPeer(transport, version, role, options);
}

class ConnectedPeer<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> implements WirePeer<Requests, Notifications>
{
  readonly closed: Promise<ConnectionError>;
  readonly #connection: Connection;
  readonly #wire: BoundWire;

  constructor(transport: Transport, version: WireVersion, role: Role, options: PeerSettings) {
    const { unstable = [], requests = {}, notifications = {}, log } = options;
    checkUnstable("unstable", options.unstable);
    this.#wire = new BoundWire(version, role, unstable, guardedLog(log));
    this.#connection = new Connection(transport, {
      ...options,
      // an agent's stdout may carry other people's prints: a client skips them instead of answering
      noise: options.noise ?? (role === "client" ? "skip" : "answer"),
      scopeOf: sessionOf,
      refuseBatch,
      handlers: {
        request: requestDispatcher(this.#wire, requests),
        notification: notificationDispatcher(this.#wire, notifications),
      },
    });
    this.#connection.idPolicy = version.idPolicy;
    this.closed = this.#connection.closed;
  }

  get counters(): Readonly<ConnectionCounters> {
    return this.#connection.counters;
  }

  request<Method extends keyof Requests & string>(
    method: Method,
    params: Requests[Method]["params"],
    options: Omit<RequestOptions<unknown>, "receive"> = {},
  ): Promise<Requests[Method]["result"]> {
    return this.#wire.request<Requests[Method]["result"]>(this.#connection, method, params, options);
  }

  notify<Method extends keyof Notifications & string>(
    method: Method,
    params: Notifications[Method]["params"],
  ): Promise<void> | undefined {
    return this.#connection.notify(method, this.#wire.notification(method, params));
  }

  requestExtension(
    method: `_${string}`,
    params?: unknown,
    options: RequestOptions<unknown> = {},
  ): Promise<unknown> {
    return this.#connection.request(extensionName(method), params, options);
  }

  notifyExtension(method: `_${string}`, params?: unknown): Promise<void> | undefined {
    return this.#connection.notify(extensionName(method), params);
  }

  batch(calls: readonly BatchCall[]): (Promise<unknown> | undefined)[] {
    const checkedCalls = calls.map((call) => {
      if (call.method.startsWith("_")) return call;
      if (call.notification) return { ...call, params: this.#wire.notification(call.method, call.params) };
      const { params, receive } = this.#wire.prepare(call.method, call.params);
      return { ...call, params, options: { ...call.options, receive } };
    });
    return this.#connection.batch(checkedCalls);
  }

  close(reason?: string): Promise<void> {
    return this.#connection.close(reason);
  }
}

function requestDispatcher(wire: BoundWire, handlers: object): ConnectionOptions["handlers"]["request"] {
  const handlerOf = new Map(Object.entries(handlers as Record<string, AnyHandler | undefined>));
  return (method, params, request) => {
    const handler = handlerOf.get(method);
    const bound = wire.receivedRequest(method);
    if (handler === undefined || (bound === undefined && !method.startsWith("_")))
      throw RequestError.methodNotFound(method);
    if (bound === undefined) return handler(params, request);
    const result = handler(wire.requestParams(bound, params), request);
    if (!isPromiseLike(result)) return wire.result(bound, result);
    // of another realm or library, perhaps: made one of ours
    return Promise.resolve(result).then((value) => wire.result(bound, value));
  };
}

interface NotificationRow {
  readonly handler: (params: unknown) => undefined;
  /** Nothing for an extension. */
  readonly bound: BoundMethod | undefined;
}

function notificationDispatcher(
  wire: BoundWire,
  handlers: object,
): ConnectionOptions["handlers"]["notification"] {
  const rows = new Map<string, NotificationRow>();
  for (const [method, handler] of Object.entries(handlers as Record<string, NotificationRow["handler"]>)) {
    const bound = wire.receivedNotification(method);
    if (handler !== undefined && (bound !== undefined || method.startsWith("_")))
      rows.set(method, { handler, bound });
  }
  // streams are of one method, and comparing two names costs less than hashing one
  let lastMethod = "";
  let last: NotificationRow | undefined;
  return (method, params) => {
    if (method !== lastMethod) {
      last = rows.get(method);
      lastMethod = method;
    }
    if (last === undefined) return undefined;
    // the result is passed on: in JavaScript it may be a promise, which may reject
    const { handler, bound } = last;
    if (bound === undefined) return handler(params);
    const decoded = wire.notificationParams(bound, params);
    return decoded instanceof Failure ? undefined : handler(decoded);
  };
}
