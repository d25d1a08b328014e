// A timer that means what it says: setTimeout fires at once for anything beyond 2^31 - 1 ms, Infinity
// included, and for anything that is no number.

const longestMs = 2 ** 31 - 1;

export type Deadline = ReturnType<typeof setTimeout> | undefined;

/** Calls back after `ms`; never for Infinity. `clearTimeout` takes what it returns. */
export function deadline(ms: number, callback: () => void): Deadline {
  milliseconds("deadline", ms);
  return ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(callback, Math.min(ms, longestMs));
}

/** The same, but no process stays alive for it: what is waited for holds the process if it is still there. */
export function patience(ms: number, callback: () => void): Deadline {
  const timer = deadline(ms, callback);
  // Node's timers are objects, a browser's are numbers
  if (typeof timer === "object") (timer as { unref?(): void }).unref?.();
  return timer;
}

/** Throws a TypeError for what is no time, so that whoever set it learns it and not whoever waits. */
export function milliseconds(name: string, value: unknown): number {
  if (typeof value === "number" && !Number.isNaN(value)) return value;
  throw new TypeError(`${name}: got ${String(value)}, want a number of milliseconds or Infinity`);
}
