// A transport that its connection and its owner can pause independently.

import type { Transport } from "@parley/acp";
import { wrapTransport } from "@parley/acp/internal";

export interface PausableTransport {
  readonly transport: Transport;
  pause(): void;
  resume(): void;
}

/** It is read while neither has paused it. */
export function pausableTransport(inner: Transport): PausableTransport {
  const pausedBy = new Set<"connection" | "owner">();
  const control = (who: "connection" | "owner") => ({
    pause() {
      pausedBy.add(who);
      inner.pause();
    },
    resume() {
      pausedBy.delete(who);
      if (pausedBy.size === 0) inner.resume();
    },
  });
  return { transport: wrapTransport(inner, control("connection")), ...control("owner") };
}
