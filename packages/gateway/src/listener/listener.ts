// Serves HTTP/1.1, HTTP/2 and WebSocket on one port of Node, with TLS where there is a certificate.

import { createServer as createHttp1, type IncomingMessage } from "node:http";
import { createServer as createHttp2, type ServerHttp2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTls } from "node:tls";
import type { Log } from "@parley/acp";
import type { RemoteServer } from "@parley/acp/server";
import { type Admission, type Guard, refusal } from "../guard/guard.ts";
import { type DoorLimits, FrontDoor } from "./front-door.ts";
import type { HeartbeatOptions } from "./heartbeat.ts";
import { type BodyLimits, type NodeRequest, type WebRequest, webRequest } from "./node-request.ts";
import { type NodeResponse, sendResponse } from "./node-response.ts";
import { refuseUpgrade, type Sockets, webSockets } from "./socket-upgrade.ts";

export interface ListenerLimits extends DoorLimits, BodyLimits, HeartbeatOptions {}

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly path: string;
  /** The address of a client is what a proxy says. */
  readonly isBehindProxy: boolean;
  readonly server: Pick<RemoteServer, "fetch" | "upgrade">;
  readonly limits: ListenerLimits;
  readonly log: Log;
}

const maxHeaders = 100;
const maxHeaderBytes = 16 * 1024;
const maxStreams = 256;
const idleMs = 120_000;
const methods = ["GET", "POST", "DELETE", "OPTIONS"];

