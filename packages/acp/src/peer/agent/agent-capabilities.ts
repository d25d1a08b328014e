// What an agent declares in `initialize`, from its definition.

import { optional } from "../../base/objects.ts";
import type { AgentFeatures, AgentIntroduction, ClientFeatures } from "../../edition/agent-ops.ts";
import type { AuthMethod } from "../../model/content.ts";
import type { UnstableMethods } from "../../wire/decode.ts";
import type { AgentDefinition } from "./agent-definition.ts";

export function introduction(definition: AgentDefinition, client: ClientFeatures): AgentIntroduction {
  const { name, version, title, meta } = definition;
  return {
    info: { name, version, ...optional({ title }) },
    features: features(definition),
    authMethods: authMethodsFor(definition, client),
    meta,
  };
}

/** A terminal login is only shown to clients that can run one (A13). */
export function authMethodsFor(definition: AgentDefinition, client: ClientFeatures): readonly AuthMethod[] {
  const { authMethods = [] } = definition;
  return authMethods.filter((method) => method.type !== "terminal" || client.terminalAuth);
}

function features(definition: AgentDefinition): AgentFeatures {
  const { accepts = {}, mcp = {}, unstable = [] } = definition;
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
    fork: lists(unstable, "session/fork"),
    additionalDirectories: true,
    systemPrompt: lists(unstable, "session/new"),
    systemPromptOverride: lists(unstable, "session/new"),
    logout: definition.logout !== undefined,
  };
}

export function lists(unstable: UnstableMethods, method: string): boolean {
  return unstable === "*" || unstable.includes(method);
}
