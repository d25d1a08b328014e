// One MCP server over HTTP. Each request says its revision: 2026-07-28 in itself, older ones by the session of a handshake.

import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type {
  McpHttpHandler,
  ServerEvent,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { isObject } from "@parley/acp/jsonrpc";
import type { McpParams } from "@parley/acp/model";
import { changeMethods, watchedBy } from "./changes.ts";
import type { FrontServers } from "./front-server.ts";

type ServerPackage = typeof import("@modelcontextprotocol/server");

/** The sessions of revisions with a handshake. The one that was not used for longest makes room for a new one. */
const maxSessions = 32;

export class HttpServer {
  readonly #package: ServerPackage;
  readonly #servers: FrontServers;
  readonly #current: McpHttpHandler;
  /** The one that was used last is the last. */
  readonly #sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  #isClosed = false;

  /** Loads the server package, which takes 100 ms. */
  static async create(servers: FrontServers): Promise<HttpServer> {
    return new HttpServer(await import("@modelcontextprotocol/server"), servers);
  }

  private constructor(loaded: ServerPackage, servers: FrontServers) {
    this.#package = loaded;
    this.#servers = servers;
    this.#current = loaded.createMcpHandler(servers.single, {
      legacy: "reject",
      bus: { publish: () => undefined, subscribe: (listener) => servers.changes.listen(asEvents(listener)) },
    });
  }

  async answer(request: IncomingMessage, response: ServerResponse, body: Buffer | undefined): Promise<void> {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const { method = "GET", url = "/", headers } = request;
    const given = new Request(`http://127.0.0.1${url}`, {
      method,
      headers: Object.entries(headers).flatMap(([name, value]) =>
        value === undefined
          ? []
          : [[name, Array.isArray(value) ? value.join(", ") : value] as [string, string]],
      ),
      signal: gone.signal,
      ...(body !== undefined && { body: new Uint8Array(body) }),
    });
    await send(await this.#respond(given, body), response);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#sessions.values()];
    this.#sessions.clear();
    this.#servers.changes.close();
    await Promise.allSettled([this.#current.close(), ...all.map((each) => each.close())]);
  }

  async #respond(request: Request, body: Buffer | undefined): Promise<Response> {
    const parsedBody = body === undefined ? undefined : parsed(body);
    const isOlder =
      body === undefined ||
      (parsedBody !== undefined && (await this.#package.isLegacyRequest(request, parsedBody)));
    if (!isOlder && isObject(parsedBody) && parsedBody["method"] === "subscriptions/listen")
      await this.#watch(request, parsedBody["params"]);
    if (!isOlder) return this.#current.fetch(request, { ...(parsedBody !== undefined && { parsedBody }) });
    const id = request.headers.get("mcp-session-id");
    if (id !== null) {
      const session = this.#sessions.get(id);
      // 404 makes clients start a new session
      if (session === undefined)
        return refusal(404, -32_001, "this session has ended: send initialize again");
      this.#sessions.delete(id);
      this.#sessions.set(id, session);
      return session.handleRequest(request, { parsedBody });
    }
    if (isObject(parsedBody) && parsedBody["method"] === "initialize")
      return this.#start(request, parsedBody);
    if (body === undefined) return refusal(405, -32_000, `${request.method} needs the header Mcp-Session-Id`);
    return refusal(
      400,
      -32_000,
      "send initialize first, then the header Mcp-Session-Id; or name the revision 2026-07-28 in params._meta",
    );
  }

  /** A subscription lasts as long as its request. */
  async #watch({ signal }: Request, params: unknown): Promise<void> {
    const end = await this.#servers.changes.watch(watchedBy(params));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  }

  async #start(request: Request, parsedBody: unknown): Promise<Response> {
    const { WebStandardStreamableHTTPServerTransport } = this.#package;
    const session = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        this.#sessions.set(id, session);
        this.#makeRoom();
      },
      onsessionclosed: (id) => void this.#sessions.delete(id),
    });
    const server = await this.#servers.connected({ era: "legacy", requestInfo: request });
    await server.connect(session);
    const response = await session.handleRequest(request, { parsedBody });
    if (session.sessionId === undefined || this.#isClosed) await session.close();
    return response;
  }

  #makeRoom(): void {
    for (const [id, session] of this.#sessions) {
      if (this.#sessions.size <= maxSessions) return;
      this.#sessions.delete(id);
      // its requests end with it
      void session.close();
    }
  }
}

/** A change as the server package takes it. */
function asEvents(listener: (event: ServerEvent) => void) {
  return (method: string, params: McpParams | undefined): void => {
    const kind = changeMethods[method as keyof typeof changeMethods]; // as: one of them
    const more = params === undefined ? {} : { params };
    if (kind === "resource_updated") listener({ kind, uri: String(params?.["uri"]), ...more });
    else listener({ kind, ...more });
  };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    // the server package says what is wrong with it
    return undefined;
  }
}

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", id: null, error: { code, message } }, { status });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.body === null) return void response.end();
  // an event stream is announced before its first event
  response.flushHeaders();
  const reader = answer.body.getReader();
  response.once("close", () => void reader.cancel().catch(() => undefined));
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    if (!response.write(value)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      response.off("drain", go).off("close", go);
      resolve();
    };
    response.once("drain", go).once("close", go);
  });
}
