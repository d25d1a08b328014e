// Detects unencrypted HTTP and WebSocket addresses of other machines.

/**
 * Whether the host of an address is this machine. Judges by its name, without a lookup.
 *
 * @example
 * import { isLoopback } from "@parley/acp/transport";
 *
 * console.log(isLoopback(new URL("ws://127.0.0.1:8080/acp")));
 */
export function isLoopback(address: URL): boolean {
  const { hostname } = address;
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    // URL normalises every form of an IPv4 address to this one
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}

/**
 * Says why an address is unsafe: it is unencrypted and on another machine. Returns undefined for a safe one.
 *
 * @example
 * import { plainTextProblem } from "@parley/acp/transport";
 *
 * const problem = plainTextProblem("ws://agents.example.com/acp");
 * if (problem !== undefined) console.error(problem);
 */
export function plainTextProblem(address: string | URL): string | undefined {
  const url = new URL(address);
  const secure = { "http:": "https:", "ws:": "wss:" }[url.protocol];
  if (secure === undefined || isLoopback(url)) return undefined;
  return `${url.protocol}// to ${url.hostname} can be read and changed by anybody on the way; use ${secure}//`;
}
