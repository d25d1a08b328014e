// Sends validated requests and notifications to one agent, once its version is known.

import { optional } from "../../base/objects.ts";
import type { ClientEdition } from "../../edition/client-edition.ts";
import { type Dialect, dialectOf } from "../../edition/dialect.ts";
import type { Connection } from "../../jsonrpc/connection.ts";
import {
  type ConnectionCounters,
  type ConnectionOptions,
  defaultConnectionLimits,
  type Log,
  limitsFrom,
} from "../../jsonrpc/connection-options.ts";
import { adoptRequest, connectionState } from "../../jsonrpc/connection-state.ts";
import { checkParamsSize } from "../../jsonrpc/output.ts";
import type { NoteHook, RequestOptions, SentHook } from "../../jsonrpc/pending-requests.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { type BoundWire, extensionName } from "../base/bound-wire.ts";
import type { ExtensionContext } from "../base/extensions.ts";

/** What a relay, and a connection that is taken up again, give to a call beside its options. */
export type CallHooks = SentHook & NoteHook;

const sent = Promise.resolve();

interface ClientWireParts {
  readonly connection: Connection;
  readonly bound: BoundWire;
  readonly edition: ClientEdition;
  readonly log: Log;
  readonly limits: ConnectionOptions["limits"];
  readonly transport: Transport;
}

export type ClientWire = ReturnType<typeof clientWire>;

export function clientWire({ connection, bound, edition, log, limits, transport }: ClientWireParts) {
  const { maxSentBytes } = limitsFrom(defaultConnectionLimits, limits);

  function extension(
    method: `_${string}`,
    params: unknown,
    options: RequestOptions<unknown> & CallHooks = {},
  ): Promise<unknown> {
    const { resumed } = options;
    if (resumed !== undefined) return adoptRequest(connection, resumed, options);
    return connection.request(extensionName(method), params, options);
  }

  function notifyExtension(method: `_${string}`, params: unknown): Promise<void> {
    if (!connection.isOpen) log("warn", "a notification was not sent: the connection has ended", { method });
    return connection.notify(extensionName(method), params) ?? sent;
  }

  return {
    get isOpen(): boolean {
      return connection.isOpen;
    },
    /** The dialect that the agent speaks; undefined for version 1 and version 2. */
    get dialect(): Dialect | undefined {
      return dialectOf(transport);
    },
    get counters(): Readonly<ConnectionCounters> {
      return connection.counters;
    },
    /** Resolves when the agent has read what was sent; undefined when it keeps up. */
    get room(): Promise<void> | undefined {
      return connection.room;
    },
    async request<Result = object>(
      method: string,
      params: unknown,
      options: Omit<RequestOptions<Result>, "receive"> &
        CallHooks & { readonly receive?: (result: object) => Result } = {},
    ): Promise<Result> {
      const { receive, resumed, ...rest } = options;
      const { params: valid, receive: decode } =
        resumed === undefined ? bound.prepare(method, params) : bound.sent(method);
      const given = {
        ...rest,
        receive: (result: unknown) => {
          edition.repair(method, result);
          const decoded = decode(result) as object; // every result of the table is an object
          // without a hook the caller asked for the result itself
          return receive === undefined ? (decoded as Result) : receive(decoded);
        },
      };
      if (resumed !== undefined) return adoptRequest(connection, resumed, given);
      return connection.request(method, valid, given);
    },
    /** Throws when these params may not be sent. */
    check(method: string, params: object): void {
      bound.prepare(method, params);
      checkParamsSize(method, params, maxSentBytes);
    },
    notify(method: string, params: object): Promise<void> | undefined {
      return connection.notify(method, bound.notification(method, params));
    },
    /** Sends a message of another generation of the protocol, as it is. */
    notifyOlder(method: string, params: object): void {
      void connection.notify(method, params);
    },
    /** Sends a request as it is, for a relay. */
    passRequest: (
      method: string,
      params: unknown,
      options: RequestOptions<unknown> & SentHook,
    ): Promise<unknown> => connection.request(method, params, options),
    extension,
    notifyExtension,
    /** For handlers of extension requests and notifications. */
    extensionContext: (signal: AbortSignal): ExtensionContext => ({
      signal,
      request: (method, params, options = {}) => extension(method, params, { signal, ...optional(options) }),
      notify: notifyExtension,
    }),
    /** What the connection holds, with the notes of its requests. */
    get state(): ReturnType<typeof connectionState> {
      return connectionState(connection);
    },
    close: (reason?: string): Promise<void> => connection.close(reason),
  };
}
