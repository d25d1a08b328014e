// The agent's side of version 2, whose JSON is nearly the model's.

import { type Immutable, isObject, optional } from "../../base/objects.ts";
import { RequestError } from "../../jsonrpc/errors.ts";
import type { PermissionRequest } from "../../model/ask.ts";
import type { Implementation, McpServer, SystemPrompt } from "../../model/content.ts";
import type { JsonValue } from "../../model/custom-types.ts";
import { gitPatch } from "../../model/git-patch.ts";
import type { Diff, SessionUpdate, ToolCallContent, ToolCallUpdate } from "../../model/update.ts";
import { methodTable } from "../../wire/methods.gen.ts";
import type * as wire from "../../wire/v2/types.gen.ts";
import type {
  Activation,
  AgentEdition,
  AgentOp,
  AgentOpResult,
  ClientCapabilities,
  Introduction,
} from "../agent-edition.ts";
import { agentPlaces, clientPlaces, fromWire, toWire } from "../capabilities.ts";
import { partsMetaOf, withPartsMeta } from "../capability-meta.ts";
import { passThroughOp } from "../pass-through.ts";
import { metaOf, pageToWire, sharedOp, withMeta } from "../wire-fields.ts";

export { methods } from "../../wire/v2/methods.gen.ts";

export const v2AgentEdition: AgentEdition = {
  version: 2,
  prompts: {
    answersAtInsertion: true,
    inserted: (messageId) => ({ messageId }),
    ended: () => ({}),
  },
  setupHasCommands: true,
  reinitializes: true,
  showsDiffTexts: false,
  hasWholeMessages: true,
  initializeParams,
  authMethods: (methods): Immutable<readonly wire.AuthMethod[]> => methods,
  client,
  introduce: (agent, lost): Immutable<wire.InitializeResponse> => ({
    protocolVersion: 2,
    info: agent.info ?? { name: "unknown", version: "unknown" },
    capabilities: withPartsMeta(
      {
        ...toWire(agentPlaces, 2, agent.capabilities, { session: { prompt: {}, mcp: {} } }),
        ...metaOf(agent.capabilities),
      },
      agent.capabilities.partsMeta,
      lost,
    ),
    authMethods: agent.authMethods,
    ...withMeta(agent._meta),
  }),
  decode,
  encode,
  session: () => ({
    encode(update, lost) {
      const sent = updateToWire(update);
      if (sent === undefined) lost?.(`the update ${update.sessionUpdate}`);
      return sent;
    },
    encodeJson: (update, json) => (updateToWire(update) === update ? json : undefined),
    encodeToolCall: ({ json }) => json,
    addClientTerminal: () => undefined,
  }),
  permission: (sessionId, ask) => ({
    method: "session/request_permission",
    params: { sessionId, ...askToWire(ask) },
  }),
  permissionOver: () => undefined,
};

/** A client that asks for a later version may not have said what this one needs. */
function initializeParams(params: unknown): unknown {
  const given = params as { protocolVersion: number; info?: unknown };
  if (given.info !== undefined || given.protocolVersion === 2) return params;
  return { ...given, info: { name: "unknown", version: "unknown" } };
}

function client(params: object): Introduction<ClientCapabilities> {
  const { info, capabilities: can = {} as wire.ClientCapabilities } = params as wire.InitializeRequest;
  return {
    info: info as Implementation, // validated by the method's row
    capabilities: {
      ...fromWire(clientPlaces, 2, can),
      ...metaOf(can),
      ...partsMetaOf(can),
    },
    ...metaOf(params),
  };
}

function decode(method: string, given: object): AgentOp | undefined {
  // validated by the method's row before it comes here
  const { sessionId } = given as { sessionId: string };
  switch (method) {
    case "auth/login":
      return { op: "login", methodId: (given as wire.LoginAuthRequest).methodId, ...metaOf(given) };
    case "auth/logout":
      return { op: "logout", ...metaOf(given) };
    case "session/resume": {
      const params = given as wire.ResumeSessionRequest;
      return {
        op: "activate",
        sessionId,
        activation: activation(params),
        replay: replayed(params.replayFrom),
      };
    }
    case "session/set_config_option": {
      const { configId, value } = given as { configId: string; value: JsonValue };
      return { op: "set_option", sessionId, configId, value, ...metaOf(given) };
    }
    case "tool_call/cancel": {
      const { toolCallId: id } = given as wire.CancelToolCallRequest;
      return { op: "cancel_part", sessionId, part: "tool_call", id, ...metaOf(given) };
    }
    case "terminal/cancel": {
      const { terminalId: id } = given as wire.CancelTerminalRequest;
      return { op: "cancel_part", sessionId, part: "terminal", id, ...metaOf(given) };
    }
    default:
      return (
        sharedOp(method, given, () => activation(given as wire.NewSessionRequest)) ??
        passThroughOp(method, given)
      );
  }
}

