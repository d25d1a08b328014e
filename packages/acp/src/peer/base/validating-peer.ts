// A typed peer on the raw wire of one version: everything is validated both ways, and nothing is translated.

import { isPromiseLike } from "../../base/objects.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import { Connection } from "../../jsonrpc/connection.ts";
import type { BatchCall, ConnectionCounters, ConnectionOptions } from "../../jsonrpc/connection-options.ts";
import { type ConnectionError, RequestError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { type BoundMethod, Failure } from "../../wire/decode.ts";
import type { WireVersion } from "../../wire/method-row.ts";
import { BoundWire, extensionName, type Role, refuseBatch, sessionOf } from "./bound-wire.ts";
import { checkUnstable } from "./definition-rules.ts";
import type { NotificationMap, RequestMap, WirePeer, WirePeerOptions, WireRequest } from "./wire-peer.ts";

type AnyHandler = (params: unknown, request: WireRequest) => unknown;

interface Settings extends Omit<WirePeerOptions<object, object>, "requests" | "notifications"> {
  readonly role: Role;
  readonly requests?: object | undefined;
  readonly notifications?: object | undefined;
}

export class ValidatingPeer<
  Requests extends RequestMap<Requests>,
  Notifications extends NotificationMap<Notifications>,
> implements WirePeer<Requests, Notifications>
{
  readonly closed: Promise<ConnectionError>;
  readonly #connection: Connection;
  readonly #wire: BoundWire;

  constructor(transport: Transport, version: WireVersion, options: Settings) {
    const { role, unstable = [], requests = {}, notifications = {}, log } = options;
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

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
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
