/** Writes a host with its port, as rules do: an IPv6 address stands in brackets. */
export function hostWithPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
