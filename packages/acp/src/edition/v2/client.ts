// The client's side of version 2, whose JSON is nearly the model's.

import { type Immutable, optional } from "../../base/objects.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { PermissionRequest } from "../../model/ask.ts";
import { completeDecoded } from "../../model/complete-diff.ts";
import type {
  AuthMethod,
  AvailableCommand,
  Implementation,
  McpServer,
  SessionConfigOption,
} from "../../model/content.ts";
import type * as wire from "../../wire/v2/types.gen.ts";
import type { Activation, AgentIntroduction } from "../agent-edition.ts";
import { agentPlaces, fromWire } from "../capabilities.ts";
import { partsMetaOf } from "../capability-meta.ts";
import type { ClientEdition } from "../client-edition.ts";
import { elicitationFromWire, metaOf, nonEmpty, withMeta } from "../wire-fields.ts";
import { V2ClientSession, type V2State, v2StateShape } from "./client-session.ts";

export { methods } from "../../wire/v2/methods.gen.ts";

export const v2ClientEdition: ClientEdition = {
  name: "v2",
  pipelinesPrompts: true,
  agent,
  login: (methodId, meta) => ({ method: "auth/login", params: { methodId, ...withMeta(meta) } }),
  logout: (meta) => ({ method: "auth/logout", params: withMeta(meta) }),
  open: (activation) => ({ method: "session/new", params: activationToWire(activation) }),
  activate: (sessionId, activation, replay) => ({
    method: "session/resume",
    params: {
      sessionId,
      ...activationToWire(activation),
      ...(replay ? { replayFrom: { type: "start" } } : {}),
    },
  }),
  setup(result, sessionId) {
    // validated by the method's row
    const setup = result as {
      sessionId?: string;
      configOptions?: readonly SessionConfigOption[];
      availableCommands?: readonly AvailableCommand[];
    };
    return {
      sessionId: setup.sessionId ?? sessionId ?? "",
      configOptions: setup.configOptions ?? [],
      availableCommands: setup.availableCommands ?? [],
      ...metaOf(result),
    };
  },
  setOption: (sessionId, { configId, type }, value, meta) => ({
    method: "session/set_config_option",
    params: {
      sessionId,
      configId,
      // a custom type of option is set by its own type
      type: type.startsWith("_") ? type : typeof value === "boolean" ? "boolean" : "id",
      value,
      ...withMeta(meta),
    },
  }),
  optionsAfter: (_, result) => (result as { configOptions: readonly SessionConfigOption[] }).configOptions,
  // as: checked by its shape
  session: (unstable, names, state) => new V2ClientSession(unstable, names, state as V2State | undefined),
  stateShape: v2StateShape,
  permission(params) {
    const { sessionId, ...ask } = params as PermissionRequest & { sessionId: string }; // as above
    if (ask.subject?.type === "tool_call") completeDecoded(ask.subject.toolCall.content);
    return { sessionId, ask };
  },
  elicitation(params) {
    checkForm(params as { mode?: unknown; requestedSchema?: { type?: unknown } });
    return elicitationFromWire(params);
  },
  service: () => undefined,
  repair,
};

/** A form of another type could not be shown. */
function checkForm({
  mode,
  requestedSchema,
}: {
  mode?: unknown;
  requestedSchema?: { type?: unknown };
}): void {
  if (mode !== "form" || requestedSchema?.type === "object") return;
  const path = "/requestedSchema/type";
  const message = `elicitation/create: params${path} must be "object", got another word`;
  throw RequestError.invalidParams(message, path);
}

function agent(result: object): AgentIntroduction {
  const { info, capabilities: can = {}, authMethods = [] } = result as wire.InitializeResponse;
  return {
    info: info as Implementation, // validated by the method's row
    capabilities: {
      ...fromWire(agentPlaces, 2, can),
      logout: authMethods.length > 0,
      ...metaOf(can),
      ...partsMetaOf(can),
    },
    authMethods: authMethods as readonly AuthMethod[], // as above
    ...metaOf(result),
  };
}

function activationToWire(activation: Activation): Immutable<wire.NewSessionRequest> {
  const { cwd, additionalDirectories, mcpServers, systemPrompt, _meta: meta } = activation;
  return {
    cwd,
    mcpServers: mcpServers.map(serverToWire),
    ...optional({ additionalDirectories: nonEmpty(additionalDirectories), systemPrompt }),
    ...withMeta(meta),
  };
}

/** Version 2 has no servers over SSE. To its agents they are servers of an unknown type. */
function serverToWire(server: McpServer): Immutable<wire.McpServer> {
  if (server.type !== "sse") return server;
  return server as Immutable<Extract<wire.McpServer, { type: wire.UnknownTag }>>;
}

/**
 * Older drafts sent commands without their type and prompts without the id of their message. A message without an id
 * gets one from its session.
 */
function repair(method: string, value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { update, availableCommands } = value as { update?: unknown; availableCommands?: unknown };
  if (method === "session/update") {
    repair("", update);
    return nameless(update);
  }
  if (method === "session/prompt" && !("messageId" in value)) (value as { messageId: string }).messageId = "";
  if (!Array.isArray(availableCommands)) return undefined;
  for (const command of availableCommands) {
    if (typeof command === "object" && command !== null && !("type" in command)) command.type = "command";
  }
  return undefined;
}

const messages = /^(?:user_message|agent_message|agent_thought)(?:_chunk)?$/;

function nameless(update: unknown): string | undefined {
  if (typeof update !== "object" || update === null) return undefined;
  const message = update as { sessionUpdate?: unknown; messageId?: unknown };
  if (typeof message.messageId === "string" && message.messageId !== "") return undefined;
  if (typeof message.sessionUpdate !== "string" || !messages.test(message.sessionUpdate)) return undefined;
  message.messageId = "";
  return "a message without an id was given one";
}
