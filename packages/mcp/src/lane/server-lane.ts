// Connects a lane to an MCP server of the official packages: the current one, or @modelcontextprotocol/sdk.

import { isObject } from "@parley/acp/jsonrpc";
import type { McpParams } from "@parley/acp/model";
import { discoveredFrom, handshakeRevision, withoutClaim } from "../revisions/claims.ts";
import { Lane, type LaneCall } from "./lane.ts";

/** An MCP server of one of the official packages. */
export interface OfficialServer {
  connect(transport: never): Promise<void>;
  close(): Promise<void>;
}

/** Answers requests of 2026-07-28. */
export interface ServerLane {
  request(call: LaneCall): Promise<unknown>;
  close(): Promise<void>;
}

/** Loads the server package, which takes 100 ms, and connects. */
export async function openServerLane(server: OfficialServer): Promise<ServerLane> {
  const [{ McpServer, Server }, { serveStdio }] = await Promise.all([
    import("@modelcontextprotocol/server"),
    import("@modelcontextprotocol/server/stdio"),
  ]);
  if (isConnected(server)) {
    throw new Error(
      "the McpServer is connected to a transport already: give each user of it a server of its own",
    );
  }
  if (!(server instanceof McpServer || server instanceof Server)) return openOlder(server);
  const lane = new Lane();
  const serving = serveStdio(() => server, { transport: lane.transport });
  return { request: (call) => lane.request(call), close: () => serving.close() };
}

/** A server of @modelcontextprotocol/sdk: it knows the handshake only. */
async function openOlder(server: OfficialServer): Promise<ServerLane> {
  const listening = new Set<LaneCall>();
  const lane = new Lane((method, params) => {
    for (const call of listening) if (isWanted(call, method, params)) call.notify(method, params);
  });
  // as: both packages have the same transports
  await server.connect(lane.transport as never);
  const never = new AbortController().signal;
  const ask = (method: string, params: McpParams) =>
    lane.request({ method, params, signal: never, notify: () => undefined });
  const initialized = await ask("initialize", {
    protocolVersion: handshakeRevision,
    capabilities: {},
    clientInfo: { name: "parley", version: "1" },
  });
  lane.notify("notifications/initialized");
  const discovered = discoveredFrom(isObject(initialized) ? initialized : {});
  return {
    async request(call) {
      if (call.method === "server/discover") return discovered;
      if (call.method === "subscriptions/listen") return listen(call, listening, ask);
      const result = await lane.request({ ...call, params: withoutClaim(call.params) });
      return isObject(result) && !("resultType" in result) ? { ...result, resultType: "complete" } : result;
    },
    close: () => server.close(),
  };
}

type Ask = (method: string, params: McpParams) => Promise<unknown>;

/** A server with a handshake tells of changed lists without being asked, and of resources after a request for each. */
async function listen(call: LaneCall, listening: Set<LaneCall>, ask: Ask): Promise<never> {
  const over = Promise.withResolvers<never>();
  const { signal } = call;
  const uris = watchedIn(call);
  listening.add(call);
  signal.addEventListener("abort", () => over.reject(signal.reason), { once: true });
  if (signal.aborted) over.reject(signal.reason);
  try {
    await Promise.all(uris.map((uri) => ask("resources/subscribe", { uri })));
    call.notify("notifications/subscriptions/acknowledged", { notifications: filterOf(call) });
    return await over.promise;
  } finally {
    listening.delete(call);
    const others = new Set([...listening].flatMap(watchedIn));
    for (const uri of uris)
      if (!others.has(uri)) ask("resources/unsubscribe", { uri }).catch(() => undefined);
  }
}

function filterOf({ params }: LaneCall): Readonly<Record<string, unknown>> {
  const filter = params?.["notifications"];
  return isObject(filter) ? filter : {};
}

function watchedIn(call: LaneCall): readonly string[] {
  const { resourceSubscriptions: uris } = filterOf(call);
  return Array.isArray(uris) ? uris.filter((uri) => typeof uri === "string") : [];
}

const listFilters: Readonly<Record<string, string>> = {
  "notifications/tools/list_changed": "toolsListChanged",
  "notifications/prompts/list_changed": "promptsListChanged",
  "notifications/resources/list_changed": "resourcesListChanged",
};

function isWanted(call: LaneCall, method: string, params: McpParams | undefined): boolean {
  if (method === "notifications/resources/updated") return watchedIn(call).includes(String(params?.["uri"]));
  const filter = listFilters[method];
  return filter !== undefined && filterOf(call)[filter] === true;
}

function isConnected(server: OfficialServer): boolean {
  const { server: inner = server } = server as { server?: unknown }; // McpServer has it
  return isObject(inner) && inner["transport"] !== undefined;
}
