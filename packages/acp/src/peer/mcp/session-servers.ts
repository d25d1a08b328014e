// The MCP servers of one session as an agent uses them: each connects itself, whatever its kind.

import { isObject } from "../../base/objects.ts";
import { detailsKey } from "../../base/parley-extensions.ts";
import type { Activation } from "../../edition/agent-edition.ts";
import { argumentText, ConnectionError } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { McpServer } from "../../model/content.ts";
import type { McpCallOptions, McpChannel, McpKit, McpParams } from "../../model/mcp.ts";
import { newId } from "../base/new-id.ts";
import { messageMethod, outcomeOf, withCaller } from "./mcp-wire.ts";

/** An MCP server that the client wants the agent to use. */
export type SessionMcpServer = McpServer & {
  /**
   * Connects to the server, whatever its kind. Close the channel when you are done; it ends with its session at the latest.
   * Servers of the kind "acp" need the unstable feature "mcp_over_acp", the others the `mcp` of the definition.
   *
   * @throws {TypeError} When the definition has no kit for this kind of server (as a rejection).
   */
  connect(options?: {
    /** Aborting it ends the attempt. */
    readonly signal?: AbortSignal | undefined;
  }): Promise<McpChannel>;
};

/**
 * Connects to a server that another agent hosts, by its name there.
 *
 * @inline
 */
export type McpAgentConnector = (
  serverName: string,
  options: { readonly signal?: AbortSignal | undefined },
) => Promise<McpChannel>;

/** The part of an agent's definition that connects to servers. */
export interface McpDefinition {
  readonly name: string;
  readonly version: string;
  readonly mcp?: McpKit | undefined;
  readonly mcpAgents?: ((address: string) => McpAgentConnector | undefined) | undefined;
}

/** The connection to the client that gave the servers. */
export interface McpSender {
  readonly mcpNotices: McpNotices;
  request(method: string, params: unknown, options?: RequestOptions<unknown>): Promise<unknown>;
}

/** The address of the agent that hosts the server, in a dialect; undefined for a server of the client. */
export function agentAddress(server: McpServer): string | undefined {
  const address = server.type === "acp" ? detailsOf(server)["agentUrl"] : undefined;
  return typeof address === "string" ? address : undefined;
}

export class SessionServers {
  readonly #definition: McpDefinition;
  readonly #open = new Set<McpChannel>();
  list: readonly SessionMcpServer[] = [];

  constructor(definition: McpDefinition, activation: Activation, sender: McpSender) {
    this.#definition = definition;
    this.offer(activation, sender);
  }

  /** The session was opened, or opened again: these are its servers. Channels that are open stay so. */
  offer({ mcpServers, cwd }: Activation, sender: McpSender): void {
    this.list = mcpServers.map((server) => {
      const connect = async ({ signal }: { readonly signal?: AbortSignal | undefined } = {}) => {
        signal?.throwIfAborted();
        return this.#kept(await this.#connect(server, cwd, sender, signal));
      };
      // what the client said stays all that is seen of it
      return Object.defineProperty({ ...server }, "connect", { value: connect }) as SessionMcpServer; // just given to it
    });
  }

  /** Requests that are waiting reject, so that nobody waits for them. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#open].map((channel) => channel.close()));
  }

  #kept(channel: McpChannel): McpChannel {
    const close = async (): Promise<void> => {
      this.#open.delete(kept);
      await channel.close();
    };
    const kept: McpChannel = {
      request: (method, params, options) => channel.request(method, params, options),
      close,
      [Symbol.asyncDispose]: close,
    };
    this.#open.add(kept);
    return kept;
  }

  async #connect(
    server: McpServer,
    cwd: string,
    sender: McpSender,
    signal: AbortSignal | undefined,
  ): Promise<McpChannel> {
    const { mcp, mcpAgents, name, version } = this.#definition;
    const options = signal === undefined ? {} : { signal };
    if (server.type === "acp") {
      // validated when the session was opened
      const { serverId } = server as Extract<McpServer, { type: "acp" }>;
      const address = agentAddress(server);
      if (address === undefined) return clientChannel(sender, serverId, { name, version });
      const connector = mcpAgents?.(address);
      if (connector === undefined)
        throw new TypeError(`${argumentText(address)}: the user has configured no such agent`);
      return connector(serverId, options);
    }
    const { name: called, url } = server as { readonly name?: unknown; readonly url?: unknown };
    const which = `the MCP server ${argumentText(called)}`;
    if (typeof url === "string" && url.startsWith("acp:"))
      throw new TypeError(
        `${which}: ${argumentText(url)} is MCP over ACP as it was in 2025, which is not spoken here; update the client`,
      );
    if (mcp === undefined)
      throw new TypeError(
        `${which} by ${server.type} needs a kit: agent({ mcp: mcpKit() }) with @parley/mcp`,
      );
    const { cwd: ownCwd, timeout } = detailsOf(server);
    return mcp.connect(server, {
      cwd: typeof ownCwd === "string" ? ownCwd : cwd,
      ...(typeof timeout === "number" && { timeoutMs: timeout }),
      ...options,
    });
  }
}

function detailsOf({ _meta }: McpServer): Readonly<Record<string, unknown>> {
  const details = isObject(_meta) ? _meta[detailsKey] : undefined;
  return isObject(details) ? details : {};
}

/** The notifications of requests to the client's servers, each for the request that is waiting. */
export class McpNotices {
  readonly #open = new Map<string, McpCallOptions["onNotification"]>();

  open(serverId: string, requestId: string, listener: McpCallOptions["onNotification"]): () => void {
    const pair = JSON.stringify([serverId, requestId]);
    this.#open.set(pair, listener);
    return () => this.#open.delete(pair);
  }

  /** What comes after the answer is dropped. The params are validated. */
  received(params: object): void {
    const {
      serverId,
      requestId,
      method,
      params: facts,
    } = params as {
      readonly serverId: string;
      readonly requestId: string;
      readonly method: string;
      readonly params?: McpParams | null;
    };
    this.#open.get(JSON.stringify([serverId, requestId]))?.(method, facts ?? undefined);
  }
}

/** A server of the client, over the connection itself. */
function clientChannel(
  sender: McpSender,
  serverId: string,
  info: { readonly name: string; readonly version: string },
): McpChannel {
  const closing = new AbortController();
  const close = async (): Promise<void> =>
    closing.abort(new ConnectionError("closed", "the MCP channel was closed"));
  // ids are of the connection, on which there may be other channels
  const prefix = `${newId()}-`;
  let count = 0;
  return {
    async request(method, params, { signal, onNotification } = {}) {
      const requestId = `${prefix}${++count}`;
      const over = sender.mcpNotices.open(serverId, requestId, (notice, facts) => {
        // a cancelled request has no notifications
        if (signal?.aborted !== true) onNotification?.(notice, facts);
      });
      try {
        const message = {
          serverId,
          requestId,
          method,
          params: withCaller(params, info, onNotification && requestId),
        };
        return await sender.request(messageMethod, message, {
          signal: signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]),
          receive(carrier) {
            over();
            return outcomeOf(carrier as object); // validated by the method's row
          },
        });
      } finally {
        over();
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
