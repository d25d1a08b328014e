// The MCP servers that a client gives its sessions over ACP, as a proxy sees them: which call of a tool is for which server.

import type { ProxiedMessage, ProxiedSession, ProxiedSetup } from "@parley/acp/proxy";
import { asObject } from "./other-agent.ts";

const maxConnections = 1_024;

/** A call of a tool. */
interface GivenCall<Data> {
  /** Undefined for a server that nobody has given. */
  readonly session: ProxiedSession<Data> | undefined;
  readonly server: string;
  /** Undefined where it is not named. */
  readonly tool: string | undefined;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The answer for a tool that may not run: the model of the agent reads it. */
  refusal(reason: string): object;
}

interface GivenServer<Data> {
  readonly name: string;
  readonly session: ProxiedSession<Data>;
}

/** By the ids in `mcpServers`, and for older agents by the connections that they open to them. */
export class GivenServers<Data> {
  readonly #servers = new Map<string, GivenServer<Data>>();
  /** The ids of servers, by those of connections. */
  readonly #connections = new Map<string, string>();

  opened({ mcpServers }: ProxiedSetup, session: ProxiedSession<Data>): void {
    for (const given of mcpServers) {
      const { name, serverId } = asObject(given);
      if (typeof serverId === "string") this.#servers.set(serverId, { name: String(name), session });
    }
  }

  closed(sessionId: string): void {
    for (const [id, { session }] of this.#servers)
      if (session.sessionId === sessionId) this.#servers.delete(id);
  }

  connected(result: unknown, { from, params }: ProxiedMessage): void {
    const { connectionId } = asObject(result);
    const { serverId } = asObject(params);
    if (from !== "agent" || typeof connectionId !== "string" || typeof serverId !== "string") return;
    this.#connections.set(connectionId, serverId);
    const [oldest] = this.#connections.keys();
    if (this.#connections.size > maxConnections && oldest !== undefined) this.#connections.delete(oldest);
  }

  /** The call of a tool that a message is; undefined for other messages. */
  callIn({ from, params }: ProxiedMessage): GivenCall<Data> | undefined {
    const { method, params: given, connectionId, serverId } = asObject(params);
    if (from !== "agent" || method !== "tools/call") return undefined;
    const isOlder = connectionId !== undefined;
    const id = isOlder ? this.#connections.get(String(connectionId)) : String(serverId);
    const { name: tool, arguments: values } = asObject(given);
    const { session, name: server = "" } = this.#servers.get(id ?? "") ?? {};
    return {
      session,
      server,
      tool: typeof tool === "string" ? tool : undefined,
      arguments: asObject(values),
      refusal(text) {
        const result = { content: [{ type: "text", text }], isError: true };
        return isOlder ? result : { result };
      },
    };
  }
}
