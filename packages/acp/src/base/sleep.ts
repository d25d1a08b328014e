// Waits for a time or an abort.

import { deadline } from "./deadline.ts";

/** Resolves after `ms`, or when the signal aborts; never rejects. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = deadline(ms, done);
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}
