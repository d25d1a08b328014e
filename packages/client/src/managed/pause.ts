// Waits until a time has passed or a signal aborts.

import { setTimeout } from "node:timers/promises";

/** True when the time has passed, false when the signal aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(ms, true, { signal }).catch(() => false);
}
