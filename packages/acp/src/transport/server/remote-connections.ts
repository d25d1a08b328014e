// Answers the requests of remote clients, and keeps their connections.

import { backgroundDeadline, type Deadline, milliseconds } from "../../base/deadline.ts";
import { optional } from "../../base/objects.ts";
import { guardedLog } from "../../jsonrpc/callbacks.ts";
import { type Log, limitsFrom } from "../../jsonrpc/connection-options.ts";
import type { Transport } from "../../jsonrpc/transport.ts";
import { connectionProtocol, resumeProtocol, unknownConnectionCode } from "../counted-frames.ts";
import { SocketTransport, type WebSocketLike } from "../socket-transport.ts";
import { acceptsEvents, readPosted, refusal, requestProblem } from "./http-input.ts";
import {
  type Authorized,
  defaultRemoteLimits,
  type RemoteConnection,
  type RemoteLimits,
  type RemoteServerOptions,
  type ServedRouting,
  type ServingPeer,
} from "./remote-options.ts";
import { RemoteTransport } from "./remote-transport.ts";
import { ServedHttp } from "./served-http.ts";
import { ServedSocket } from "./served-socket.ts";

/** How to answer a request for a WebSocket. */
export interface SocketUpgrade {
  /** For the 101 response. */
  readonly headers: Readonly<Record<string, string>>;
  /** The subprotocol to choose; undefined to choose none. */
  readonly protocol: string | undefined;
  /** Takes the open socket: one of the package `ws`, or a standard one. Call it once, in the turn in which it opened. */
  accept(socket: WebSocketLike): void;
}

interface Entry extends Authorized {
  readonly connectionId: string;
  readonly http?: ServedHttp;
  readonly socket?: ServedSocket;
  readonly transport: RemoteTransport;
  peer?: ServingPeer;
}

/** The rules of the protocol that the server follows. */
export interface RemoteProtocol {
  /** Whether a connection begins with this message. */
  opens(message: unknown): boolean;
  routing(): ServedRouting;
}

/** A client over HTTP that has made no request for so long counts as cut off in the log. */
const httpGapMs = 2_000;

export class RemoteConnections {
  readonly #options: RemoteServerOptions;
  readonly #protocol: RemoteProtocol;
  readonly #path: string;
  readonly #limits: RemoteLimits;
  readonly #bodyLimits: RemoteLimits;
  readonly #times: Readonly<
    Record<"graceMs" | "heartbeatMs" | "patienceMs" | "stallMs" | "closeTimeoutMs", number>
  >;
  readonly #log: Log;
  readonly #entries = new Map<string, Entry>();
  /** Sockets whose first message has not come. */
  readonly #strangers = new Set<RemoteTransport>();
  #heart: ReturnType<typeof setInterval> | undefined;
  /** When the answers to the pings of a heartbeat should have come. */
  #pinged: Deadline;
  #closing: Promise<void> | undefined;
  /** No new connections. */
  #isStopping = false;

