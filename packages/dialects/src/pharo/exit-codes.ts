// The exit of a terminal, a number in the dialect and a code or a signal in version 1, and how long to wait for it.

import { detailsOf, withDetails } from "../exchange/details.ts";
import type { Fields } from "../exchange/exchange.ts";

/** Whole milliseconds, and no more than timers can wait. */
export function wholeWait(ms: number): number {
  return Math.min(Math.max(0, Math.round(ms)), 2 ** 31 - 1);
}

/** Undefined while the command runs. Version 1 has no number below 0, which stands for a signal. */
export function exitStatusOf(exitCode: unknown): Fields | undefined {
  if (typeof exitCode !== "number") return undefined;
  return exitCode >= 0 ? { exitCode } : { exitCode: null, ...withDetails({}, { exitCode }) };
}

/** A signal is -1: null would mean that the command runs. */
export function exitCodeOf(status: Fields): number {
  const { exitCode } = status;
  if (typeof exitCode === "number") return exitCode;
  const before = detailsOf(status)["exitCode"];
  return typeof before === "number" ? before : -1;
}
