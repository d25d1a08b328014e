// Loggers and taps only watch: one that throws or rejects must neither lose a message nor spoil an
// answer nor end the process.

import type { ConnectionOptions } from "./connection-options.ts";
import type { Log } from "./log.ts";
import { reportRejection } from "./promise-like.ts";

/** A logger that never throws. What it fails with is lost: there is nobody left to tell. */
export function guardedLog(log: Log | undefined): Log {
  if (log === undefined) return () => undefined;
  return (level, message, fields) => {
    try {
      const returned: unknown = log(level, message, fields);
      reportRejection(returned, () => undefined);
    } catch {
      // a broken logger must not break what it watches
    }
  };
}

export function guardedTap(tap: ConnectionOptions["tap"], log: Log): ConnectionOptions["tap"] {
  if (tap === undefined) return undefined;
  return (direction, text, fault) => {
    const failed = (error: unknown) => log("error", "a tap threw", { direction, error });
    try {
      const returned: unknown = tap(direction, text, fault);
      reportRejection(returned, failed);
    } catch (error) {
      failed(error);
    }
  };
}
