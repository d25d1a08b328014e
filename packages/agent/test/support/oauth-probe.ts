// biome-ignore-all lint/style/noRestrictedImports: only tests load this file

// An authorisation server and an MCP server that needs its tokens, on ports of this machine.

import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";

export interface OAuthProbe {
  /** The MCP server. */
  readonly url: string;
  readonly host: string;
  /** The host and port of the authorisation server. */
  readonly authHost: string;
  /** `METHOD /path` of what the authorisation server was asked. */
  readonly asked: string[];
  /** The headers of what it was asked. */
  readonly askedWith: IncomingMessage["headers"][];
  /** The grants that it was asked for. */
  readonly grants: string[];
  /** The tokens that it has given, all kinds. */
  readonly tokens: string[];
  /** The names of the tools that were called. */
  readonly called: string[];
  /** Makes the access tokens invalid, not the refresh tokens. */
  expire(): void;
  /** Makes all tokens invalid. */
  revoke(): void;
  /** Visits the page of a login, as a browser does, and follows it to the callback. */
  visit(page: string, change?: (callback: URL) => void): Promise<Response>;
}

export interface OAuthProbeOptions {
  /** Replaces fields of the metadata of the authorisation server; undefined removes one. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** Where the MCP server says that its metadata is. */
  readonly resourceMetadataUrl?: string;
  /** Answers with `error=access_denied`. */
  readonly denies?: boolean;
  /** Answers without refresh tokens. */
  readonly noRefresh?: boolean;
  /** The right that the tool `other` needs. */
  readonly scope?: string;
  /** Seconds that an access token lasts. */
  readonly expiresIn?: number;
}

interface Code {
  readonly clientId: string;
  readonly challenge: string;
  readonly redirect: string;
  readonly scope: string;
}

