// The official MCP server that an agent meets: it speaks every revision, and passes requests on to a provider.

import type {
  McpServerFactory,
  Server,
  ServerCapabilities,
  ServerContext,
} from "@modelcontextprotocol/server";
import { McpFailure } from "@parley/acp";
import { isObject } from "@parley/acp/jsonrpc";
import type { McpBridgeSession, McpParams, McpProvider } from "@parley/acp/model";
import { factsOf, olderResult, type ServerFacts, withClaim } from "../revisions/claims.ts";

/** The methods whose results may ask the client for input, which the server package then does. */
const mayAskForInput = [
  ["tools/call", "tools"],
  ["prompts/get", "prompts"],
  ["resources/read", "resources"],
] as const;

/** Makes the servers of one declared provider. Their capabilities are asked for once. */
export function frontServers(provider: McpProvider, session: McpBridgeSession): McpServerFactory {
  let facts: Promise<ServerFacts> | undefined;
  const ask = async (): Promise<ServerFacts> => {
    const { signal } = new AbortController();
    const call = { method: "server/discover", params: withClaim(undefined), signal, notify: () => undefined };
    return factsOf(await provider.request({ ...call, sessionId: session.sessionId() }), provider.name);
  };
  return async ({ era }) => {
    facts ??= ask();
    try {
      return frontServer(provider, session, await facts, era === "modern");
    } catch (error) {
      facts = undefined;
      throw error;
    }
  };
}

async function frontServer(
  provider: McpProvider,
  session: McpBridgeSession,
  { capabilities, serverInfo, instructions }: ServerFacts,
  isModern: boolean,
): Promise<Server> {
  const { ProtocolError, Server } = await import("@modelcontextprotocol/server");
  const offered = withoutSubscriptions(capabilities);
  const server = new Server(serverInfo, {
    capabilities: offered,
    ...(instructions !== undefined && { instructions }),
  });
  const forward = async (method: string, given: unknown, ctx: ServerContext): Promise<object> => {
    const { mcpReq } = ctx;
    const { inputResponses } = mcpReq;
    // the package types the keys that it knows by unique names
    const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
    const requestState = mcpReq.requestState();
    const params: McpParams = {
      ...(isObject(given) && given),
      ...(inputResponses !== undefined && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    };
    const asker = isModern
      ? { capabilities: envelope[keys.capabilities], info: envelope[keys.info] }
      : { capabilities: server.getClientCapabilities(), info: server.getClientVersion() };
    try {
      const result = await provider.request({
        method,
        params: withClaim(params, asker),
        sessionId: session.sessionId(),
        requestId: mcpReq.id,
        signal: mcpReq.signal,
        // fails when the client has gone, and then nobody waits for it
        notify: (sent, what) =>
          void mcpReq
            .notify({ method: sent, ...(what !== undefined && { params: what }) })
            .catch(() => undefined),
      });
      if (!isObject(result))
        throw new McpFailure({ code: -32_603, message: `${method}: the server sent no result` });
      return result;
    } catch (error) {
      const { code, message, data } = failureOf(error);
      throw new ProtocolError(code, message, data);
    }
  };
  for (const [method, capability] of mayAskForInput) {
    if (offered[capability] === undefined) continue;
    // as: the server package checks the results
    server.setRequestHandler(
      method,
      async ({ params }, ctx) => (await forward(method, params, ctx)) as never,
    );
  }
  server.fallbackRequestHandler = async ({ method, params }, ctx) => {
    const answer = await forward(method, params, ctx);
    const result = method === "tools/list" ? withoutHeaders(answer) : answer;
    // as: a result without its type is a result
    return (isModern ? result : olderResult(method, result)) as never;
  };
  return server;
}

const keys = {
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  info: "io.modelcontextprotocol/clientInfo",
} as const;

/** A bridge passes requests on. Changed lists and resources, which a server tells without being asked, are not passed on. */
function withoutSubscriptions(capabilities: ServerFacts["capabilities"]): ServerCapabilities {
  const kept = Object.entries(capabilities).map(([name, value]) => {
    const { listChanged: _, subscribe: __, ...rest } = isObject(value) ? value : {};
    return [name, rest];
  });
  // as: the server package takes what servers say about themselves
  return Object.fromEntries(kept) as ServerCapabilities;
}

/**
 * The tools without the annotations that ask clients to repeat arguments as headers of HTTP: nothing behind a bridge would
 * read them, and a header that says something else than the argument could mislead what stands between.
 */
function withoutHeaders(result: object): object {
  const { tools } = result as { readonly tools?: unknown };
  if (!Array.isArray(tools)) return result;
  const plain = (tool: unknown) =>
    isObject(tool) && "inputSchema" in tool
      ? { ...tool, inputSchema: withoutAnnotation(tool["inputSchema"]) }
      : tool;
  return { ...result, tools: tools.map(plain) };
}

/** A property of that name is a schema, an annotation is text. */
function withoutAnnotation(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutAnnotation);
  if (!isObject(schema)) return schema;
  const kept = Object.entries(schema).flatMap(([name, value]) =>
    name === "x-mcp-header" && typeof value === "string"
      ? []
      : [[name, values.has(name) ? value : withoutAnnotation(value)]],
  );
  return Object.fromEntries(kept);
}

/** Keys of a schema that hold values, not schemas. */
const values = new Set(["const", "default", "enum", "examples"]);

function failureOf(error: unknown): { code: number; message: string; data?: unknown } {
  if (error instanceof McpFailure) return error.body;
  const { code, data } = (isObject(error) ? error : {}) as { code?: unknown; data?: unknown };
  const message = error instanceof Error ? error.message : String(error);
  return { code: Number.isSafeInteger(code) ? (code as number) : -32_603, message, data };
}
