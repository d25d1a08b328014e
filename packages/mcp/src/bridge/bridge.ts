// Makes providers reachable for an agent that has no MCP over ACP: by HTTP on the loopback interface, else by a command.

import type { McpBridge, McpBridgedServer, McpBridgeTarget } from "@parley/acp/model";
import { frontServers } from "./front-server.ts";
import { HttpListener } from "./http-listener.ts";
import { offerBySocket } from "./socket-listener.ts";

/** The bridge of one connection. `socketFolder` is where the sockets of commands are. */
export function openBridge(agent: McpBridgeTarget, socketFolder: string | undefined): McpBridge {
  let http: HttpListener | undefined;
  const open = new Set<McpBridgedServer>();
  return {
    async declare(provider, session) {
      if (!agent.http && !agent.stdio) return undefined;
      const servers = frontServers(provider, session);
      if (agent.http) http ??= new HttpListener();
      const offered =
        http === undefined
          ? await offerBySocket(provider.name, servers, socketFolder)
          : await http.offer(provider.name, servers);
      open.add(offered);
      return {
        server: offered.server,
        async close() {
          if (open.delete(offered)) await offered.close();
        },
      };
    },
    async close() {
      const all = [...open];
      open.clear();
      await Promise.allSettled(all.map((each) => each.close()));
      await http?.close();
    },
  };
}
