// Methods outside the protocol, and the errors that every peer may throw by name.

import { RequestError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { AuthMethod } from "../../model/content.ts";
import { errorCodes } from "../../model/error-codes.ts";

/** What an extension handler can do beside answering. */
export interface ExtensionContext {
  /** Aborts when the peer cancels the request or the connection ends. Never, for a notification. */
  readonly signal: AbortSignal;
  request(method: `_${string}`, params?: unknown, options?: RequestOptions<unknown>): Promise<unknown>;
  notify(method: `_${string}`, params?: unknown): Promise<void> | undefined;
}

/** Nobody is logged in: clients show the ways to log in, and try again afterwards (A112). */
export function authRequired(authMethods: readonly AuthMethod[] = []): RequestError {
  const data = { reason: "auth_required", ...(authMethods.length === 0 ? {} : { authMethods }) };
  return new RequestError(
    errorCodes.authRequired,
    "authentication required: log in with one of the agent's methods",
    data,
  );
}

export function sessionNotFound(sessionId: string): RequestError {
  return new RequestError(
    errorCodes.notFound,
    `there is no session ${JSON.stringify(sessionId.slice(0, 80))}: open a new one, or load one that session/list shows`,
    {
      reason: "session_not_found",
      sessionId: sessionId.slice(0, 200),
    },
  );
}
