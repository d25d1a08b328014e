// Connects the loopback interface of a sandbox with the sockets of the forwarder, by socat.

import { forwarderMount } from "../mounts/bubblewrap-arguments.ts";

/** Where the bridges listen inside the sandbox. */
export const bridgePorts = { http: 3128, socks: 1080 } as const;

/** 127.0.0.1 and the port as /proc/net/tcp shows them, and the state that means "listening". */
const listening = (port: number) => `0100007F:${port.toString(16).toUpperCase().padStart(4, "0")}0A`;

/**
 * A line for `sh` that starts both bridges, waits until they listen, and becomes the command. The bridges belong to the
 * first process of the sandbox, so the command has no children that it did not start.
 */
export function bridgeLine(socat: string, setsid: string | undefined): string {
  // in a session of its own, so that Ctrl+C does not end it
  const start = `${setsid === undefined ? "" : `${quoted(setsid)} `}${quoted(socat)}`;
  const bridge = (port: number, socket: string) =>
    `(${start} TCP-LISTEN:${port},bind=127.0.0.1,fork,reuseaddr UNIX-CONNECT:${forwarderMount}/${socket} </dev/null >/dev/null 2>&1 &)`;
  const state = `parley_up() { while read -r _ a _ s _; do [ "$a$s" = "$1" ] && return 0; done </proc/net/tcp; return 1; }`;
  return [
    bridge(bridgePorts.http, "http.sock"),
    bridge(bridgePorts.socks, "socks.sock"),
    state,
    // socat that cannot start must not hold the command for ever
    "n=0",
    ...[bridgePorts.http, bridgePorts.socks].map(
      (port) => `until parley_up ${listening(port)} || [ $n -gt 20000 ]; do n=$((n+1)); done`,
    ),
    "unset -f parley_up",
    'exec "$@"',
  ].join("\n");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
