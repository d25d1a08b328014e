// Resolves the host of a URL once, and refuses addresses of this machine and of private networks that the user did not name.

import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** What the user's own settings allow. */
export interface NetworkAccess {
  /** Private hosts, written as in a URL: `localhost:3000`, `localhost` for all its ports, or `*` for all. */
  readonly privateHosts: readonly string[];
  /** Resolves a name to all its addresses. Default: the system's resolver. */
  readonly addressesOf?: ((name: string) => Promise<readonly Address[]>) | undefined;
  /** The proxy for an address. Default: that of the environment. */
  readonly proxyOf?: ((url: URL) => string | undefined) | undefined;
}

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** A host that may not be used, or that does not exist. */
export class HostError extends Error {
  readonly isPrivate: boolean;

  constructor(message: string, { isPrivate, ...options }: ErrorOptions & { readonly isPrivate: boolean }) {
    super(message, options);
    this.name = "HostError";
    this.isPrivate = isPrivate;
  }
}

/** The addresses to connect to: a name may resolve to others the next time. Rejects with a HostError. */
export async function checkedAddresses(url: URL, access: NetworkAccess): Promise<readonly Address[]> {
  const literal = addressIn(url.hostname);
  const addresses =
    literal === undefined
      ? await (access.addressesOf ?? systemAddresses)(url.hostname).catch((cause: unknown) => {
          throw unknownHost(url, cause);
        })
      : [{ address: literal, family: literal.includes(":") ? (6 as const) : (4 as const) }];
  if (addresses.length === 0) throw unknownHost(url);
  if (isNamed(url, access)) return addresses;
  // one private address is enough to refuse, since any of them may be used
  if (addresses.every(({ address }) => isPublicAddress(address))) return addresses;
  throw new HostError(
    `${url.host} is an address of this machine or of a private network, which only the user's own settings can allow; add it to agent.privateHosts in the config`,
    { isPrivate: true },
  );
}

/**
 * Says why an address may not be used: its host is on this machine or in a private network, and `privateHosts` does not
 * name it. Returns undefined for an address that may be used, and for a host that does not exist.
 *
 * @param privateHosts - The setting `agent.privateHosts`: `localhost:3000`, `localhost` for all its ports, or `*` for all.
 * @param isResolving - False: looks up no name; of those without an address only `localhost` counts as private.
 *
 * @example
 * import { privateHostProblem } from "@parley/agent/config";
 *
 * const problem = await privateHostProblem(new URL("http://localhost:8080/mcp"), ["localhost:3000"]);
 * if (problem !== undefined) console.error(problem);
 */
export async function privateHostProblem(
  url: URL,
  privateHosts: readonly string[],
  isResolving = true,
): Promise<string | undefined> {
  try {
    await checkedAddresses(url, { privateHosts, ...(isResolving ? {} : { addressesOf: localAddresses }) });
    return undefined;
  } catch (error) {
    // an unknown host is for the agent to report
    return error instanceof HostError && error.isPrivate ? error.message : undefined;
  }
}

/** Without a lookup: only the names of this machine are known. */
async function localAddresses(name: string): Promise<Address[]> {
  return /^(?:.+\.)?localhost\.?$/.test(name) ? [{ address: "127.0.0.1", family: 4 }] : [];
}

/** Whether the user's own settings allow this host, wherever it is. */
export function isNamed(url: URL, { privateHosts }: NetworkAccess): boolean {
  return privateHosts.includes("*") || privateHosts.includes(url.host) || privateHosts.includes(url.hostname);
}

/** Whether a user may be led there: https, and http on this machine; no URL with credentials. */
export function isPage(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && /^(?:localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
}

function unknownHost(url: URL, cause?: unknown): HostError {
  return new HostError(`there is no host ${url.hostname}; check the address`, { isPrivate: false, cause });
}

async function systemAddresses(name: string): Promise<Address[]> {
  const found = await lookup(name, { all: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

const privateNetworks = [
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24",
  "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4",
  "2001::/23 2001:db8::/32 2002::/16 3fff::/20",
];

const notPublic = blockList(privateNetworks.join(" "));
const publicV6 = blockList("2000::/3");

function blockList(networks: string): BlockList {
  const list = new BlockList();
  for (const network of networks.split(" ")) {
    const [address = "", prefix] = network.split("/");
    list.addSubnet(address, Number(prefix), address.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}

/** `address` is a resolved IP address. */
function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic.check(address, "ipv4");
  if (family !== 6) return false;
  return publicV6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

/** The IP address in a URL's host; `[::1]` is ::1. */
function addressIn(host: string): string | undefined {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  return isIP(bare) === 0 ? undefined : bare;
}
