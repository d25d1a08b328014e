// Plain HTTP and plain WebSocket are for the local machine only (H17): elsewhere anybody on the way reads the
// headers, and answers in the place of the agent.

/** Whether the host is this machine, by its name alone: nothing is looked up. */
export function isLoopback({ hostname }: URL): boolean {
  return (
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    hostname === "[::1]" ||
    // URL writes every form of an IPv4 address in this one
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}

/** Why this address should not be used as it is, or nothing. */
export function plainTextProblem(address: string | URL): string | undefined {
  const url = new URL(address);
  const secure = { "http:": "https:", "ws:": "wss:" }[url.protocol];
  if (secure === undefined || isLoopback(url)) return undefined;
  return `${url.protocol}// to ${url.hostname} can be read and changed by anybody on the way; ${secure}// is wanted beyond this machine`;
}
