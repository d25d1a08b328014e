// The words of MCP over ACP: methods of the generations, codes, and what every request of MCP carries.

import { isObject } from "../../base/objects.ts";
import { argumentText, RequestError } from "../../jsonrpc/errors.ts";
import { McpFailure, type McpParams } from "../../model/mcp.ts";

/** The method of the current generation: a request to the client, and notifications of that request back. */
export const messageMethod = "mcp/message";

const relayed = new Set([messageMethod, "mcp/connect", "mcp/disconnect"]);

/** Whether a relay passes it on as it came, like a message outside the protocol: the methods of the second generation, too. */
export function isRelayedMcp(method: string): boolean {
  return relayed.has(method);
}

/** Codes of MCP over ACP itself. They say nothing about what the server answered. */
export const bindingCodes = { limit: -33000, unavailable: -33001, failed: -33002 } as const;

export function bindingError(kind: keyof typeof bindingCodes, message: string): RequestError {
  return new RequestError("other", message, { code: bindingCodes[kind], data: { reason: `mcp_${kind}` } });
}

/** Methods of 2025, before there was a name in the protocol. One of them is also the scoped dialect's, with other fields. */
const firstGeneration = new Set(["_mcp/connect", "_mcp/disconnect", "_mcp/notification", "_mcp/request"]);

/** Throws for a message of the first generation, which is not served. */
export function refuseFirstGeneration(method: string, params: unknown): void {
  if (!firstGeneration.has(method)) return;
  if (method === "_mcp/request" && !(isObject(params) && "connection_id" in params)) return;
  const message =
    `${method}: this is MCP over ACP as it was in 2025, which is not spoken here; update the peer to one that sends ` +
    `${messageMethod} with a serverId, or give it the server by http or stdio`;
  throw new RequestError("method_not_found", message, { data: { reason: "method_not_found", method } });
}

const prefix = "io.modelcontextprotocol/";

/** What each request carries since there is no handshake: the revision, and who asks. What is there stays. */
export function withCaller(
  params: McpParams | undefined,
  info: { readonly name: string; readonly version: string },
  progressToken: string | undefined,
): McpParams {
  const given = isObject(params?.["_meta"]) ? params["_meta"] : {};
  const _meta = {
    [`${prefix}protocolVersion`]: "2026-07-28",
    [`${prefix}clientCapabilities`]: {},
    [`${prefix}clientInfo`]: info,
    ...(progressToken === undefined ? {} : { progressToken }),
    ...given,
  };
  return { ...params, _meta };
}

/** The result that a carrier holds. Throws the server's error. One with both is a result. */
export function outcomeOf(carrier: object): unknown {
  if ("result" in carrier) return carrier.result;
  const { error } = carrier as { error?: unknown };
  if (isObject(error) && Number.isInteger(error["code"]) && typeof error["message"] === "string")
    throw new McpFailure({ ...error, code: error["code"] as number, message: error["message"] }); // checked above
  throw bindingError(
    "failed",
    `the server's answer has neither a result nor an error: ${argumentText(error)}`,
  );
}

/** What the server answered, as it travels. Throws what is not the server's own error. */
export async function carried(outcome: Promise<unknown>): Promise<object> {
  try {
    // every answer has a result
    return { result: (await outcome) ?? null };
  } catch (error) {
    if (!(error instanceof McpFailure)) throw error;
    // the protocol has these fields; data of null is not the same as none
    const { code, message, data } = error.body;
    return { error: data === undefined ? { code, message } : { code, message, data } };
  }
}
