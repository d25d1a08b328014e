// Declares in `initialize` what an agent is and offers.

import { isObject, optional } from "../../base/objects.ts";
import type {
  AgentCapabilities,
  AgentIntroduction,
  ClientCapabilities,
} from "../../edition/agent-edition.ts";
import { unstableCapabilities } from "../../edition/capabilities.ts";
import { RequestError, readableThrown } from "../../jsonrpc/errors.ts";
import type { AuthMethod } from "../../model/content.ts";
import { completeConfigOptions } from "../../model/outgoing.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import type { SessionSender } from "./session/session-sender.ts";

/** `tellsOptions`: the client wants to know the options of sessions before it has one. */
export function introduction(
  definition: AgentDefinition,
  client: ClientCapabilities,
  tellsOptions: boolean,
): AgentIntroduction {
  const sessionOptions = tellsOptions ? definition.session?.initialOptions : undefined;
  const { name, version, title, _meta, handshakeMeta: { initialize, info, parts } = {} } = definition;
  return {
    info: { name, version, ...optional({ title, _meta: info }) },
    capabilities: { ...features(definition), ...optional({ _meta, partsMeta: parts }) },
    authMethods: authMethodsFor(definition, client),
    ...optional({
      sessionOptions: sessionOptions && completeConfigOptions(sessionOptions),
      _meta: initialize,
    }),
  };
}

/** Terminal logins are offered only to clients that can run them. */
export function authMethodsFor(
  definition: AgentDefinition,
  client: ClientCapabilities,
): readonly AuthMethod[] {
  const { methods = [] } = definition.auth ?? {};
  return methods.filter((method) => method.type !== "terminal" || client.terminalAuth);
}

function features(definition: AgentDefinition): AgentCapabilities {
  const { promptCapabilities: accepts = {}, mcpCapabilities: mcp = {}, unstable = [] } = definition;
  return {
    image: accepts.image === true,
    audio: accepts.audio === true,
    embeddedContext: accepts.embeddedContext === true,
    mcpStdio: true,
    mcpHttp: mcp.http === true,
    mcpSse: mcp.sse === true,
    sessions: true,
    load: true,
    resume: true,
    list: true,
    close: true,
    delete: true,
    ...unstableCapabilities(unstable),
    steer: definition.concurrentPrompts === "inbox",
    additionalDirectories: true,
    logout: definition.auth?.logout !== undefined,
    providers: definition.providers !== undefined,
  };
}

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
