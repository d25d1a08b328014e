// The handlers of extensions and their context.

import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";

/**
 * Handlers of requests and notifications outside the protocol, by name. Names begin with `_` and should contain a domain
 * of yours: `_example.com/ping`.
 */
export interface Extensions {
  /** Handlers of requests: what they return is the answer. Throw a RequestError to answer with an error. */
  readonly requests?:
    | Readonly<Record<`_${string}`, (params: unknown, context: ExtensionContext) => unknown>>
    | undefined;
  /** Handlers of notifications. They are not async and return nothing. */
  readonly notifications?:
    | Readonly<Record<`_${string}`, (params: unknown, context: ExtensionContext) => undefined>>
    | undefined;
}

/** What an extension handler can use to answer the peer. */
export interface ExtensionContext {
  /** Aborts when the peer cancels the request or the connection ends. Never, for a notification. */
  readonly signal: AbortSignal;
  /** Sends a request outside the protocol to the peer. */
  request(method: `_${string}`, params?: unknown, options?: RequestOptions<unknown>): Promise<unknown>;
  /** Sends a notification outside the protocol to the peer. The promise waits for a slow peer. */
  notify(method: `_${string}`, params?: unknown): Promise<void>;
}
