// Tells a client which of the agent's logins it can use, when the agent needs one.

import { isObject } from "../../base/objects.ts";
import { RequestError, readableThrown } from "../../jsonrpc/errors.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { authMethodsFor } from "./introduction.ts";
import type { SessionSender } from "./session/session-sender.ts";

type Client = Pick<SessionSender, "edition" | "client">;

/** Data of errors is at most 1 KiB. */
const mostCharacters = 900;

/** Names the logins that this client was shown, unless they are too many for an error. */
export function loginNeeded(
  definition: AgentDefinition,
  { edition, client }: Client,
  { kind, message, data }: RequestError = RequestError.authRequired(),
): RequestError {
  const authMethods = edition.authMethods(authMethodsFor(definition, client.capabilities));
  const isShown = authMethods.length > 0 && JSON.stringify(authMethods).length < mostCharacters;
  const { authMethods: _, ...more } = isObject(data) ? data : {};
  return new RequestError(kind, message, {
    data: { ...more, reason: "auth_required", ...(isShown && { authMethods }) },
  });
}

/** The error that a handler threw. One that says no more than that a login is needed gets the logins. */
export function withLogins(thrown: unknown, definition: AgentDefinition, client: Client): unknown {
  const error = readableThrown(thrown);
  if (!(error instanceof RequestError) || error.kind !== "auth_required") return error;
  const reason = isObject(error.data) ? error.data["reason"] : undefined;
  return reason === undefined || reason === "auth_required" ? loginNeeded(definition, client, error) : error;
}
