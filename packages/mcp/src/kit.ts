// What `agent()` and `client()` take as `mcp`.

import { isAbsolute } from "node:path";
import type { McpKit } from "@parley/acp/model";
import { openBridge } from "./bridge/bridge.ts";
import { connectMcp } from "./connect/connect.ts";
import { describeValue } from "./tools/describe-value.ts";
import { providersOf, SharedServers } from "./tools/providers.ts";

/** The options of `mcpKit`. */
export interface McpKitOptions {
  /**
   * The folder for the sockets of agents that take commands only. Default: the folder for temporary files, or for an agent that
   * `@parley/client` starts in a sandbox, a folder that it sees. Set it if the agent runs in another sandbox without access to the
   * folder for temporary files.
   */
  readonly socketFolder?: string | undefined;
  /**
   * Whether agents that can use HTTP reach the tools by HTTP. Default: true, but not for agents that `@parley/client` starts in a
   * sandbox. Pass false if the agent runs in another sandbox that has its own network. It then gets a command, which needs none.
   */
  readonly http?: boolean | undefined;
}

/**
 * Adds MCP to an agent or a client: its tools, a bridge for agents that have no MCP over ACP, and connections to servers of the
 * kinds stdio, http and sse.
 *
 * @param options - How agents reach the bridge.
 * @returns The kit, for the field `mcp`. It loads the MCP packages when it uses them.
 * @throws {TypeError} When `socketFolder` is not an absolute path.
 *
 * @example
 * ```ts
 * import { client } from "@parley/acp";
 * import { mcpKit } from "@parley/mcp";
 *
 * export const app = client({ name: "my-client", version: "1.0.0", mcp: mcpKit() });
 * ```
 */
export function mcpKit({ socketFolder, http = true }: McpKitOptions = {}): McpKit {
  if (socketFolder !== undefined && !isAbsolute(socketFolder)) {
    throw new TypeError(
      `mcpKit: socketFolder: expected an absolute path, got ${describeValue(socketFolder)}`,
    );
  }
  const shared = new SharedServers();
  return {
    providers: (tools, name) => providersOf(tools, name, shared),
    bridge: (agent) => openBridge({ ...agent, http: agent.http && http }, socketFolder ?? agent.socketFolder),
    connect: connectMcp,
  };
}
