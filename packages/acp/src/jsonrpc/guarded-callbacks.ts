// Wraps loggers and taps so that one that throws or rejects disturbs nothing.

import type { ConnectionOptions } from "./connection-options.ts";
import type { Log } from "./log.ts";
import { callSafely } from "./promise-like.ts";

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
