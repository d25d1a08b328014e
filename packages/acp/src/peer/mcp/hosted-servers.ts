// MCP servers that an agent hosts, for its clients: answered here, and asked here.

import { isObject, optional } from "../../base/objects.ts";
import { mcpMethod } from "../../base/parley-extensions.ts";
import { type Dialect, understands } from "../../edition/dialect.ts";
import { dialectMcpMethod } from "../../edition/vendor-extensions.ts";
import type { Log } from "../../jsonrpc/connection-options.ts";
import { argumentText, ConnectionError, RequestError, requestErrorFrom } from "../../jsonrpc/errors.ts";
import type { RequestOptions } from "../../jsonrpc/pending-requests.ts";
import type { Meta } from "../../model/content.ts";
import { type McpChannel, McpFailure, type McpKit, type McpProvider } from "../../model/mcp.ts";
import { carried, outcomeOf, withCaller } from "./mcp-wire.ts";
import { isProvider, OfferedServer } from "./offered-server.ts";

/** The servers of a definition by name. Throws a TypeError for one that is no server. */
export function hostedProviders(
  given: Readonly<Record<string, object>>,
  kit: McpKit | undefined,
): ReadonlyMap<string, McpProvider> {
  if (!isObject(given))
    throw new TypeError(`agent: mcpServers must be an object of servers by name, got ${argumentText(given)}`);
  return new Map(Object.entries(given).map(([name, server]) => [name, providerOf(name, server, kit)]));
}

function providerOf(name: string, given: object, kit: McpKit | undefined): McpProvider {
  if (isProvider(given)) return given;
  const wanted = "an MCP provider, with a name and a request function";
  if (kit === undefined)
    throw new TypeError(
      `agent: mcpServers.${name} must be ${wanted}, got ${argumentText(given)}; tools and other servers need ` +
        "agent({ mcp: mcpKit() }) with @parley/mcp",
    );
  const [provider, ...more] = kit.providers(Array.isArray(given) ? given : [given], name);
  if (provider !== undefined && more.length === 0) return provider;
  throw new TypeError(`agent: mcpServers.${name} must be one server: ${wanted}, or a list of tools`);
}

/** Whether a request is one to a hosted server. */
export function isHostedCall(method: string): boolean {
  return method === mcpMethod || method === dialectMcpMethod;
}

export class HostedServers {
  readonly #servers: ReadonlyMap<string, OfferedServer>;

  constructor(
    providers: ReadonlyMap<string, McpProvider>,
    options: { readonly log: Log; readonly exposesErrors: boolean },
  ) {
    this.#servers = new Map(
      Array.from(providers, ([name, provider]) => [name, new OfferedServer(provider, options, name)]),
    );
  }

  /** What the agent's capabilities say of them. */
  get announced(): Meta | undefined {
    return this.#servers.size === 0 ? undefined : { [mcpMethod]: { servers: [...this.#servers.keys()] } };
  }

  async answer(
    method: string,
    params: unknown,
    { signal, dialect }: { readonly signal: AbortSignal; readonly dialect: Dialect | undefined },
  ): Promise<unknown> {
    if (this.#servers.size === 0) throw RequestError.methodNotFound(method);
    const { serverName, mcpMethod: asked, mcpParams } = isObject(params) ? params : {};
    for (const [name, value] of [
      ["serverName", serverName],
      ["mcpMethod", asked],
    ] as const)
      if (typeof value !== "string")
        throw RequestError.invalidParams(
          `${method}: params/${name} must be text, got ${argumentText(value)}`,
          `/${name}`,
        );
    if (mcpParams != null && !isObject(mcpParams)) {
      const got = argumentText(mcpParams);
      throw RequestError.invalidParams(
        `${method}: params/mcpParams must be an object, got ${got}`,
        "/mcpParams",
      );
    }
    const server = this.#servers.get(String(serverName));
    if (server === undefined) throw this.#unknown(method, serverName, dialect);
    const answer = server.request({
      method: String(asked),
      params: mcpParams ?? undefined,
      sessionId: undefined,
      signal,
      // a call has no way back but its answer
      notify: () => undefined,
    });
    if (method === mcpMethod) return carried(answer);
    // the document has one answer: the server's
    return answer.catch((error: unknown) => {
      throw error instanceof McpFailure ? requestErrorFrom(error.body) : error;
    });
  }

  #unknown(method: string, serverName: unknown, dialect: Dialect | undefined): RequestError {
    const names = [...this.#servers.keys()].join(", ");
    const message = `${method}: this agent hosts no MCP server ${argumentText(serverName)}; it hosts: ${names}`;
    if (!understands(dialect, dialectMcpMethod)) return RequestError.invalidParams(message, "/serverName");
    return new RequestError("not_found", message, { data: { reason: "not_found" } });
  }
}

/** The connection to an agent that hosts servers. */
interface HostConnection {
  readonly name: string;
  readonly version: string;
  readonly dialect: Dialect | undefined;
  readonly announced: readonly string[];
  extension(method: `_${string}`, params: unknown, options?: RequestOptions<unknown>): Promise<unknown>;
}

/** The servers that an agent has announced. */
export function announcedServers(meta: Meta | undefined): readonly string[] {
  const said = meta?.[mcpMethod];
  const names: unknown = isObject(said) ? said["servers"] : undefined;
  return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
}

/** Throws a TypeError for a server that the agent has not announced. */
export function hostedChannel(serverName: string, agent: HostConnection): McpChannel {
  // an agent of a dialect may host some without a word
  const isSilent = agent.announced.length === 0 && understands(agent.dialect, dialectMcpMethod);
  if (!isSilent && !agent.announced.includes(serverName)) {
    const there = agent.announced.length === 0 ? "none" : agent.announced.join(", ");
    throw new TypeError(
      `mcp: this agent hosts no MCP server ${argumentText(serverName)}; it hosts: ${there}`,
    );
  }
  const method = understands(agent.dialect, dialectMcpMethod) ? dialectMcpMethod : mcpMethod;
  const closing = new AbortController();
  const close = async (): Promise<void> =>
    closing.abort(new ConnectionError("closed", "the MCP channel was closed"));
  return {
    async request(asked, params, { signal } = {}) {
      const mcpParams = withCaller(params, { name: agent.name, version: agent.version }, undefined);
      const answer = await agent.extension(
        method,
        { serverName, mcpMethod: asked, ...optional({ mcpParams }) },
        { signal: signal === undefined ? closing.signal : AbortSignal.any([signal, closing.signal]) },
      );
      if (method !== mcpMethod) return answer;
      if (isObject(answer)) return outcomeOf(answer);
      throw new ConnectionError(
        "protocol",
        `${method}: the answer must be an object, got ${argumentText(answer)}`,
      );
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