export class Listener {
  readonly #options: ListenerOptions;
  readonly #door: FrontDoor;
  readonly #sockets: Sockets;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #running = new Set<Promise<void>>();
  #guard: Guard | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { tls, limits } = options;
    this.#sockets = webSockets({ ...limits, maxPayload: limits.maxBodyBytes });
    const http1 = createHttp1({
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: idleMs,
      // curl asks for h2c this way; it is served HTTP/1.1. Older versions of Node do not know this option
      ...{ shouldUpgradeCallback: isWebSocket },
    });
    http1.on("request", (request, response) => this.#track(this.#serve(request, response)));
    http1.on("upgrade", (request, socket, head) => this.#track(this.#upgrade(request, socket, head)));
    http1.on("clientError", refuseBytes);
    const http2 = createHttp2({
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
      maxHeaderListPairs: maxHeaders + 4,
    });
    http2.on("request", (request, response) => this.#track(this.#serve(request, response)));
    http2.on("session", (session) => this.#watch(session));
    // it is destroyed then
    http2.on("sessionError", () => undefined);
    const encrypted = tls && createTls({ ...tls, minVersion: "TLSv1.2", ALPNProtocols: ["h2", "http/1.1"] });
    encrypted?.on("secureConnection", (socket) =>
      (socket.alpnProtocol === "h2" ? http2 : http1).emit("connection", socket),
    );
    encrypted?.on("tlsClientError", (_, socket) => socket.destroy());
    this.#door = new FrontDoor(limits, {
      ...(encrypted && { tls: (socket) => void encrypted.emit("connection", socket) }),
      http1: (socket) => void http1.emit("connection", socket),
      http2: (socket) => void http2.emit("connection", socket),
    });
  }

  /** Returns the port. `guard` is made for it, since it knows the port. */
  async open(guardFor: (port: number) => Guard): Promise<number> {
    const { server } = this.#door;
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port }, () => {
        server.off("error", reject);
        resolve();
      });
    });
    // as: it listens on a port
    const { port: opened } = server.address() as AddressInfo;
    this.#guard = guardFor(opened);
    return opened;
  }

  /** No new sockets come in. */
  stopAccepting(): void {
    this.#door.server.close();
  }

  /** Ends what is left, after the answers that are being sent. */
  async close(): Promise<void> {
    this.stopAccepting();
    this.#sockets.stop();
    for (const session of this.#sessions) session.close();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, 1_000);
    await Promise.race([Promise.all(this.#running), late]);
    clearTimeout(timer);
    this.#door.destroyAll();
  }

  #track(work: Promise<void>): void {
    const failed = (error: unknown) => void this.#options.log("error", "a request failed", { error });
    const running = work.catch(failed).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  #watch(session: ServerHttp2Session): void {
    this.#sessions.add(session);
    session.once("close", () => this.#sessions.delete(session));
    session.on("error", () => undefined);
    // event streams have heartbeats
    session.setTimeout(idleMs, () => session.close());
  }

  async #serve(from: NodeRequest, to: NodeResponse): Promise<void> {
    const gone = new AbortController();
    to.once("close", () => {
      // an abort makes an error with a stack, which is not needed for an answer that was sent
      if (!to.writableFinished) gone.abort();
    });
    // a reset is not our failure
    to.on("error", () => undefined);
    from.on("error", () => undefined);
    const early = this.#problem(from) ?? this.#request(from, gone.signal);
    if (early instanceof Response) return sendResponse(early, to, { headers: {}, isLast: true });
    const { request, bodyError, admission } = early;
    if (admission instanceof Response)
      return sendResponse(admission, to, { headers: {}, isLast: request.method !== "OPTIONS" });
    this.#door.known(from.socket);
    const given = await this.#answer(request);
    const problem = bodyError();
    const response = problem === undefined ? given : refusal(problem.status, problem.message);
    const isCutOff = request.method === "POST" && !from.readableEnded;
    await sendResponse(response, to, { headers: admission.headers, isLast: isCutOff });
  }

  async #answer(request: Request): Promise<Response> {
    const { server, path, log } = this.#options;
    if (new URL(request.url).pathname === `${path}/ticket`) return this.#ownGuard().ticket(request);
    try {
      return await server.fetch(request);
    } catch (error) {
      log("error", "a request failed", { error });
      return refusal(500, "the server has a problem of its own; its log says which");
    }
  }

  async #upgrade(from: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    const early = this.#problem(from) ?? this.#request(from, new AbortController().signal, true);
    if (early instanceof Response) return refuseUpgrade(early, socket);
    const { request, admission } = early;
    if (admission instanceof Response) return refuseUpgrade(admission, socket);
    if (!isWebSocket(from)) return refuseUpgrade(refusal(400, "expected an upgrade to websocket"), socket);
    const upgrade = await this.#options.server.upgrade(request);
    if (upgrade instanceof Response) return refuseUpgrade(upgrade, socket);
    this.#door.known(from.socket);
    this.#sockets.accept({ request: from, socket, head }, upgrade, admission.protocol);
  }

  /** What needs no token: the state of the server, and requests that nobody should send. */
  #problem(from: NodeRequest): Response | undefined {
    const { method = "", url = "" } = from;
    if (from.rawHeaders.length > 2 * maxHeaders)
      return refusal(431, `expected at most ${maxHeaders} headers`);
    if (!url.startsWith("/")) return refusal(400, "expected a path, got a whole address");
    if (url === "/livez" && method === "GET") return refusal(200, "ok");
    if (!methods.includes(method))
      return refusal(405, "expected GET, POST or DELETE", { Allow: "GET, POST, DELETE" });
    const { host, ":authority": authority = host } = from.headers;
    if (host !== undefined && host !== authority) return refusal(400, "got two different hosts");
    return undefined;
  }

  #request(
    from: NodeRequest,
    signal: AbortSignal,
    isUpgrade = false,
  ): (WebRequest & { readonly admission: Admission | Response }) | Response {
    const { tls, limits } = this.#options;
    const host = from.headers.host ?? from.headers[":authority"]?.toString();
    let made: WebRequest;
    try {
      made = webRequest(from, `${tls ? "https" : "http"}://localhost`, signal, limits);
    } catch {
      return refusal(400, "the request cannot be read");
    }
    const address = this.#addressOf(from);
    return {
      ...made,
      admission: this.#ownGuard().admit({ request: made.request, host, address, isUpgrade }),
    };
  }

  #addressOf({ socket, headers }: NodeRequest): string {
    const said = this.#options.isBehindProxy ? headers["x-forwarded-for"]?.toString() : undefined;
    // the proxy in front of us appends what it has seen itself
    return said?.split(",").at(-1)?.trim() || (socket.remoteAddress ?? "");
  }

  #ownGuard(): Guard {
    if (this.#guard === undefined) throw new Error("the listener is not open");
    return this.#guard;
  }
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}

/** Answers what is no HTTP. */
function refuseBytes(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const response =
    error.code === "HPE_HEADER_OVERFLOW"
      ? refusal(431, `expected at most ${maxHeaderBytes} bytes of headers`)
      : refusal(400, "expected HTTP");
  void refuseUpgrade(response, socket);
}