/** Another place to replay from is refused, never replaced. */
function replayed(from: wire.ResumeSessionRequest["replayFrom"]): boolean {
  if (from == null || from.type === "start") return from != null;
  throw RequestError.invalidParams(
    'replayFrom must have the type "start": no other place is known here',
    "/replayFrom/type",
  );
}

function activation(params: wire.NewSessionRequest): Activation {
  return {
    cwd: params.cwd,
    additionalDirectories: params.additionalDirectories ?? [],
    mcpServers: (params.mcpServers ?? []).map(serverFromWire),
    // as: validated by the method's row
    ...optional({ systemPrompt: (params.systemPrompt ?? undefined) as SystemPrompt | undefined }),
    ...metaOf(params),
  };
}

/** The model knows servers over SSE, of version 1. Version 2 takes them as unknown ones, and has not looked inside. */
function serverFromWire(server: wire.McpServer, i: number): McpServer {
  const { type, name, url, headers = [] } = server as { readonly [key: string]: unknown };
  const isHeader = (each: unknown) =>
    isObject(each) && typeof each["name"] === "string" && typeof each["value"] === "string";
  const isSound =
    typeof name === "string" && typeof url === "string" && Array.isArray(headers) && headers.every(isHeader);
  if (type === "sse" && !isSound)
    throw RequestError.invalidParams(
      "an MCP server over SSE needs a name, a url and headers",
      `/mcpServers/${i}`,
    );
  return server as McpServer; // validated by the method's row
}

function encode(method: string, result: AgentOpResult): object {
  switch (result.kind) {
    case "none":
      return withMeta(result._meta);
    case "options":
      return {
        configOptions: result.options,
        ...withMeta(result._meta),
      } satisfies Immutable<wire.SetSessionConfigOptionResponse>;
    case "page":
      return pageToWire(result.page);
    case "value":
      return result.value;
    case "session": {
      const { sessionId, configOptions, availableCommands, _meta: meta } = result.setup;
      return {
        ...(methodTable.get(method)?.session === "opens" ? { sessionId } : {}),
        configOptions: configOptions satisfies Immutable<readonly wire.SessionConfigOption[]>,
        availableCommands: availableCommands satisfies Immutable<readonly wire.AvailableCommand[]>,
        ...withMeta(meta),
      };
    }
  }
}

// ---- updates and questions: the model and version 2 differ only as scripts/generate/model-differences.ts says. If they differ
// in another way, this file and client-session.ts no longer compile.

type UnknownOnWire = Extract<wire.SessionUpdate, { sessionUpdate: `_${string}` | wire.UnknownTag }>;

/**
 * Undefined for an unknown update of another version: its name may mean something else here. A name that begins with an
 * underscore is an app's own, and means the same everywhere.
 */
function updateToWire(update: SessionUpdate): Immutable<wire.SessionUpdate> | undefined {
  if (update.sessionUpdate === "tool_call_update") return toolToWire(update);
  if (update.sessionUpdate === "tool_call_content_chunk") {
    return hasTexts(update.content) ? { ...update, content: contentToWire(update.content) } : update;
  }
  if (!("unknown" in update)) return update;
  // as: an object whose tag is this name
  return update.sessionUpdate.startsWith("_") ? (update.raw as UnknownOnWire) : undefined;
}

function askToWire(ask: PermissionRequest): Immutable<Omit<wire.RequestPermissionRequest, "sessionId">> {
  const { subject } = ask;
  if (subject?.type !== "tool_call") return ask;
  return { ...ask, subject: { ...subject, toolCall: toolToWire(subject.toolCall) } };
}

function toolToWire<Tool extends ToolCallUpdate>(
  update: Tool,
): Omit<Tool, "content"> & Immutable<wire.ToolCallUpdate> {
  const { content } = update;
  if (content == null || !content.some(hasTexts)) return update;
  return { ...update, content: content.map(contentToWire) };
}

function hasTexts(item: ToolCallContent): item is { type: "diff" } & Diff {
  return item.type === "diff" && ("newText" in item || "path" in item);
}

/** A diff of the model may have the texts of a file; v2 has changes and a patch. */
function contentToWire(item: ToolCallContent): Immutable<wire.ToolCallContent> {
  if (!hasTexts(item)) return item;
  const { path, oldText, newText, ...rest } = item;
  if (rest.patch != null || path === undefined || newText === undefined) return rest;
  const text = gitPatch(path, oldText ?? undefined, newText);
  return text === "" ? rest : { ...rest, patch: { format: "git_patch", text } };
}
