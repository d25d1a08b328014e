// Recognises public internet addresses; all others (loopback, private, cloud metadata) are not fetched.

import { BlockList, isIP } from "node:net";

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
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !notPublic.check(address, "ipv4");
  if (family !== 6) return false;
  return publicV6.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

/** The IP address in a URL's host; `[::1]` is ::1. */
export function addressIn(host: string): string | undefined {
  const bare = host.startsWith("[") ? host.slice(1, -1) : host;
  return isIP(bare) === 0 ? undefined : bare;
}
