// Stops waiting for work when a signal aborts.

import { ConnectionError } from "@parley/acp";

/** The result of the work. Rejects with a ConnectionError of kind `aborted` when the signal aborts first. */
export async function abortable<Result>(
  signal: AbortSignal | undefined,
  work: Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = (): void =>
    reject(new ConnectionError("aborted", "the call was aborted", { cause: signal.reason }));
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
