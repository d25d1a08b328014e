// The two ways of asking: requests of 2026-07-28 carry their revision in `_meta`, older ones follow a handshake.

import { McpFailure } from "@parley/acp";
import { sessionKey } from "@parley/acp/extensions";
import { isObject } from "@parley/acp/jsonrpc";
import type { McpParams } from "@parley/acp/model";

/** The revision that providers speak. */
export const revision = "2026-07-28";

/** The newest revision with a handshake. */
export const handshakeRevision = "2025-11-25";

const prefix = "io.modelcontextprotocol/";
const versionKey = `${prefix}protocolVersion`;
const capabilitiesKey = `${prefix}clientCapabilities`;
const clientKey = `${prefix}clientInfo`;
const serverKey = `${prefix}serverInfo`;
/** Names a subscription after the request that opened it. */
export const subscriptionKey = `${prefix}subscriptionId`;

/** The client that a request comes from, as it says itself. */
export interface Asker {
  readonly capabilities?: unknown;
  readonly info?: unknown;
}

function metaOf(params: McpParams | undefined): Readonly<Record<string, unknown>> {
  const meta = params?.["_meta"];
  return isObject(meta) ? meta : {};
}

/** Whether a request says that it is of 2026-07-28 or later. */
export function hasClaim(params: McpParams | undefined): boolean {
  return metaOf(params)[versionKey] !== undefined;
}

/** The parameters as a request of 2026-07-28 has them. What they already say stays. */
export function withClaim(params: McpParams | undefined, asker: Asker = {}): McpParams {
  const own = {
    [versionKey]: revision,
    [capabilitiesKey]: isObject(asker.capabilities) ? asker.capabilities : {},
    ...(isObject(asker.info) && { [clientKey]: asker.info }),
  };
  return { ...params, _meta: { ...own, ...metaOf(params) } };
}

/** The parameters as servers with a handshake take them. */
export function withoutClaim(params: McpParams | undefined): McpParams | undefined {
  if (params === undefined) return undefined;
  const {
    [versionKey]: _version,
    [capabilitiesKey]: _capabilities,
    [clientKey]: _client,
    ...meta
  } = metaOf(params);
  const { _meta, ...rest } = params;
  return Object.keys(meta).length === 0 ? rest : { ...rest, _meta: meta };
}

/** The parameters with the session that they belong to. */
export function withSession(params: McpParams, sessionId: string | undefined): McpParams {
  const { [sessionKey]: _given, ...meta } = metaOf(params);
  return { ...params, _meta: sessionId === undefined ? meta : { ...meta, [sessionKey]: sessionId } };
}

/** What a server says about itself, in either way of asking. */
export interface ServerFacts {
  readonly capabilities: Readonly<Record<string, unknown>>;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions?: string;
}

/** Reads the answer to `server/discover`. `name` is used where the server has none. */
export function factsOf(discovered: unknown, name: string): ServerFacts {
  const { capabilities, instructions, _meta } = isObject(discovered) ? discovered : {};
  const info = isObject(_meta) ? _meta[serverKey] : undefined;
  const given = isObject(info) ? info : {};
  return {
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: { ...given, name: text(given["name"]) ?? name, version: text(given["version"]) ?? "0" },
    ...(typeof instructions === "string" && { instructions }),
  };
}

/** The answer to `server/discover` for a server that answered `initialize`. */
export function discoveredFrom({ capabilities, serverInfo, instructions }: Partial<ServerFacts>): object {
  return {
    supportedVersions: [revision],
    capabilities: capabilities ?? {},
    ...(instructions !== undefined && { instructions }),
    ...(serverInfo !== undefined && { _meta: { [serverKey]: serverInfo } }),
    resultType: "complete",
  };
}

/** A result of 2026-07-28 for a client with a handshake. Throws an McpFailure where it has no such form. */
export function olderResult(method: string, result: unknown): unknown {
  if (!isObject(result) || !("resultType" in result)) return result;
  const { resultType, ...rest } = result;
  if (resultType === "complete") return rest;
  throw new McpFailure({
    code: -32_603,
    message: `${method}: the server asks for ${String(resultType)}, which clients with a handshake cannot answer here`,
  });
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
