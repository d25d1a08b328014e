// A port of the loopback interface on which the servers of one connection answer HTTP.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { McpBridgedServer } from "@parley/acp/model";
import { boundedBody } from "@parley/acp/transport";
import type { FrontServers } from "./front-server.ts";
import { HttpServer } from "./http-server.ts";

/** The largest request. */
const bodyLimit = 16 * 1024 * 1024;
/** The connections that are open at once. */
const maxConnections = 256;
/** For the headers, which have the token: connections that send none make room for others. */
const headersMs = 5_000;

/** Listens on 127.0.0.1. */
export class HttpListener {
  readonly #server: Server;
  readonly #offered = new Map<string, { readonly token: Buffer; readonly http: HttpServer }>();
  #address: Promise<string> | undefined;

  constructor() {
    const options = { headersTimeout: headersMs, connectionsCheckingInterval: 1_000 };
    this.#server = createServer(options, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        if (response.headersSent) response.destroy();
        else
          refuse(
            response,
            500,
            `the bridge failed: ${error instanceof Error ? error.message : String(error)}`,
          );
      });
    });
    this.#server.maxConnections = maxConnections;
    // an agent may think for an hour between two requests
    this.#server.keepAliveTimeout = 60_000;
  }

  /** Serves what `servers` makes under an address and a token of its own. */
  async offer(name: string, servers: FrontServers): Promise<McpBridgedServer> {
    this.#address ??= this.#listen();
    const address = await this.#address;
    const path = `/${randomBytes(12).toString("hex")}`;
    const token = randomBytes(32).toString("base64url");
    const http = await HttpServer.create(servers);
    this.#offered.set(path, { token: digest(token), http });
    return {
      server: {
        type: "http",
        name,
        url: `http://${address}${path}`,
        headers: [{ name: "Authorization", value: `Bearer ${token}` }],
      },
      close: async () => {
        this.#offered.delete(path);
        await http.close();
      },
    };
  }

  async close(): Promise<void> {
    const all = [...this.#offered.values()];
    this.#offered.clear();
    await Promise.allSettled(all.map(({ http }) => http.close()));
    if (this.#address === undefined) return;
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    this.#server.closeAllConnections();
    await closed.promise;
  }

  #listen(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(0, "127.0.0.1", () => {
        // later errors, such as too many open files, concern single connections
        this.#server.off("error", reject).on("error", () => undefined);
        // as: it listens on a port
        const { port } = this.#server.address() as AddressInfo;
        // the agent and its end are processes; a port alone keeps none alive
        this.#server.unref();
        resolve(`127.0.0.1:${port}`);
      });
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { host, origin, authorization } = request.headers;
    // a web page can send requests to a port of this machine, but always says where it comes from
    if (origin !== undefined) return refuse(response, 403, "web pages cannot use this server");
    const { port } = this.#server.address() as AddressInfo; // as: it listens on a port
    if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
      return refuse(response, 403, `the Host header must be 127.0.0.1:${port}`);
    }
    const offered = this.#offered.get(request.url ?? "");
    const given = digest(/^Bearer (\S+)$/i.exec(authorization ?? "")?.[1] ?? "");
    // an unknown address is answered like a wrong token, so that nobody can look for addresses
    if (offered === undefined || !timingSafeEqual(given, offered.token)) {
      response.setHeader("WWW-Authenticate", "Bearer");
      return refuse(response, 401, "send the Authorization header of the declared server");
    }
    // the bridge asks for none: see the annotations that it takes away
    const repeated = Object.keys(request.headers).find((name) => name.startsWith("mcp-param-"));
    if (repeated !== undefined)
      return refuse(
        response,
        400,
        `this server takes arguments in the body alone, not in the header ${repeated}`,
        -32_020,
      );
    const body = request.method === "POST" ? await bodyOf(request) : undefined;
    if (body === "too large") return refuse(response, 413, `a request may have ${bodyLimit} bytes`);
    await offered.http.answer(request, response, body);
  }
}

/** Equal lengths, for a comparison that takes the same time for every value. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

async function bodyOf(request: IncomingMessage): Promise<Buffer | "too large"> {
  if (Number(request.headers["content-length"] ?? 0) > bodyLimit) return "too large";
  const { bytes, isCut } = await boundedBody(request, bodyLimit);
  return isCut ? "too large" : Buffer.from(bytes.buffer, 0, bytes.length);
}

function refuse(response: ServerResponse, status: number, message: string, code = -32_600): void {
  // what is left of the body is not read
  response.setHeader("Connection", "close");
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } }));
}
