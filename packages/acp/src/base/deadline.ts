// Timers that accept any length, Infinity included.

// setTimeout fires at once for a longer time, and for a value that is not a number.
const longestMs = 2 ** 31 - 1;

export type Deadline = ReturnType<typeof setTimeout> | undefined;

/** Calls back after `ms`; never for Infinity. Stop it with `clearTimeout`. */
export function deadline(ms: number, callback: () => void): Deadline {
  milliseconds("deadline", ms);
  return ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(callback, Math.min(ms, longestMs));
}

/** The same, but it does not keep the process alive. */
export function backgroundDeadline(ms: number, callback: () => void): Deadline {
  const timer = deadline(ms, callback);
  // Node's timers are objects, a browser's are numbers
  if (typeof timer === "object") (timer as { unref?(): void }).unref?.();
  return timer;
}

/** Returns the value, or throws a TypeError when it is not a number of milliseconds. */
export function milliseconds(name: string, value: unknown): number {
  if (typeof value === "number" && !Number.isNaN(value)) return value;
  throw new TypeError(`${name}: expected a number of milliseconds or Infinity, got ${String(value)}`);
}
