// Connects a lane to an MCP server of the official packages: the current one, or @modelcontextprotocol/sdk.

import { McpFailure } from "@parley/acp";
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
  const lane = new Lane();
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
      if (call.method === "subscriptions/listen") {
        throw new McpFailure({
          code: -32_601,
          message: "subscriptions/listen: this server has no subscriptions",
        });
      }
      const result = await lane.request({ ...call, params: withoutClaim(call.params) });
      return isObject(result) && !("resultType" in result) ? { ...result, resultType: "complete" } : result;
    },
    close: () => server.close(),
  };
}

function isConnected(server: OfficialServer): boolean {
  const { server: inner = server } = server as { server?: unknown }; // McpServer has it
  return isObject(inner) && inner["transport"] !== undefined;
}
