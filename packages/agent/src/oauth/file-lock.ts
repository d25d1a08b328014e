// A lock between processes: a file that one of them has claimed.

import { setTimeout as pause } from "node:timers/promises";
import { claimFile } from "@parley/acp/node";

const pollMs = 25;
/** Work under a lock has its own timeouts, which are shorter. */
const longestMs = 2 * 60_000;

/** Waits until nobody else holds the lock. Rejects when the signal aborts, or when it is held for two minutes. */
export async function withFileLock<Result>(
  path: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const until = performance.now() + longestMs;
  let claim = claimFile(path);
  while (claim === undefined) {
    if (performance.now() > until)
      throw new Error(`${path} is held by another process; if no agent is running, delete it`);
    await pause(pollMs, undefined, signal && { signal });
    claim = claimFile(path);
  }
  try {
    return await work();
  } finally {
    claim.release();
  }
}
