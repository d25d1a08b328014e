// Detects unencrypted HTTP and WebSocket addresses of other machines.

/** Whether the host is this machine, judged by its name without a lookup. */
export function isLoopback({ hostname }: URL): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    // URL normalises every form of an IPv4 address to this one
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}

/** Why this address is unsafe, or undefined. */
export function plainTextProblem(address: string | URL): string | undefined {
  const url = new URL(address);
  const secure = { "http:": "https:", "ws:": "wss:" }[url.protocol];
  if (secure === undefined || isLoopback(url)) return undefined;
  return `${url.protocol}// to ${url.hostname} can be read and changed by anybody on the way; use ${secure}//`;
}
