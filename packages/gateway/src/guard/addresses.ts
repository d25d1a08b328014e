// The addresses that a gateway listens on and is called by.

import { isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";

const loopbackNames = ["localhost", "127.0.0.1", "[::1]"];

/** Whether only this machine can connect to it. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** The host as it stands in an address. */
export function hostInUrl(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

/**
 * The values of `Host` that are meant for us. A page whose name was made to point to this machine (DNS rebinding) sends
 * its own name. Those that are given may omit the port, as browsers and proxies do for 80 and 443.
 */
export function ownHosts(host: string, port: number, given: readonly string[]): ReadonlySet<string> {
  const names = new Set([...loopbackNames, ...namesOf(host), ...given.map((name) => name.toLowerCase())]);
  const withPort = [...names].map((name) => `${name}:${port}`);
  return new Set([...withPort, ...given.map((name) => name.toLowerCase())]);
}

function namesOf(host: string): string[] {
  if (host !== "0.0.0.0" && host !== "::") return [hostInUrl(host).toLowerCase()];
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return [hostname().toLowerCase(), ...addresses.map(({ address }) => hostInUrl(address))];
}
