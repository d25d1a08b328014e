// Calls callbacks of the app so that one that throws or rejects disturbs nothing.

import { isPromiseLike } from "../base/objects.ts";
import type { ConnectionOptions, Log } from "./connection-options.ts";

/** Calls a callback and reports if it throws or if its promise rejects. */
export function callSafely(callback: () => unknown, report: (error: unknown) => void): void {
  try {
    reportRejection(callback(), report);
  } catch (error) {
    report(error);
  }
}

/** Reports the rejection of a promise that a callback returned although it should return nothing. */
export function reportRejection(returned: unknown, report: (error: unknown) => void): void {
  if (returned === undefined || !isPromiseLike(returned)) return;
  try {
    returned.then(undefined, report);
  } catch (error) {
    report(error);
  }
}

/** Returns a logger that never throws. Its own errors are dropped. */
export function guardedLog(log: Log | undefined): Log {
  if (log === undefined) return () => undefined;
  return (level, message, fields) =>
    callSafely(
      () => log(level, message, fields),
      () => undefined,
    );
}

export function guardedTap(tap: ConnectionOptions["tap"], log: Log): ConnectionOptions["tap"] {
  if (tap === undefined) return undefined;
  return (direction, text, fault) =>
    callSafely(
      () => tap(direction, text, fault),
      (error) => log("error", "a tap threw", { direction, error }),
    );
}
