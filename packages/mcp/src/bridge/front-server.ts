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
import { Changes } from "./changes.ts";

/** The methods whose results may ask the client for input, which the server package then does. */
const mayAskForInput = [
  ["tools/call", "tools"],
  ["prompts/get", "prompts"],
  ["resources/read", "resources"],
] as const;

/** The servers of one declared provider. */
export interface FrontServers {
  /** For one connection each: it hears of changes. */
  readonly connected: McpServerFactory;
  /** For one request each. */
  readonly single: McpServerFactory;
  readonly changes: Changes;
}

/** Makes the servers of one declared provider. Their capabilities are asked for once. */
export function frontServers(provider: McpProvider, session: McpBridgeSession): FrontServers {
  const changes = new Changes(provider, session);
  let facts: Promise<ServerFacts> | undefined;
  const ask = async (): Promise<ServerFacts> => {
    const { signal } = new AbortController();
    const call = { method: "server/discover", params: withClaim(undefined), signal, notify: () => undefined };
    return factsOf(await provider.request({ ...call, sessionId: session.sessionId() }), provider.name);
  };
  const made =
    (isConnected: boolean): McpServerFactory =>
    async ({ era }) => {
      facts ??= ask();
      try {
        const known = await facts;
        changes.know(known.capabilities);
        const parts = { isModern: era === "modern", changes: isConnected ? changes : undefined };
        return await frontServer(provider, session, known, parts);
      } catch (error) {
        facts = undefined;
        throw error;
      }
    };
  return { connected: made(true), single: made(false), changes };
}

async function frontServer(
  provider: McpProvider,
  session: McpBridgeSession,
  { capabilities, serverInfo, instructions }: ServerFacts,
  { isModern, changes }: { readonly isModern: boolean; readonly changes: Changes | undefined },
): Promise<Server> {
  const { ProtocolError, Server } = await import("@modelcontextprotocol/server");
  // as: the server package takes what servers say about themselves
  const offered = capabilities as ServerCapabilities;
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
  const watched = changes && hearingChanges(server, changes, isModern);
  server.fallbackRequestHandler = async ({ method, params }, ctx) => {
    const answered = isModern ? undefined : await watched?.(method, params);
    if (answered !== undefined) return answered as never; // as: a result without fields
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

/** Tells a connected client of changes. Returns what answers the requests that watch resources. */
function hearingChanges(server: Server, changes: Changes, isModern: boolean) {
  const watches = new Map<string, () => void>();
  const stop = changes.listen((method, params) => {
    const uri = params?.["uri"];
    // a client of 2026-07-28 has its subscriptions, which the server package looks after
    if (!isModern && method === "notifications/resources/updated" && !watches.has(String(uri))) return;
    // as: a notification of the server, passed on. It fails when the client has gone
    void server
      .notification({ method, ...(params !== undefined && { params }) } as never)
      .catch(() => undefined);
  });
  const { onclose } = server;
  server.onclose = () => {
    onclose?.();
    stop();
    for (const end of watches.values()) end();
  };
  return async (method: string, params: unknown): Promise<object | undefined> => {
    const { uri } = (isObject(params) ? params : {}) as { readonly uri?: unknown };
    if (typeof uri !== "string" || server.getCapabilities().resources?.subscribe !== true) return undefined;
    if (method === "resources/unsubscribe") {
      watches.get(uri)?.();
      watches.delete(uri);
      return {};
    }
    if (method !== "resources/subscribe") return undefined;
    if (!watches.has(uri)) {
      if (!changes.hasRoom)
        throw new McpFailure({ code: -32_000, message: "resources/subscribe: too many are watched" });
      watches.set(uri, () => undefined);
      const end = await changes.watch([uri]);
      // it may have been taken back meanwhile
      if (watches.has(uri)) watches.set(uri, end);
      else end();
    }
    return {};
  };
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
