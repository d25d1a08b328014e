// Makes providers of what an app calls tools: tools, MCP servers, providers.

import { isObject } from "@parley/acp/jsonrpc";
import type { McpCall, McpProvider } from "@parley/acp/model";
import { type OfficialServer, openServerLane, type ServerLane } from "../lane/server-lane.ts";
import { hasClaim, olderResult, withClaim, withSession } from "../revisions/claims.ts";
import { describeValue } from "./describe-value.ts";
import { isTool, type Tool } from "./tool.ts";
import { toolServer } from "./tool-server.ts";

/** The MCP servers that are connected: an app may give the same one to several sessions. */
export class SharedServers {
  readonly #users = new Map<OfficialServer, { lane: Promise<ServerLane>; count: number }>();

  /** Connects to a server, or joins those who are. Call `leave` once afterwards. */
  join(server: OfficialServer): Promise<ServerLane> {
    const known = this.#users.get(server);
    if (known !== undefined) {
      known.count++;
      return known.lane;
    }
    const lane = openServerLane(server);
    this.#users.set(server, { lane, count: 1 });
    return lane;
  }

  /** Disconnects the server if nobody else uses it. */
  async leave(server: OfficialServer): Promise<void> {
    const known = this.#users.get(server);
    if (known === undefined || --known.count > 0) return;
    this.#users.delete(server);
    await (await known.lane.catch(() => undefined))?.close();
  }
}

/** The providers of `tools`: all tools are one server with this name. */
export function providersOf(
  tools: readonly unknown[],
  name: string,
  shared: SharedServers,
): readonly McpProvider[] {
  const own: Tool[] = [];
  const others: McpProvider[] = [];
  for (const [index, each] of tools.entries()) {
    if (isTool(each)) own.push(each);
    else if (isOfficialServer(each))
      others.push(serverProvider(each, nameOf(each) ?? `${name}-${index}`, shared));
    else if (isProvider(each)) others.push(each);
    else {
      const got = describeValue(each);
      throw new TypeError(`tools[${index}]: expected a tool(), an McpServer or a provider, got ${got}`);
    }
  }
  const twice = own.find((each, index) => own.some((other, at) => at < index && other.name === each.name));
  if (twice !== undefined) throw new TypeError(`tools: there are two tools ${twice.name}; rename one`);
  if (own.length === 0) return others;
  const open = async () => openServerLane(await toolServer(own, name));
  const server = provider(name, open, async (lane) => (await lane.catch(() => undefined))?.close());
  return [server, ...others];
}

function serverProvider(server: OfficialServer, name: string, shared: SharedServers): McpProvider {
  return provider(
    name,
    () => shared.join(server),
    () => shared.leave(server),
  );
}

/** Connects with the first request. */
function provider(
  name: string,
  open: () => Promise<ServerLane>,
  end: (lane: Promise<ServerLane>) => Promise<void>,
): McpProvider {
  let lane: Promise<ServerLane> | undefined;
  return {
    name,
    async request(call) {
      lane ??= open();
      const opened = await lane;
      return hasClaim(call.params) ? forward(opened, call) : forwardOlder(opened, call);
    },
    async close() {
      // a lane that could not be opened has told its callers
      if (lane !== undefined) await end(lane);
    },
  };
}

function forward(lane: ServerLane, call: McpCall): Promise<unknown> {
  const { method, params, sessionId, requestId, signal } = call;
  return lane.request({
    method,
    params: withSession(params ?? {}, sessionId),
    signal,
    requestId,
    notify: (sent, what) => call.notify(sent, what),
  });
}

/** Answers a request of a client with a handshake, which has been answered before. */
async function forwardOlder(lane: ServerLane, call: McpCall): Promise<unknown> {
  const result = await forward(lane, { ...call, params: withClaim(call.params) });
  return olderResult(call.method, result);
}

function isOfficialServer(value: unknown): value is OfficialServer {
  return isObject(value) && typeof value["connect"] === "function" && typeof value["close"] === "function";
}

function isProvider(value: unknown): value is McpProvider {
  return isObject(value) && typeof value["request"] === "function" && typeof value["name"] === "string";
}

/** The packages keep the name of a server to themselves. */
function nameOf(server: OfficialServer): string | undefined {
  const { server: inner = server } = server as { server?: unknown }; // McpServer has it
  const info = isObject(inner) ? inner["_serverInfo"] : undefined;
  return isObject(info) && typeof info["name"] === "string" ? info["name"] : undefined;
}
