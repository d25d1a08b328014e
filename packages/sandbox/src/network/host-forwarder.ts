// Lets sandboxed programs reach the hosts that a function allows. The proxies are those of @anthropic-ai/sandbox-runtime.

import { mkdtemp, open as openFolder, rm } from "node:fs/promises";
import { createServer, type LookupFunction, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkOptions } from "@parley/acp/jsonrpc";
import { realPath } from "../guard/path-facts.ts";

/** Decides about one connection. A refused connection fails in the program that opened it. */
export type DecideHost = (host: string, port: number) => boolean | Promise<boolean>;

/** What a forwarder is created with. */
export interface HostForwarderOptions {
  /** Called for every connection, with the host in its normal form: lower case, addresses in full. */
  readonly decide: DecideHost;
  /** Addresses and ranges (`10.0.0.0/8`) to which the name of an allowed host may lead although they are private. */
  readonly privateAddresses?: readonly string[] | undefined;
  /** Called if a host was allowed, but its name leads nowhere, or to a private address, the host itself or a cloud's metadata. */
  readonly onUnreachable?: ((host: string, port: number, reason: string) => void) | undefined;
}

/** The way to the hosts that are allowed, for all commands of a session. */
export interface HostForwarder extends AsyncDisposable {
  /** The folder with its sockets, which a sandbox mounts. Only this user can enter it. */
  readonly folder: string;
  /** Ends all connections and removes the sockets. */
  close(): Promise<void>;
}

/** Networks that are not public. The library adds loopback, link-local and metadata addresses, and those of this host. */
const privateNetworks = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"];

/**
 * Opens a forwarder. Sandboxes that get it as `network` reach the hosts that `decide` allows and no others.
 *
 * @param options - The function that decides, and the private addresses that are allowed.
 * @example
 * ```ts
 * import { hostForwarder, openSandbox } from "@parley/sandbox";
 *
 * await using network = await hostForwarder({ decide: (host, port) => host === "example.org" && port === 443 });
 * await using sandbox = await openSandbox({ roots: [process.cwd()], network });
 * ```
 */
export async function hostForwarder(options: HostForwarderOptions): Promise<HostForwarder> {
  checkOptions("hostForwarder", options, forwarderKeys);
  const [{ createHttpProxyServer }, { createSocksProxyServer }, { canonicalizeHost }, guards] =
    await Promise.all([
      import("@anthropic-ai/sandbox-runtime/dist/sandbox/http-proxy.js"),
      import("@anthropic-ai/sandbox-runtime/dist/sandbox/socks-proxy.js"),
      import("@anthropic-ai/sandbox-runtime/dist/sandbox/parent-proxy.js"),
      import("@anthropic-ai/sandbox-runtime/dist/sandbox/resolved-address-guard.js"),
    ]);
  const guard = guards.createResolvedAddressGuard({
    deniedResolvedAddresses: privateNetworks,
    allowedDomains: [...(options.privateAddresses ?? [])],
  });
  const filter = async (port: number, host: string) => {
    const name = canonicalizeHost(host);
    // what cannot be named exactly cannot be decided
    return name !== undefined && options.decide(name, port);
  };
  const lookupFor = (port: number): LookupFunction => {
    const lookup = guard.lookupFor(port);
    return (host, settings, callback) =>
      lookup(host, settings, (error, ...found) => {
        if (guards.isResolvedAddressDenied(error)) options.onUnreachable?.(host, port, error.reason);
        else if (error !== null)
          options.onUnreachable?.(host, port, `its name has no address (${error.code})`);
        callback(error, ...found);
      });
  };
  // without links, as mounts need it
  const folder = await mkdtemp(join(realPath(tmpdir()) ?? tmpdir(), "parley-hosts-"));
  const handle = await openFolder(folder);
  const http = createHttpProxyServer({ filter, lookupFor });
  const socks = createSocksProxyServer({ filter, lookupFor });
  const socksServer = createServer((socket) => socks.handleConnection(socket));
  const open = new Set<Socket>();
  const servers: readonly Server[] = [http, socksServer];
  for (const server of servers) {
    server.on("connection", (socket: Socket) => {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    });
  }
  let closed: Promise<void> | undefined;
  const close = async () => {
    const ended = servers.map((server) => new Promise((resolve) => server.close(resolve)));
    for (const socket of open) socket.destroy();
    await Promise.all([...ended, socks.close()]);
    await handle.close();
    await rm(folder, { recursive: true, force: true });
  };
  const forwarder: HostForwarder = {
    folder,
    close: () => (closed ??= close()),
    [Symbol.asyncDispose]: () => forwarder.close(),
  };
  try {
    await Promise.all([
      listen(http, socketPath(folder, handle.fd, "http.sock")),
      listen(socksServer, socketPath(folder, handle.fd, "socks.sock")),
    ]);
  } catch (error) {
    await forwarder.close();
    throw error;
  }
  return forwarder;
}

/** The system takes no longer path for a socket. */
const longestSocketPath = 107;

/** A path of a socket in a folder that may have a long name, as long as the folder is open. */
function socketPath(folder: string, descriptor: number, name: string): string {
  const path = join(folder, name);
  return Buffer.byteLength(path) > longestSocketPath ? `/proc/self/fd/${descriptor}/${name}` : path;
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    // it must not keep the process alive: its session does
    server.listen(path, resolve).unref();
  });
}

const forwarderKeys: Readonly<Record<keyof HostForwarderOptions, true>> = {
  decide: true,
  privateAddresses: true,
  onUnreachable: true,
};
