// Awaits a promise until a signal aborts.

/** Rejects with the signal's reason as soon as it aborts; the promise's own outcome is then ignored. */
export async function abortable<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
    work.catch(() => undefined);
    promise.catch(() => undefined);
  }
}
