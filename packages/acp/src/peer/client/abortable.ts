// Stops waiting for work when a signal aborts.

import { abortable as stopWaiting } from "../../base/abortable.ts";
import { ConnectionError } from "../../jsonrpc/errors.ts";
import { checkSignal } from "./session/abort-signal.ts";

/** Rejects with "aborted" as soon as the signal aborts. The work goes on, and what it gives is dropped. */
export async function abortable<Result>(
  signal: AbortSignal | undefined,
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (signal === undefined) return work();
  checkSignal(what, signal);
  if (signal.aborted) throw abortError(signal, what);
  return stopWaiting(signal, work(), () => abortError(signal, what));
}

export function abortError(signal: AbortSignal, what: string): ConnectionError {
  return new ConnectionError("aborted", `${what}: aborted`, { cause: signal.reason });
}