export async function oauthProbe(t: TestContext, options: OAuthProbeOptions = {}): Promise<OAuthProbe> {
  const asked: string[] = [];
  const askedWith: IncomingMessage["headers"][] = [];
  const grants: string[] = [];
  const tokens: string[] = [];
  const called: string[] = [];
  const redirects = new Map<string, readonly string[]>([["own-client", []]]);
  const codes = new Map<string, Code>();
  let access = new Set<string>();
  let refresh = new Set<string>();
  const scopes = new Map<string, string>();
  const issue = (scope = "") => {
    const token = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` };
    access.add(token.access_token);
    scopes.set(token.access_token, scope);
    refresh.add(token.refresh_token);
    tokens.push(token.access_token, token.refresh_token);
    return {
      access_token: token.access_token,
      token_type: "Bearer",
      ...(scope === "" ? {} : { scope }),
      expires_in: options.expiresIn ?? 3600,
      ...(options.noRefresh ? {} : { refresh_token: token.refresh_token }),
    };
  };

  const exchanged = (form: URLSearchParams): readonly [status: number, body: object] => {
    grants.push(form.get("grant_type") ?? "");
    if (form.get("grant_type") === "refresh_token") {
      const given = form.get("refresh_token") ?? "";
      if (refresh.delete(given)) return [200, issue()];
      // a token that is used twice was stolen: nothing of it is valid any more
      refresh = new Set();
      return [400, { error: "invalid_grant", error_description: `${given} was used before` }];
    }
    const code = codes.get(form.get("code") ?? "");
    codes.delete(form.get("code") ?? "");
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    const isRight =
      code?.challenge === verifier &&
      code.redirect === form.get("redirect_uri") &&
      code.clientId === form.get("client_id");
    return isRight ? [200, issue(code.scope)] : [400, { error: "invalid_grant" }];
  };

  const auth = await listening(t, async (request, response) => {
    const url = new URL(request.url ?? "", `http://${request.headers.host}`);
    asked.push(`${request.method} ${url.pathname}`);
    askedWith.push(request.headers);
    const body = await textOf(request);
    const issuer = url.origin;
    switch (url.pathname) {
      case "/.well-known/oauth-authorization-server":
        return json(response, 200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          registration_endpoint: `${issuer}/register`,
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
          authorization_response_iss_parameter_supported: true,
          ...options.metadata,
        });
      case "/register": {
        const given = JSON.parse(body) as { redirect_uris: string[] };
        const client = { ...given, client_id: `client-${randomUUID()}` };
        redirects.set(client.client_id, given.redirect_uris);
        return json(response, 201, client);
      }
      case "/authorize": {
        const {
          client_id = "",
          redirect_uri = "",
          state = "",
          ...more
        } = Object.fromEntries(url.searchParams);
        const isKnown = client_id === "own-client" || redirects.get(client_id)?.includes(redirect_uri);
        const { code_challenge: challenge = "", code_challenge_method: method } = more;
        if (!isKnown || method !== "S256" || challenge === "")
          return json(response, 400, { error: "invalid_request" });
        const code = `code-${randomUUID()}`;
        codes.set(code, {
          clientId: client_id,
          challenge,
          redirect: redirect_uri,
          scope: more["scope"] ?? "",
        });
        const back = new URL(redirect_uri);
        const answer = options.denies ? { error: "access_denied" } : { code };
        for (const [name, value] of Object.entries({ ...answer, state, iss: issuer }))
          back.searchParams.set(name, value);
        return void response.writeHead(302, { location: back.href }).end();
      }
      case "/token":
        return json(response, ...exchanged(new URLSearchParams(body)));
      default:
        return json(response, 404, {});
    }
  });

  const server = await listening(t, async (request, response) => {
    const origin = `http://${request.headers.host}`;
    if (request.url === "/.well-known/oauth-protected-resource/mcp")
      return json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [`http://${auth}`] });
    if (request.url !== "/mcp") return json(response, 404, {});
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    if (token === undefined || !access.has(token)) {
      const metadata = options.resourceMetadataUrl ?? `${origin}/.well-known/oauth-protected-resource/mcp`;
      response.setHeader("www-authenticate", `Bearer resource_metadata="${metadata}"`);
      return json(response, 401, { error: "invalid_token" });
    }
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(await textOf(request)) as Message;
    if (id === undefined) return void response.writeHead(202).end();
    const isMissing = options.scope !== undefined && !scopes.get(token)?.split(" ").includes(options.scope);
    if (method === "tools/call" && params?.name === "other" && isMissing) {
      response.setHeader("www-authenticate", `Bearer error="insufficient_scope", scope="${options.scope}"`);
      return json(response, 403, { error: "insufficient_scope" });
    }
    if (method === "tools/call") called.push(String(params?.name));
    const result = resultOf(method, `you have ${token}`);
    json(response, 200, { jsonrpc: "2.0", id, result });
  });

  return {
    url: `http://${server}/mcp`,
    host: server,
    authHost: auth,
    asked,
    askedWith,
    grants,
    tokens,
    called,
    expire() {
      access = new Set();
    },
    revoke() {
      access = new Set();
      refresh = new Set();
    },
    async visit(page, change) {
      const answer = await fetch(page, { redirect: "manual" });
      const callback = new URL(answer.headers.get("location") ?? "");
      change?.(callback);
      return fetch(callback);
    },
  };
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: unknown };
}

function resultOf(method: string, words: string): object {
  const tool = { name: "whoami", description: "Says who you are", inputSchema: { type: "object" } };
  switch (method) {
    case "initialize":
      return {
        protocolVersion: "2025-06-18",
        capabilities: { tools: {} },
        serverInfo: { name: "probe", version: "1" },
      };
    case "tools/list":
      return { tools: [tool, { ...tool, name: "other" }] };
    case "tools/call":
      return { content: [{ type: "text", text: words }] };
    default:
      return {};
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The host and port. */
async function listening(t: TestContext, handler: Handler): Promise<string> {
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
