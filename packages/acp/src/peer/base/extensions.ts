// The context of extension handlers, and errors that handlers throw.

import { RequestError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { AuthMethod } from "../../model/content.ts";
import { errorCodes } from "../../model/error-codes.ts";

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
  notify(method: `_${string}`, params?: unknown): Promise<void> | undefined;
}

/** The error of an agent that needs a login. Clients show the ways to log in, and try again. */
export function authRequired(authMethods: readonly AuthMethod[] = []): RequestError {
  const data = { reason: "auth_required", ...(authMethods.length === 0 ? {} : { authMethods }) };
  const message = "authentication required: log in with one of the agent's methods";
  return new RequestError(errorCodes.authRequired, message, data);
}

export function sessionNotFound(sessionId: string): RequestError {
  const shown = JSON.stringify(sessionId.slice(0, 80));
  const message = `there is no session ${shown}: open a new one, or load one that session/list shows`;
  const data = { reason: "session_not_found", sessionId: sessionId.slice(0, 200) };
  return new RequestError(errorCodes.notFound, message, data);
}