  constructor(options: RemoteServerOptions, protocol: RemoteProtocol) {
    this.#options = options;
    this.#protocol = protocol;
    this.#path = options.path ?? "/acp";
    this.#limits = limitsFrom(defaultRemoteLimits, options.limits);
    const { maxBodyBytes, maxMessageBytes } = this.#limits;
    this.#bodyLimits = { ...this.#limits, maxMessageBytes: Math.min(maxBodyBytes, maxMessageBytes) };
    this.#times = {
      graceMs: milliseconds("graceMs", options.graceMs ?? 600_000),
      heartbeatMs: milliseconds("heartbeatMs", options.heartbeatMs ?? 15_000),
      patienceMs: milliseconds("patienceMs", options.patienceMs ?? 5_000),
      stallMs: milliseconds("stallMs", options.stallMs ?? 60_000),
      closeTimeoutMs: milliseconds("closeTimeoutMs", options.closeTimeoutMs ?? 1_000),
    };
    this.#log = guardedLog(options.log);
  }

  get connections(): readonly RemoteConnection[] {
    return [...this.#entries.values()].map(({ connectionId, principal, http, transport }) => ({
      connectionId,
      principal,
      kind: http === undefined ? "websocket" : "http",
      isAttached: transport.attachment.isAttached,
      detachedAt: transport.detachedAt,
    }));
  }

  async fetch(request: Request): Promise<Response> {
    const isKnown = ["GET", "POST", "DELETE"].includes(request.method);
    const who = await this.#admit(request, isKnown, request.headers.get("acp-connection-id"));
    if (who instanceof Response) return who;
    if (request.method === "POST") return this.#post(request, who);
    if (request.method === "GET") return this.#get(request, who);
    return this.#delete(request, who);
  }

  async upgrade(request: Request): Promise<SocketUpgrade | Response> {
    const offered = (request.headers.get("sec-websocket-protocol") ?? "")
      .split(",")
      .map((name) => name.trim());
    const canResume = offered.includes(resumeProtocol);
    const protocol = canResume ? resumeProtocol : offered.find((name) => name === "acp");
    const named = offered
      .find((name) => name.startsWith(connectionProtocol))
      ?.slice(connectionProtocol.length);
    const id = request.headers.get("acp-connection-id") ?? named ?? null;
    const who = await this.#admit(request, request.method === "GET", id);
    if (who instanceof Response) return who;
    if (id === null)
      return this.#isStopping ? shutDown() : this.#newSocket(request, who, canResume, protocol);
    return {
      headers: { "Acp-Connection-Id": id },
      protocol,
      accept: (socket) => {
        const known = this.#find(id, who);
        if (canResume && known?.socket?.canResume && !known.transport.isOver) known.socket.attach(socket);
        else socket.close(unknownConnectionCode, "unknown connection; open a new one");
      },
    };
  }

  /** Connections go on; new ones get 503. */
  stopAccepting(): void {
    this.#isStopping = true;
  }

  close(reason = "the server shuts down"): Promise<void> {
    this.stopAccepting();
    for (const transport of this.#strangers) transport.end({ kind: "closed", message: reason });
    this.#closing ??= Promise.all(
      [...this.#entries.values()].map(async ({ peer, transport }) => {
        transport.wire.leaving(reason);
        // one that throws must not keep the others
        await peer
          ?.close(reason)
          .catch((error: unknown) => this.#log("error", "close() rejected", { error }));
        await transport.close();
      }),
    ).then(() => undefined);
    return this.#closing;
  }

  /** Returns the sender, or a refusal. A client that names a connection is told of its end, even when the server shuts down. */
  async #admit(request: Request, isKnown: boolean, id: string | null): Promise<Authorized | Response> {
    if (new URL(request.url).pathname !== this.#path)
      return refusal(404, `not found; the agent is at ${this.#path}`);
    if (!isKnown) return refusal(405, "expected GET, POST or DELETE", { Allow: "GET, POST, DELETE" });
    if (this.#closing !== undefined && id === null) return shutDown();
    return (await this.#options.authorize?.(request)) ?? {};
  }

  async #post(request: Request, who: Authorized): Promise<Response> {
    const posted = await readPosted(request, this.#bodyLimits).catch(() =>
      refusal(408, "the body was cut off"),
    );
    if (posted instanceof Response) return posted;
    const id = request.headers.get("acp-connection-id");
    if (this.#protocol.opens(posted.message)) {
      if (id !== null)
        return refusal(400, "this connection is initialized already; a new one has no Acp-Connection-Id");
      const problem = requestProblem(posted.message);
      if (problem !== undefined) return refusal(400, `expected initialize to be a request, got ${problem}`);
      if (this.#isStopping) return shutDown();
      return this.#openHttp(request, who).open(posted, request.signal);
    }
    const isPlain = id === null;
    const http = isPlain ? this.#plain(posted.message, who) : this.#find(id, who)?.http;
    if (http !== undefined && !http.transport.isOver) return http.post(posted, request.headers, isPlain);
    return isPlain ? noName("message") : unknown();
  }

  #get(request: Request, who: Authorized): Response {
    if (request.headers.get("upgrade")?.toLowerCase() === "websocket")
      return refusal(400, "WebSockets are not served here; use POST and event streams");
    if (!acceptsEvents(request)) return refusal(406, "expected to be asked for text/event-stream");
    const id = request.headers.get("acp-connection-id");
    if (id === null)
      return refusal(
        400,
        "expected Acp-Connection-Id; the older SSE transport is not served: POST initialize first, then GET with the id of its answer",
      );
    return this.#find(id, who)?.http?.stream(request.headers) ?? unknown();
  }

  #delete(request: Request, who: Authorized): Response {
    const id = request.headers.get("acp-connection-id");
    if (id === null) return noName("DELETE");
    const found = this.#find(id, who);
    if (found === undefined || found.transport.isOver) return unknown();
    found.transport.end({ kind: "closed", message: "the client ended the connection" });
    return new Response(null, { status: 202 });
  }

  /** Another principal's connection is as unknown as none. */
  #find(id: string, { principal }: Authorized): Entry | undefined {
    const entry = this.#entries.get(id);
    return entry?.principal === principal ? entry : undefined;
  }

  /** The connection of a client that knows only POST: the one that has its session, or the newest that reads no stream. */
  #plain(message: object, { principal }: Authorized): ServedHttp | undefined {
    if (!this.#options.plainPost) return undefined;
    let found: ServedHttp | undefined;
    for (const entry of this.#entries.values()) {
      const fits = entry.principal === principal ? entry.http?.mayTake(message) : undefined;
      if (fits === "own") return entry.http;
      if (fits === "perhaps") found = entry.http;
    }
    return found;
  }

  #openHttp(request: Request, who: Authorized): ServedHttp {
    const connectionId = randomId();
    const { graceMs, heartbeatMs, closeTimeoutMs } = this.#times;
    const http = new ServedHttp({
      connectionId,
      routing: this.#protocol.routing(),
      limits: this.#limits,
      graceMs,
      heartbeatMs,
      closeTimeoutMs,
      over: () => this.#forget(connectionId),
    });
    this.#serve({ connectionId, ...optional(who), http, transport: http.transport }, request);
    return http;
  }

  #newSocket(
    request: Request,
    who: Authorized,
    canResume: boolean,
    protocol: string | undefined,
  ): SocketUpgrade {
    const connectionId = randomId();
    const { graceMs, closeTimeoutMs } = this.#times;
    return {
      headers: { "Acp-Connection-Id": connectionId },
      protocol,
      accept: (accepted) => {
        const limits = this.#limits;
        if (this.#isStopping)
          return new SocketTransport(accepted, { limits, closeTimeoutMs }).drop(
            1001,
            "the server shuts down",
          );
        const times = { graceMs, closeTimeoutMs };
        const begin = (value: unknown) => {
          if (!this.#protocol.opens(value)) return false;
          this.#strangers.delete(transport);
          this.#serve({ connectionId, ...optional(who), socket, transport }, request);
          return true;
        };
        const transport = new RemoteTransport(
          (host) => new ServedSocket(host, { connectionId, canResume, limits, begin, ...times }),
          graceMs,
          () => {
            this.#strangers.delete(transport);
            this.#forget(connectionId);
          },
        );
        this.#strangers.add(transport);
        this.#beat();
        const socket = transport.wire;
        socket.attach(accepted);
      },
    };
  }

  #serve(entry: Entry, request: Request): void {
    const { connectionId, principal, transport } = entry;
    this.#entries.set(connectionId, entry);
    this.#logCuts(entry);
    this.#beat();
    try {
      const opened = { connectionId, request, ...optional({ principal }) };
      // the interface of a transport and no more
      entry.peer = this.#options.connect(transport satisfies Transport, opened);
    } catch (error) {
      this.#log("error", "connect() threw", { connectionId, error });
      const message = error instanceof Error ? error.message : "the agent could not be started";
      queueMicrotask(() => transport.end({ kind: "closed", message }));
    }
  }

  #logCuts({ connectionId, http, transport: { attachment } }: Entry): void {
    let isTold = false;
    let late: Deadline;
    const tell = (words: string) => {
      isTold = !attachment.isAttached;
      this.#log("info", words, { connectionId });
    };
    attachment.onChange(() => {
      clearTimeout(late);
      if (attachment.isAttached && isTold) tell("the client is back");
      if (attachment.isAttached) return;
      // between the requests of a client over HTTP there is none for a moment
      const lost = () => {
        // between its requests there is nothing that could be cut
        if (!http?.isPlain) tell("the client was cut off");
      };
      if (http === undefined) lost();
      else late = backgroundDeadline(httpGapMs, lost);
    });
  }

  #forget(connectionId: string): void {
    const reason = this.#entries.get(connectionId)?.transport.overFor;
    if (this.#entries.delete(connectionId))
      this.#log("info", "the connection has ended", { connectionId, ...optional({ reason }) });
    if (this.#entries.size > 0 || this.#strangers.size > 0) return;
    clearInterval(this.#heart);
    this.#heart = undefined;
    clearTimeout(this.#pinged);
  }

  /** One timer for all connections. */
  #beat(): void {
    const { heartbeatMs, patienceMs, stallMs } = this.#times;
    if (this.#heart !== undefined || heartbeatMs === Number.POSITIVE_INFINITY) return;
    this.#heart = setInterval(() => {
      for (const { wire } of this.#transports()) wire.beat(stallMs);
      clearTimeout(this.#pinged);
      this.#pinged = backgroundDeadline(Math.min(patienceMs, heartbeatMs / 2), () => {
        for (const { wire } of this.#transports()) wire.checkPing();
      });
    }, heartbeatMs);
    // Node's timers are objects; this one alone must not keep the process alive
    if (typeof this.#heart === "object") (this.#heart as { unref?(): void }).unref?.();
  }

  #transports(): readonly RemoteTransport[] {
    return [...[...this.#entries.values()].map(({ transport }) => transport), ...this.#strangers];
  }
}

/** 128 random bits. */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function noName(what: string): Response {
  return refusal(
    400,
    `expected Acp-Connection-Id with this ${what}; initialize is the only message without it`,
  );
}

function shutDown(): Response {
  return refusal(503, "the server shuts down", { "Retry-After": "1" });
}

function unknown(): Response {
  return refusal(404, "unknown connection; open a new one");
}
