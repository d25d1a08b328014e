// Pings WebSockets, and drops those whose peer has gone without a word.

import type { WebSocket } from "ws";

export interface HeartbeatOptions {
  readonly pingMs: number;
  /** How long an answer may take. */
  readonly patienceMs: number;
}

/** More pings of a peer within one interval are an attack. */
const maxPings = 1_000;

/** Returns a function that stops it. */
export function heartbeat(
  sockets: ReadonlySet<WebSocket>,
  { pingMs, patienceMs }: HeartbeatOptions,
): { watch(socket: WebSocket): void; stop(): void } {
  const waiting = new Map<WebSocket, number>();
  const pings = new WeakMap<WebSocket, number>();
  let deadline: NodeJS.Timeout | undefined;
  const check = () => {
    for (const [socket, buffered] of waiting) {
      // a socket that is not read hears no answer, and one with a queue sends the ping late
      if (!socket.isPaused && (buffered === 0 || socket.bufferedAmount >= buffered)) socket.terminate();
    }
    waiting.clear();
  };
  const beat = () => {
    for (const socket of sockets) {
      if (socket.readyState !== socket.OPEN) continue;
      waiting.set(socket, socket.bufferedAmount);
      pings.set(socket, 0);
      socket.ping();
    }
    deadline = setTimeout(check, patienceMs);
    deadline.unref();
  };
  const interval = setInterval(beat, pingMs);
  interval.unref();
  return {
    watch(socket) {
      const alive = () => void waiting.delete(socket);
      socket.on("pong", alive);
      socket.on("message", alive);
      socket.on("close", alive);
      socket.on("ping", () => {
        const count = (pings.get(socket) ?? 0) + 1;
        pings.set(socket, count);
        if (count > maxPings) socket.close(1008, "too many pings");
      });
    },
    stop() {
      clearInterval(interval);
      clearTimeout(deadline);
    },
  };
}
