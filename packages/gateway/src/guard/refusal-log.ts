// Logs who was refused, and why. One line for each address and reason in ten seconds: a guesser must not fill a disk.

import type { Log } from "@parley/acp";

const everyMs = 10_000;
/** Further ones are logged together. */
const maxKnown = 1_000;

export interface Refused {
  readonly address: string;
  readonly status: number;
  readonly reason: string;
}

/** Returns what takes each refusal. */
export function refusalLog(log: Log): (refused: Refused) => void {
  /** How often each was refused since its last line. */
  const counts = new Map<string, number>();
  const say = (refused: Refused, times?: number) =>
    log("warn", "a request was refused", { ...refused, ...(times !== undefined && { times }) });
  return (given) => {
    const own = keyOf(given);
    const refused =
      counts.has(own) || counts.size < maxKnown ? given : { ...given, address: "many addresses" };
    const key = keyOf(refused);
    const before = counts.get(key);
    if (before !== undefined) return void counts.set(key, before + 1);
    counts.set(key, 0);
    say(refused);
    const timer = setTimeout(() => {
      const times = counts.get(key) ?? 0;
      counts.delete(key);
      if (times > 0) say(refused, times);
    }, everyMs);
    timer.unref();
  };
}

function keyOf({ address, status, reason }: Refused): string {
  return `${address} ${status} ${reason}`;
}
