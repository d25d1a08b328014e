// Reports an agent that works on a prompt and sends nothing.

import type { ManagedProcess } from "./managed-process.ts";

/** Reports each silence once: a whole interval in which the agent was read and `count` did not change. */
export function watchSilence(process: ManagedProcess, count: () => number): NodeJS.Timeout {
  const { quietMs = 30_000, onEvent } = process.options;
  let reported = -1;
  let seen = count();
  return setInterval(() => {
    const now = count();
    if (seen === now && reported !== now && !process.isPaused) {
      reported = now;
      onEvent?.({ kind: "quiet", ms: quietMs });
    }
    seen = now;
  }, quietMs);
}
