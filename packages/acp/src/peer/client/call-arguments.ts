// Checks the arguments of calls to an agent, and stops waiting for calls that are aborted.

import { abortable as stopWaiting } from "../../base/abortable.ts";
import { checkOptions } from "../../base/known-options.ts";
import { callKeys } from "../../base/option-keys.gen.ts";
import { argumentText, ConnectionError } from "../../jsonrpc/errors.ts";
import type { SentHook } from "../../jsonrpc/pending-requests.ts";
import { checkSignal } from "./session/prompt-handle.ts";

/** Throws a TypeError for an option that does not exist. Those that a relay and this library add are no options. */
export function checkCall(
  method: string,
  { sent, ...options }: object & SentHook,
  known: Readonly<Record<string, true>> = callKeys,
): void {
  checkOptions(method, options, known);
}

/** Throws a TypeError for a path that is not absolute on any system: the agent's may not be ours. */
export function checkAbsolute(method: string, field: string, path: unknown): void {
  if (typeof path === "string" && /^(?:\/|\\\\|[a-z]:[\\/])/i.test(path)) return;
  throw new TypeError(
    `${method}: ${field} must be an absolute path such as "/home/me/project", got ${argumentText(path)}`,
  );
}

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
