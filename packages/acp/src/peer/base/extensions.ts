// The handlers of extensions and their context.

import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";

/** Handlers of requests and notifications outside the protocol; names begin with `_`. */
export interface Extensions {
  readonly requests?: Readonly<Record<`_${string}`, (params: unknown, context: ExtensionContext) => unknown>>;
  readonly notifications?: Readonly<
    Record<`_${string}`, (params: unknown, context: ExtensionContext) => undefined>
  >;
}

/** The context of an extension handler. */
export interface ExtensionContext {
  /** Aborts when the peer cancels the request or the connection ends. Never, for a notification. */
  readonly signal: AbortSignal;
  request(method: `_${string}`, params?: unknown, options?: RequestOptions<unknown>): Promise<unknown>;
  /** The promise waits for a slow peer. */
  notify(method: `_${string}`, params?: unknown): Promise<void>;
}
