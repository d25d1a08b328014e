// Parses the description of an MCP server. `timeout`, `tools` and `oauth` are extensions, also accepted in `_meta`.

import { extensionIn, originKey } from "@parley/acp/extensions";
import { isObject, optional } from "@parley/acp/jsonrpc";
import type { McpChannel, McpServer } from "@parley/acp/model";
import { secretsIn } from "@parley/acp/redact";
import type { FetchAccess } from "../network/pinned-request.ts";
import type { OwnClient } from "../oauth/server-login.ts";
import { HiddenSecrets } from "../text/hidden-secrets.ts";

interface CommonEntry {
  readonly name: string;
  /** Milliseconds for the start and for each call. */
  readonly timeoutMs: number | undefined;
  /** The tools that are used, `*` at the end for several; undefined for all. */
  readonly tools: readonly string[] | undefined;
  readonly secrets: HiddenSecrets;
}

/** A server that is started or reached from here. */
interface OwnEntry extends CommonEntry {
  /** As it was described. */
  readonly server: McpServer;
  /** The working directory of the session. */
  readonly cwd: string;
}

export interface StdioEntry extends OwnEntry {
  readonly type: "stdio";
}

/** A server of the client, or of an agent that the client named: it is reached over the connection. */
export interface AcpEntry extends CommonEntry {
  readonly type: "acp";
  connect(options: { readonly signal: AbortSignal }): Promise<McpChannel>;
}

export interface RemoteEntry extends OwnEntry {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The files of the workspace named it, not the user: it must be at a public address. */
  readonly isOfWorkspace: boolean;
  /** How the user names it for a login: by its name if that is in the config, otherwise by its address. */
  readonly loginName: string;
  /** What the user registered for logins. */
  readonly oauth: OwnClient | undefined;
}

export type ServerEntry = StdioEntry | RemoteEntry | AcpEntry;

type Fields = Readonly<Record<string, unknown>>;

/** The library has validated the entry. `cwd` is the session's. */
export function readEntry(server: McpServer, cwd: string): ServerEntry {
  const fields = server as unknown as Fields; // each field is checked below
  const extra = isObject(fields["_meta"]) ? { ...fields["_meta"], ...fields } : fields;
  const name = plainName(String(fields["name"]));
  const timeoutMs = positive(extra["timeout"]);
  const tools = Array.isArray(extra["tools"]) ? extra["tools"].map(String) : undefined;
  if (fields["type"] === "http" || fields["type"] === "sse") {
    const url = String(fields["url"]);
    const headers = pairs(fields["headers"]);
    const origin = extensionIn(extra, originKey);
    const isOfWorkspace = origin === "workspace";
    const loginName = origin === "user" ? String(fields["name"]) : url;
    const oauth = isOfWorkspace ? undefined : ownClient(extra["oauth"]);
    const hidden = oauth?.clientSecret === undefined ? [] : [oauth.clientSecret];
    const secrets = new HiddenSecrets([...Object.values(headers), ...secretsIn({ url }), ...hidden]);
    const common = { name, server, cwd, timeoutMs, tools, secrets };
    return { type: fields["type"], ...common, url, headers, isOfWorkspace, loginName, oauth };
  }
  const { connect } = server as Partial<AcpEntry>; // the servers of a session have it
  if (fields["type"] === "acp" && connect !== undefined)
    return { type: "acp", name, timeoutMs, tools, secrets: new HiddenSecrets([]), connect };
  const secrets = new HiddenSecrets(secretsIn({ env: pairs(fields["env"]) }));
  return { type: "stdio", name, server, cwd, timeoutMs, tools, secrets };
}

/** What the requests of a server may reach. The user named exactly its host and port, unless files of the workspace did. */
export function accessOf({ url, isOfWorkspace }: RemoteEntry, privateHosts: readonly string[]): FetchAccess {
  return { privateHosts, ownOrigin: isOfWorkspace ? undefined : URL.parse(url)?.origin };
}

function ownClient(value: unknown): OwnClient | undefined {
  if (!isObject(value)) return undefined;
  const { clientId, clientSecret, scope, callbackPort } = value;
  const text = (given: unknown) => (typeof given === "string" && given !== "" ? given : undefined);
  return optional({
    clientId: text(clientId),
    clientSecret: text(clientSecret),
    scope: text(scope),
    callbackPort: typeof callbackPort === "number" ? callbackPort : undefined,
  });
}

/** Names become part of tool and command names: no white space, no slash. */
function plainName(name: string): string {
  return name.replaceAll(/[\s/\p{Cc}]+/gu, "_").slice(0, 64) || "server";
}

function pairs(list: unknown): Record<string, string> {
  const found: Record<string, string> = {};
  for (const item of Array.isArray(list) ? list : []) {
    if (isObject(item)) found[String(item["name"])] = String(item["value"]);
  }
  return found;
}

function positive(value: unknown): number | undefined {
  return typeof value === "number" && value > 0 && Number.isFinite(value) ? value : undefined;
}
