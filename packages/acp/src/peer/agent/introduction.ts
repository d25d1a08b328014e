// Declares in `initialize` what an agent is and offers.

import { optional } from "../../base/objects.ts";
import type {
  AgentCapabilities,
  AgentIntroduction,
  ClientCapabilities,
} from "../../edition/agent-edition.ts";
import { unstableCapabilities } from "../../edition/unstable-capabilities.ts";
import type { AuthMethod, Meta } from "../../model/content.ts";
import { completeConfigOptions } from "../../model/outgoing.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { mcpKinds } from "./request-rules.ts";

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
  return {
    info: { name, version, ...optional({ title, _meta: info }) },
    capabilities: { ...features(definition, speaksDialect), ...optional({ _meta, partsMeta: parts }) },
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
    mcpAcp,
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
