// startGateway(): serves an agent on a port, safe by default.

import type { Log } from "@parley/acp";
import { argumentText } from "@parley/acp/internal";
import { checkOptions, optional } from "@parley/acp/jsonrpc";
import { type RemoteConnection, type RemoteServerOptions, remoteServer } from "@parley/acp/server";
import { addressAt, hostInUrl, isLoopbackAddress, ownHosts } from "./guard/addresses.ts";
import { Guard } from "./guard/guard.ts";
import { refusalLog } from "./guard/refusal-log.ts";
import { randomToken, tokenProblem } from "./guard/token.ts";
import { loggedConnection } from "./listener/connection-log.ts";
import { Listener, type ListenerLimits } from "./listener/listener.ts";

/** The limits of a gateway. */
export interface GatewayLimits {
  /** Bytes of the largest message. Default 32 MiB. */
  readonly maxBodyBytes: number;
  /** How long a body may take, in milliseconds. Default 30,000. */
  readonly bodyTimeoutMs: number;
  /** Open sockets. Default 4,096. */
  readonly maxSockets: number;
  /** Sockets without a request that had the token. The oldest make room for new ones. Default 256. */
  readonly maxStrangers: number;
  /** How long a socket may take until such a request, and for the head of each later one, in milliseconds. Default 10,000. */
  readonly strangerMs: number;
}

const defaultLimits: GatewayLimits = {
  maxBodyBytes: 32 * 1024 * 1024,
  bodyTimeoutMs: 30_000,
  maxSockets: 4_096,
  maxStrangers: 256,
  strangerMs: 10_000,
};

/** The options of `startGateway`. */
export interface GatewayOptions
  extends Pick<
    RemoteServerOptions,
    "connect" | "graceMs" | "heartbeatMs" | "patienceMs" | "plainPost" | "stallMs"
  > {
  /** The address to listen on. Default "127.0.0.1". Others need `tls` or `behindProxy`. */
  readonly host?: string | undefined;
  /** The port. Default 0: any free one. */
  readonly port?: number | undefined;
  /** Where clients find the agent. Default "/acp". */
  readonly path?: string | undefined;
  /**
   * The token that every client must have, at least 32 characters. Default: a random one. A client that has it is the
   * local user: `connect` is given no principal.
   */
  readonly token?: string | undefined;
  /** Certificate and key, as PEM. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Whether a proxy in front encrypts, and says in `X-Forwarded-For` who calls. Default false. */
  readonly behindProxy?: boolean | undefined;
  /** The origins of web pages that may connect, as `https://app.example.org`. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** Names by which clients call this server, beside its address. */
  readonly allowedHosts?: readonly string[] | undefined;
  /** Sizes, counts and times. */
  readonly limits?: Partial<GatewayLimits> | undefined;
  /** Receives what happens. It is never given a token. */
  readonly log?: Log | undefined;
}

/** A running gateway. */
export interface Gateway {
  /** The address for clients, without the token. */
  readonly url: string;
  /** The port that it listens on. */
  readonly port: number;
  /** The token that clients need. */
  readonly token: string;
  /** The connections, attached and detached. */
  readonly connections: readonly RemoteConnection[];
  /** New clients are refused from now on; those that are connected go on. */
  stopAccepting(): void;
  /** Closes all connections and the port. */
  close(reason?: string): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const known: Readonly<Record<keyof GatewayOptions, true>> = {
  connect: true,
  graceMs: true,
  heartbeatMs: true,
  patienceMs: true,
  plainPost: true,
  stallMs: true,
  host: true,
  port: true,
  path: true,
  token: true,
  tls: true,
  behindProxy: true,
  allowedOrigins: true,
  allowedHosts: true,
  limits: true,
  log: true,
};

/** A value of an option that `startGateway()` does not accept. */
export class GatewayOptionError extends TypeError {
  /** Always "GatewayOptionError". */
  override readonly name = "GatewayOptionError";
  /** The option. For `host` the connection would not be encrypted. */
  readonly option: "token" | "host" | "allowedOrigins" | "allowedHosts";
  /** The message without the name of the function. */
  readonly reason: string;

