// Declares in `initialize` what an agent is and offers.

import { optional } from "../../base/objects.ts";
import type {
  AgentCapabilities,
  AgentIntroduction,
  ClientCapabilities,
} from "../../edition/agent-edition.ts";
import { unstableCapabilities } from "../../edition/unstable-capabilities.ts";
import type { AuthMethod } from "../../model/content.ts";
import { completeConfigOptions } from "../../model/outgoing.ts";
import type { AgentDefinition } from "./agent-definition.ts";

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
