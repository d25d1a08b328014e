// Serves MCP over ACP as it was before requests named their server: a connection comes first, and each has a handshake.

import { isObject } from "../../base/objects.ts";
import { argumentText, RequestError, requestErrorFrom } from "../../jsonrpc/errors.ts";
import type { IncomingRequest } from "../../jsonrpc/incoming-request.ts";
import { McpFailure, type McpParams } from "../../model/mcp.ts";
import { newId } from "../base/new-id.ts";
import { bindingError, messageMethod } from "./mcp-wire.ts";
import type { OfferedServer } from "./offered-server.ts";

const maxConnections = 1_024;

/** The revisions of MCP that have a handshake, newest first. */
const revisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

interface Surroundings {
  find(serverId: string): OfferedServer;
  /** Sends a message of the older generation to the agent. */
  notify(method: string, params: object): void;
}

export class ConnectedCallers {
  readonly #around: Surroundings;
  readonly #servers = new Map<string, OfferedServer>();

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Whether a request is of this generation. */
  has(method: string, params: unknown): boolean {
    if (method === "mcp/connect" || method === "mcp/disconnect") return true;
    return method === messageMethod && isObject(params) && "connectionId" in params;
  }

  answer(method: string, given: unknown, request: IncomingRequest): Promise<unknown> | object {
    const params = isObject(given) ? given : {};
    if (method === "mcp/connect") {
      if (this.#servers.size >= maxConnections)
        throw bindingError(
          "limit",
          `${maxConnections} MCP connections are open; close one with mcp/disconnect`,
        );
      const connectionId = newId();
      this.#servers.set(connectionId, this.#around.find(textOf(method, params, "serverId")));
      return { connectionId };
    }
    const connectionId = textOf(method, params, "connectionId");
    const server = this.#servers.get(connectionId);
    if (server === undefined) {
      const message = `${method}: there is no MCP connection ${argumentText(connectionId)}; ask for one with mcp/connect`;
      throw RequestError.invalidParams(message, "/connectionId");
    }
    if (method === messageMethod) return this.#call(server, connectionId, params, request);
    this.#servers.delete(connectionId);
    return {};
  }

  async #call(
    server: OfferedServer,
    connectionId: string,
    message: Readonly<Record<string, unknown>>,
    { signal }: IncomingRequest,
  ): Promise<unknown> {
    const method = textOf(messageMethod, message, "method");
    const params = message["params"] ?? undefined;
    if (params !== undefined && !isObject(params)) {
      const got = argumentText(params);
      throw RequestError.invalidParams(
        `${messageMethod}: params/params must be an object, got ${got}`,
        "/params",
      );
    }
    const ask = (what: string, asked: McpParams | undefined) =>
      server.request({
        method: what,
        params: asked,
        sessionId: undefined,
        signal,
        notify: (notice, facts) =>
          this.#around.notify(messageMethod, {
            connectionId,
            method: notice,
            ...(facts && { params: facts }),
          }),
      });
    try {
      if (method === "initialize") return await greeting(server.name, params, ask("server/discover", {}));
      if (method === "ping") return {};
      return (await ask(method, params)) ?? {};
    } catch (error) {
      // here an error of the server is the error of the message
      throw error instanceof McpFailure ? requestErrorFrom(error.body) : error;
    }
  }
}

/** The answer to the handshake. What the server can do, it says where it is asked; tools are assumed. */
async function greeting(
  name: string,
  params: McpParams | undefined,
  discovery: Promise<unknown>,
): Promise<object> {
  const known: unknown = await discovery.catch(() => undefined);
  const { capabilities, serverInfo: older, instructions, _meta } = isObject(known) ? known : {};
  // revisions without a handshake say it in the custom data
  const serverInfo = (isObject(_meta) && _meta["io.modelcontextprotocol/serverInfo"]) || older;
  const wanted = revisions.find((revision) => revision === params?.["protocolVersion"]);
  return {
    protocolVersion: wanted ?? revisions[0],
    capabilities: isObject(capabilities) ? capabilities : { tools: {} },
    serverInfo: isObject(serverInfo) ? serverInfo : { name, version: "1.0.0" },
    ...(typeof instructions === "string" ? { instructions } : {}),
  };
}

function textOf(method: string, params: Readonly<Record<string, unknown>>, name: string): string {
  const value = params[name];
  if (typeof value === "string") return value;
  throw RequestError.invalidParams(
    `${method}: params/${name} must be text, got ${argumentText(value)}`,
    `/${name}`,
  );
}
