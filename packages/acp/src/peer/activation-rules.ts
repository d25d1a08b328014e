// What an agent refuses to open a session with.

import type { Activation } from "../edition/agent-ops.ts";
import { RequestError, rpcCodes } from "../jsonrpc/errors.ts";
import type { AgentDefinition } from "./agent-definition.ts";

/** Throws -32602 before anything has happened: roots are never dropped, servers never left out (A22, A41, A42). */
export function checkActivation(activation: Activation, { mcp = {} }: Pick<AgentDefinition, "mcp">): void {
  const { cwd, additionalDirectories, mcpServers } = activation;
  if (!isAbsolutePath(cwd)) throw wrong("cwd must be an absolute path", "/cwd");
  for (const [i, directory] of additionalDirectories.entries()) {
    if (!isAbsolutePath(directory))
      throw wrong("a directory must be an absolute path", `/additionalDirectories/${i}`);
  }
  for (const [i, server] of mcpServers.entries()) {
    const type = String(server.type);
    const offered = type === "stdio" || (type === "http" && mcp.http) || (type === "sse" && mcp.sse);
    if (!offered) {
      const message = `this agent uses no MCP servers of type ${type.slice(0, 50)}`;
      throw wrong(message, `/mcpServers/${i}/type`);
    }
  }
}

/** On any system: the client's need not be ours. */
export function isAbsolutePath(path: string): boolean {
  return path.startsWith("/") || path.startsWith("\\\\") || /^[A-Za-z]:[\\/]/.test(path);
}

function wrong(message: string, path: string): RequestError {
  return new RequestError(rpcCodes.invalidParams, message, { reason: "invalid_params", path });
}
