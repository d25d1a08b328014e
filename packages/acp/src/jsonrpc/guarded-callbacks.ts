// Wraps loggers and taps so that one that throws or rejects disturbs nothing.

import type { ConnectionOptions } from "./connection-options.ts";
import type { Log } from "./log.ts";
import { reportRejection } from "./promise-like.ts";

/** Returns a logger that never throws. Its own errors are dropped. */
export function guardedLog(log: Log | undefined): Log {
  if (log === undefined) return () => undefined;
  return (level, message, fields) => {
    try {
      const returned: unknown = log(level, message, fields);
      reportRejection(returned, () => undefined);
    } catch {
      // nowhere to report it
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
