// The clock of scripted peers, which tests can replace.

import { sleep } from "../base/sleep.ts";

export interface Clock {
  /** Resolves after the time, or when the signal aborts; never rejects. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const realClock: Clock = { sleep };
