// A timer that means what it says: setTimeout fires at once for anything beyond 2^31 - 1 ms, Infinity
// included.

const longestMs = 2 ** 31 - 1;

export type Deadline = ReturnType<typeof setTimeout> | undefined;

/** Calls back after `ms`; never for Infinity. `clearTimeout` takes what it returns. */
export function deadline(ms: number, callback: () => void): Deadline {
  return ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(callback, Math.min(ms, longestMs));
}
