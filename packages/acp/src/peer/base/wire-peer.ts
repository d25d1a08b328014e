// A typed peer on the raw wire of one version: everything is validated both ways, and nothing is translated.

import { checkOptions, type Keys } from "../../base/known-options.ts";
import { nearestWord } from "../../base/nearest-word.ts";
import { isPromiseLike } from "../../base/objects.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import { Connection, setIdPolicy } from "../../jsonrpc/connection.ts";
import type { BatchCall, ConnectionCounters, ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import type { UnstableFeatures } from "../../validation/unstable-features.ts";
import { type BoundMethod, Failure, modes, sessionOf, type Validator } from "../../wire/decode.ts";
import type { WireVersion } from "../../wire/method-row.ts";
import { BoundWire, extensionName, type Role, refuseBatch } from "./bound-wire.ts";
import { checkUnstable } from "./definition-rules.ts";

/** Requests by method: the form of `AgentRequests` and `ClientRequests`. */
export type RequestMap<Map> = { [Method in keyof Map]: { params: unknown; result: unknown } };
/** Notifications by method: the form of `AgentNotifications` and `ClientNotifications`. */
export type NotificationMap<Map> = { [Method in keyof Map]: { params: unknown } };

/**
 * A handler may return nothing where the protocol's result has no required field.
 *
 * @inline
 */
// biome-ignore lint/suspicious/noConfusingVoidType: an async handler without a return statement is a Promise<void>
type Returns<Result> = Record<never, never> extends Result ? Result | undefined | void : Result;

/**
 * A request of the peer while its handler runs. To ask the peer something meanwhile, use the peer, which validates:
 * `peer.request(method, params, { signal: request.signal })`.
 */
export type WireRequest = Pick<IncomingRequest, "id" | "method" | "signal" | "isCancelled" | "afterReply">;

/**
 * Handlers of the peer's requests, by method. The params are validated before. Throw a RequestError to answer with an
 * error. A method without a handler is answered with "method_not_found". Names of extensions begin with `_`.
 */
export type RequestHandlers<Requests extends RequestMap<Requests>> = {
  readonly [Method in keyof Requests]?: (
    params: Requests[Method]["params"],
    request: WireRequest,
  ) => Returns<Requests[Method]["result"]> | Promise<Returns<Requests[Method]["result"]>>;
} & { readonly [Extension in `_${string}`]?: (params: unknown, request: WireRequest) => unknown };

/**
 * Handlers of the peer's notifications, by method. They are not async, so that a notification is handled before the
 * next message. A method without a handler is ignored. Names of extensions begin with `_`.
 */
export type NotificationHandlers<Notifications extends NotificationMap<Notifications>> = {
  readonly [Method in keyof Notifications]?: (params: Notifications[Method]["params"]) => undefined;
} & { readonly [Extension in `_${string}`]?: (params: unknown) => undefined };

/** The handlers and options of a peer. */
export interface WirePeerOptions<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> extends Pick<ConnectionOptions, "limits" | "log" | "tap" | "batches" | "noise" | "drainMs"> {
  /** Answers the requests of the other side. Default: every request is answered with "method_not_found". */
  readonly requests?: RequestHandlers<Requests> | undefined;
  /** Receives the notifications of the other side. Default: all are ignored. */
  readonly notifications?: NotificationHandlers<Notifications> | undefined;
  /** The unstable features to enable. Default: none. */
  readonly unstable?: UnstableFeatures | undefined;
}

/** One side of a connection. Everything is validated in both directions, and nothing is translated. */
export interface WirePeer<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> {
  /** Resolves when the connection has closed, with the reason; never rejects. */
  readonly closed: Promise<ConnectionError>;
  /** Counts of messages that were ignored, refused or dropped. */
  readonly counters: Readonly<ConnectionCounters>;
  /**
   * Sends a request. Rejects with a RequestError that the peer answered, or with a ConnectionError when there is no
   * valid answer.
   *
   * @throws {TypeError} When the params are not valid in this version of the protocol. Nothing is sent then.
   */
  request<Method extends keyof Requests & string>(
    method: Method,
    params: Requests[Method]["params"],
    options?: Omit<RequestOptions<unknown>, "receive">,
  ): Promise<Requests[Method]["result"]>;
  /**
   * Sends a notification. Returns a promise only when the peer is slow: await it before you send more.
   *
   * @throws {TypeError} When the params are not valid in this version of the protocol. Nothing is sent then.
   */
  notify<Method extends keyof Notifications & string>(
    method: Method,
    params: Notifications[Method]["params"],
  ): Promise<void> | undefined;
  /** Sends a request outside the protocol; its name begins with `_`. Nothing is validated. */
  requestExtension(
    method: `_${string}`,
    params?: unknown,
    options?: RequestOptions<unknown>,
  ): Promise<unknown>;
  /**
   * Sends a notification outside the protocol; its name begins with `_`. Nothing is validated. Returns a promise only
   * when the peer is slow.
   */
  notifyExtension(method: `_${string}`, params?: unknown): Promise<void> | undefined;
  /**
   * Sends several calls as one array, for peers that are known to take arrays. Gives one promise per call, `undefined`
   * for notifications.
   *
   * @throws {TypeError} When the params of a call are not valid, or when a call may not be part of a batch.
   */
  batch(calls: readonly BatchCall[]): (Promise<unknown> | undefined)[];
  /** Rejects what is pending, lets running handlers answer, flushes and closes. Further calls do nothing. */
  close(reason?: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Why a value does not have a type of the schema. Never contains the value itself. */
export interface SchemaProblem {
  /** The location as a JSON pointer: `/content/text`; empty for the value itself. */
  readonly path: string;
  /** What the schema demands there. */
  readonly expected: string;
  /** What is there: a type, or a short literal if the type was right. */
  readonly got: string;
}

export function problemOfType(
  types: Readonly<Record<string, Validator>>,
  type: string,
  value: unknown,
): SchemaProblem | undefined {
  const validate = Object.hasOwn(types, type) ? types[type] : undefined;
  if (validate !== undefined) return validate(value, modes.strict | modes.unstable);
  const near = nearestWord(type, Object.keys(types));
  throw new TypeError(
    `schemaProblem: the schema has no type ${JSON.stringify(type)}${near === undefined ? "" : `; did you mean ${near}?`}`,
  );
}

type AnyHandler = (params: unknown, request: WireRequest) => unknown;

interface Settings extends Omit<WirePeerOptions<object, object>, "requests" | "notifications"> {
  readonly role: Role;
  readonly requests?: object | undefined;
  readonly notifications?: object | undefined;
}

/** Connects one side. What it sends and receives is of the version that its types are of. */
export function validatingPeer<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
>(transport: Transport, version: WireVersion, options: Settings): WirePeer<Requests, Notifications> {
  const { role, unstable = [], requests = {}, notifications = {}, log } = options;
  checkOptions(`${role}Peer`, options, peerKeys);
  checkUnstable("unstable", options.unstable);
  const wire = new BoundWire(version, role, unstable, guardedLog(log));
  const connection = new Connection(transport, {
    ...options,
    // an agent's stdout may carry other people's prints: a client skips them instead of answering
    noise: options.noise ?? (role === "client" ? "skip" : "answer"),
    scopeOf: sessionOf,
    refuseBatch,
    handlers: {
      request: requestDispatcher(wire, requests),
      notification: notificationDispatcher(wire, notifications),
    },
  });
  setIdPolicy(connection, version.idPolicy);
  return {
    closed: connection.closed,
    get counters() {
      return connection.counters;
    },
    request: (method, params, asked = {}) => wire.request(connection, method, params, asked),
    notify: (method, params) => connection.notify(method, wire.notification(method, params)),
    requestExtension: (method, params, asked = {}) =>
      connection.request(extensionName(method), params, asked),
    notifyExtension: (method, params) => connection.notify(extensionName(method), params),
    batch(calls) {
      const checkedCalls = calls.map((call) => {
        if (call.method.startsWith("_")) return call;
        if (call.notification) return { ...call, params: wire.notification(call.method, call.params) };
        const { params, receive } = wire.prepare(call.method, call.params);
        return { ...call, params, options: { ...call.options, receive } };
      });
      return connection.batch(checkedCalls);
    },
    close: (reason) => connection.close(reason),
    [Symbol.asyncDispose]: () => connection.close(),
  };
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

const peerKeys: Keys<Settings> = {
  role: true,
  requests: true,
  notifications: true,
  unstable: true,
  limits: true,
  log: true,
  tap: true,
  batches: true,
  noise: true,
  drainMs: true,
};
