// Waits for some time, and stops waiting for a promise after some time or when a signal aborts.

import { deadline } from "./deadline.ts";

/**
 * Stops waiting for a promise after some time, or when a signal aborts. The work itself goes on.
 *
 * @param ms - Milliseconds; `Infinity` for no limit.
 * @returns The promise's value; undefined if it has not settled by then.
 * @throws {TypeError} When `ms` is not a number.
 *
 * @example
 * import { withTimeout } from "@parley/acp/jsonrpc";
 *
 * const answer = await withTimeout(5_000, fetch("https://example.com"));
 * if (answer === undefined) console.error("example.com does not answer.");
 */
export async function withTimeout<Value>(
  ms: number,
  promise: Promise<Value>,
  signal?: AbortSignal,
): Promise<Value | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const stop = () => resolve(undefined);
  const timer = deadline(ms, stop);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/**
 * Stops waiting for a promise when a signal aborts. The work itself goes on.
 *
 * @param signal - Undefined waits for as long as it takes.
 * @param reason - Makes the error. Default: the signal's reason.
 * @returns The promise's value. Rejects as soon as the signal aborts.
 *
 * @example
 * import { abortable } from "@parley/acp/jsonrpc";
 *
 * export const answerWithin = (signal: AbortSignal) => abortable(signal, fetch("https://example.com"));
 */
export async function abortable<Value>(
  signal: AbortSignal | undefined,
  promise: Promise<Value>,
  reason: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<Value> {
  if (signal === undefined) return promise;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(reason(signal));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Resolves after `ms` milliseconds, or when the signal aborts. It never rejects.
 *
 * @example
 * import { sleep } from "@parley/acp/jsonrpc";
 *
 * await sleep(1_000, AbortSignal.timeout(500));
 */
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
