// Declares in `initialize` what an agent is and offers.

import { isObject, optional } from "../../base/objects.ts";
import { forkBeforeKey } from "../../base/parley-extensions.ts";
import type {
  AgentCapabilities,
  AgentIntroduction,
  ClientCapabilities,
  PartsMeta,
} from "../../edition/agent-edition.ts";
import { unstableCapabilities } from "../../edition/capabilities.ts";
import { RequestError, readableThrown } from "../../jsonrpc/errors.ts";
import type { AuthMethod, Meta } from "../../model/content.ts";
import { completeConfigOptions } from "../../model/outgoing.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { mcpKinds } from "./request-rules.ts";
import type { SessionSender } from "./session/session-sender.ts";

interface Surroundings {
  /** The client wants to know the options of sessions before it has one. */
  readonly tellsOptions: boolean;
  readonly speaksDialect: boolean;
  /** What is said of the MCP servers that the agent hosts. */
  readonly hosted: Meta | undefined;
}

export function introduction(
  definition: AgentDefinition,
  client: ClientCapabilities,
  { tellsOptions, speaksDialect, hosted }: Surroundings,
): AgentIntroduction {
  const sessionOptions = tellsOptions ? definition.session?.initialOptions : undefined;
  const { name, version, title, handshakeMeta: { initialize, info, parts } = {} } = definition;
  const _meta = hosted === undefined ? definition._meta : { ...hosted, ...definition._meta };
  const can = features(definition, speaksDialect);
  return {
    info: { name, version, ...optional({ title, _meta: info }) },
    capabilities: { ...can, ...optional({ _meta, partsMeta: partsOf(can, parts) }) },
    authMethods: authMethodsFor(definition, client),
    ...optional({
      sessionOptions: sessionOptions && completeConfigOptions(sessionOptions),
      _meta: initialize,
    }),
  };
}

/** A fork has the entries of the store, up to any message. */
function partsOf({ fork }: AgentCapabilities, given: PartsMeta | undefined): PartsMeta | undefined {
  if (!fork) return given;
  return { ...given, "session.fork": { [forkBeforeKey]: true, ...given?.["session.fork"] } };
}

/** Terminal logins are offered only to clients that can run them. */
export function authMethodsFor(
  definition: AgentDefinition,
  client: ClientCapabilities,
): readonly AuthMethod[] {
  const { methods = [] } = definition.auth ?? {};
  return methods.filter((method) => method.type !== "terminal" || client.terminalAuth);
}

function features(definition: AgentDefinition, speaksDialect: boolean): AgentCapabilities {
  const { promptCapabilities: accepts = {}, unstable = [] } = definition;
  const mcp = mcpKinds(definition);
  // in a dialect such a server is one of another agent
  const mcpAcp = mcp.acp && (!speaksDialect || definition.mcpAgents !== undefined);
  return {
    image: accepts.image === true,
    audio: accepts.audio === true,
    embeddedContext: accepts.embeddedContext === true,
    mcpStdio: true,
    mcpHttp: mcp.http,
    mcpSse: mcp.sse,
    sessions: true,
    load: true,
    resume: true,
    list: true,
    close: true,
    delete: true,
    ...unstableCapabilities(unstable),
    mcpAcp,
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
