// Recognises sessions that another process is using.

import { RequestError } from "@parley/acp";
import { safeLine } from "../terminal/sanitise.ts";
import { exitCodes, RunError } from "./run-ending.ts";

/** Another process uses the session, or has just started it. */
export function isBusy(error: unknown): boolean {
  const { reason } = (error instanceof RequestError ? (error.data ?? {}) : {}) as {
    readonly reason?: unknown;
  }; // any JSON
  return reason === "session_held" || reason === "session_exists";
}

export function busySession(name: string, error: unknown): RunError {
  const { data } = error as { readonly data?: { readonly holder?: { readonly pid?: unknown } } }; // isBusy has looked at it
  const pid = data?.holder?.pid;
  return new RunError(
    exitCodes.notStarted,
    "session_busy",
    `the session ${safeLine(name)} is in use by ${typeof pid === "number" ? `process ${pid}` : "another process"}`,
    "try again when it is done, or choose another name",
  );
}
