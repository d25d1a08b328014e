// Reports an agent that works on a prompt and sends nothing.

import type { SessionHost } from "./session-host.ts";

/** Reports each silence once: a whole interval in which the agent was read and `count` did not change. */
export function watchSilence(host: SessionHost, count: () => number): NodeJS.Timeout {
  const { quietMs = 30_000, onEvent } = host.options;
  let reported = -1;
  let seen = count();
  return setInterval(() => {
    const now = count();
    if (seen === now && reported !== now && !host.isPaused) {
      reported = now;
      onEvent?.({ kind: "quiet", ms: quietMs });
    }
    seen = now;
  }, quietMs);
}
