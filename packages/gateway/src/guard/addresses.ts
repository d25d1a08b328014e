// The addresses that a gateway listens on and is called by.

import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";

const loopbackNames: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Whether only this machine can connect to it. */
export function isLoopbackAddress(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** The host as it stands in an address. */
export function hostInUrl(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/** Where clients find a server of this name, which may have a port of its own: that of a proxy, or a forwarded one. */
export function addressAt(scheme: "http" | "https", name: string, port: number, path: string): string {
  return new URL(`${scheme}://${/:\d+$/.test(name) ? name : `${name}:${port}`}${path}`).href;
}

/**
 * Tells whether a value of `Host` is meant for us. A page whose name was made to point to this machine (DNS rebinding) sends
 * its own name. Those that are given may omit the port, as browsers and proxies do for 80 and 443. The names of this machine
 * for itself may have any port: nobody can make them point elsewhere, and a port that ssh forwards has another number.
 */
export function ownHosts(host: string, port: number, given: readonly string[]): (value: string) => boolean {
  const names = new Set([...namesOf(host), ...given.map((name) => name.toLowerCase())]);
  const known = new Set([
    ...[...names].map((name) => `${name}:${port}`),
    ...given.map((name) => name.toLowerCase()),
  ]);
  return (value) => {
    const name = value.toLowerCase();
    return known.has(name) || (/:\d{1,5}$/.test(name) && loopbackNames.has(name.replace(/:\d+$/, "")));
  };
}

function namesOf(host: string): string[] {
  if (host !== "0.0.0.0" && host !== "::") return [hostInUrl(host).toLowerCase()];
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return [hostname().toLowerCase(), ...addresses.map(({ address }) => hostInUrl(address))];
}