  constructor(option: GatewayOptionError["option"], reason: string) {
    super(`startGateway: ${reason}`);
    this.option = option;
    this.reason = reason;
  }
}

function check(option: GatewayOptionError["option"], problem: string | undefined): void {
  if (problem !== undefined) throw new GatewayOptionError(option, problem);
}

/**
 * Serves an agent over HTTP/1.1, HTTP/2 and WebSocket on one port of Node. Clients need the token. Pages in a browser
 * and requests for other host names are refused unless they are listed. It does not start without encryption on an address
 * that other machines reach.
 *
 * @param options `connect` serves each connection; the rest has safe defaults.
 * @returns The gateway, when it listens.
 * @throws {TypeError} When an option is unknown.
 * @throws {GatewayOptionError} When the token is weak, the address would not be encrypted, or a name cannot be one.
 * @example
 * import { agent } from "@parley/acp";
 * import { startGateway } from "@parley/gateway";
 *
 * const echo = agent({ name: "echo", version: "1.0.0", prompt: (turn) => turn.say(turn.text) });
 * await using gateway = await startGateway({ connect: (transport) => echo.connect(transport) });
 * console.log(gateway.url); // http://127.0.0.1:41234/acp
 */
export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  checkOptions("startGateway", options, known);
  const { host = "127.0.0.1", path = "/acp", tls, behindProxy = false, token = randomToken() } = options;
  check("token", tokenProblem(token));
  check("host", addressProblem(host, tls !== undefined || behindProxy));
  check("allowedOrigins", originsProblem(options.allowedOrigins));
  check("allowedHosts", hostsProblem(options.allowedHosts));
  const { connect, graceMs, heartbeatMs, patienceMs, plainPost, stallMs, log = () => undefined } = options;
  const limits: ListenerLimits = { ...defaultLimits, ...optional(options.limits ?? {}) };
  const { maxBodyBytes } = limits;
  const server = remoteServer({
    connect: (transport, opened) =>
      connect(loggedConnection(transport, opened, listener.addressOf(opened.request), log), opened),
    path,
    ...optional({ graceMs, heartbeatMs, patienceMs, plainPost, stallMs }),
    limits: { maxBodyBytes, maxMessageBytes: maxBodyBytes },
    log,
  });
  const refused = refusalLog(log);
  const listener: Listener = new Listener({
    host,
    port: options.port ?? 0,
    tls,
    path,
    behindProxy,
    server,
    limits,
    log,
    refused,
  });
  const port = await listener.open(
    (opened) =>
      new Guard({
        path,
        token,
        isOwnHost: ownHosts(host, opened, options.allowedHosts ?? []),
        origins: new Set(options.allowedOrigins),
        now: () => performance.now(),
        refused,
      }),
  );
  let closing: Promise<void> | undefined;
  const close = (reason?: string) => {
    listener.stopAccepting();
    closing ??= server.close(reason).then(() => listener.close());
    return closing;
  };
  const name =
    host === "0.0.0.0" || host === "::" ? (options.allowedHosts?.[0] ?? "localhost") : hostInUrl(host);
  return {
    url: addressAt(tls ? "https" : "http", name, port, path),
    port,
    token,
    get connections() {
      return server.connections;
    },
    // the port stays open: clients over HTTP/1.1 need new sockets for their answers
    stopAccepting() {
      listener.stopping();
      server.stopAccepting();
    },
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

/** One that nobody sends would allow nobody, and nothing would say why. */
function originsProblem(origins: readonly string[] = []): string | undefined {
  const origin = origins.find((each) => !URL.canParse(each) || new URL(each).origin !== each);
  return origin === undefined
    ? undefined
    : `expected origins such as https://app.example.org in allowedOrigins, got ${argumentText(origin)}`;
}

function hostsProblem(hosts: readonly string[] = []): string | undefined {
  const host = hosts.find((each) => !URL.canParse(`http://${each}/`) || !/^[^/?#@\\\s]+$/.test(each));
  return host === undefined
    ? undefined
    : `expected names such as agents.example.org in allowedHosts, got ${argumentText(host)}`;
}

function addressProblem(host: string, isEncrypted: boolean): string | undefined {
  if (isLoopbackAddress(host) || isEncrypted) return undefined;
  return `other machines reach ${host}, and the token would go there in plain text; give a certificate, or say that an encrypting proxy is in front`;
}
