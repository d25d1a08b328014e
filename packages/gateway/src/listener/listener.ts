// Serves HTTP/1.1, HTTP/2 and WebSocket on one port of Node, with TLS where there is a certificate.

import { createServer as createHttp1, type Server as Http1, type IncomingMessage } from "node:http";
import { createServer as createHttp2, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { createServer as createTls } from "node:tls";
import type { Log } from "@parley/acp";
import { withTimeout } from "@parley/acp/jsonrpc";
import { type RemoteServer, refusal } from "@parley/acp/server";
import type { Admission, Guard } from "../guard/guard.ts";
import type { Refused } from "../guard/refusal-log.ts";
import {
  earlyAnswer,
  maxHeaderBytes,
  maxHeaders,
  noMethod,
  pathRefusal,
  refuseBytes,
  refuseExpectation,
} from "./bad-requests.ts";
import { type DoorLimits, FrontDoor } from "./front-door.ts";
import { type BodyLimits, type NodeRequest, type WebRequest, webRequest } from "./node-request.ts";
import { type NodeResponse, sendResponse } from "./node-response.ts";
import { type AcceptSocket, refuseUpgrade, webSockets } from "./socket-upgrade.ts";

export interface ListenerLimits extends DoorLimits, BodyLimits {}

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly path: string;
  /** The address of a client is what a proxy says. */
  readonly behindProxy: boolean;
  readonly server: Pick<RemoteServer, "fetch" | "upgrade">;
  readonly limits: ListenerLimits;
  readonly log: Log;
  /** Told of clients that speak without TLS where it is needed. */
  refused(refused: Refused): void;
}

const maxStreams = 256;
const idleMs = 120_000;
const plainWords = "this port speaks TLS; use https:// or wss://";

export class Listener {
  readonly #options: ListenerOptions;
  readonly #door: FrontDoor;
  readonly #http1: Http1;
  readonly #acceptSocket: AcceptSocket;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #running = new Set<Promise<void>>();
  /** Who sent each request. */
  readonly #addresses = new WeakMap<Request, string>();
  #guard: Guard | undefined;
  #isStopping = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const { tls, limits } = options;
    this.#acceptSocket = webSockets(limits.maxBodyBytes);
    const http1 = createHttp1({
      maxHeaderSize: maxHeaderBytes,
      keepAliveTimeout: idleMs,
      headersTimeout: limits.strangerMs,
      connectionsCheckingInterval: Math.ceil(limits.strangerMs / 10),
      // bodies have a time of their own
      requestTimeout: 0,
      // a missing one is refused in our words
      requireHostHeader: false,
      // curl asks for h2c this way; it is served HTTP/1.1. Older versions of Node do not know this option
      ...{ shouldUpgradeCallback: isWebSocket },
    });
    http1.on("request", (request, response) => this.#track(this.#serve(request, response)));
    http1.on("upgrade", (request, socket, head) => this.#track(this.#upgrade(request, socket, head)));
    http1.on("clientError", refuseBytes);
    http1.on("connect", (_, socket) => void refuseUpgrade(noMethod("CONNECT"), socket));
    http1.on("checkExpectation", refuseExpectation);
    // it looks for slow heads from this event on, and it does not listen itself
    http1.emit("listening");
    this.#http1 = http1;
    const http2 = createHttp2({
      settings: { maxConcurrentStreams: maxStreams, maxHeaderListSize: maxHeaderBytes },
      maxHeaderListPairs: maxHeaders + 4,
    });
    http2.on("request", (request, response) => this.#track(this.#serve(request, response)));
    http2.on("checkExpectation", refuseExpectation);
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
      plain: (socket) => {
        options.refused({ address: socket.remoteAddress ?? "", status: 400, reason: plainWords });
        void refuseUpgrade(refusal(400, plainWords), socket);
      },
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
    try {
      this.#guard = guardFor(opened);
    } catch (error) {
      // a port that stays open would keep the process
      await this.close();
      throw error;
    }
    return opened;
  }

  /** The address of the client that sent this request. */
  addressOf(request: Request): string | undefined {
    return this.#addresses.get(request);
  }

  /** New clients are refused from now on, and whoever asks for the state is told so. */
  stopping(): void {
    this.#isStopping = true;
  }

  /** No new sockets come in. */
  stopAccepting(): void {
    this.#isStopping = true;
    this.#door.server.close();
  }

  /** Ends what is left, after the answers that are being sent. */
  async close(): Promise<void> {
    this.stopAccepting();
    this.#http1.close();
    for (const session of this.#sessions) session.close();
    await withTimeout(1_000, Promise.all(this.#running));
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
    const early = earlyAnswer(from, this.#isStopping) ?? this.#request(from, gone.signal);
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
    const early =
      earlyAnswer(from, this.#isStopping) ?? this.#request(from, new AbortController().signal, true);
    if (early instanceof Response) return refuseUpgrade(early, socket);
    const { request, admission } = early;
    if (admission instanceof Response) return refuseUpgrade(admission, socket);
    if (!isWebSocket(from)) return refuseUpgrade(refusal(400, "expected an upgrade to websocket"), socket);
    const upgrade = await this.#options.server.upgrade(request);
    if (upgrade instanceof Response) return refuseUpgrade(upgrade, socket);
    this.#door.known(from.socket);
    this.#acceptSocket({ request: from, socket, head }, upgrade, admission.protocol);
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
    const address = this.#senderOf(from);
    this.#addresses.set(made.request, address);
    const admission = this.#ownGuard().admit({ request: made.request, host, address, isUpgrade });
    return {
      ...made,
      admission: (admission instanceof Response ? undefined : pathRefusal(from, made)) ?? admission,
    };
  }

  #senderOf({ socket, headers }: NodeRequest): string {
    const said = this.#options.behindProxy ? headers["x-forwarded-for"]?.toString() : undefined;
    // the proxy in front of us appends what it has seen itself
    const last = said?.split(",").at(-1)?.trim() ?? "";
    return isIP(last) === 0 ? (socket.remoteAddress ?? "") : last;
  }

  #ownGuard(): Guard {
    if (this.#guard === undefined) throw new Error("the listener is not open");
    return this.#guard;
  }
}

function isWebSocket({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "websocket";
}
