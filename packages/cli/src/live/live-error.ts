// The errors of starting an agent and its session, with the exit codes of commands that end with them.

import { safeLine } from "../terminal/sanitise.ts";

export const exitCodes = {
  ok: 0,
  agentError: 1,
  usage: 2,
  refused: 3,
  timeout: 4,
  notStarted: 5,
  loginNeeded: 6,
  sessionTaken: 7,
  cancelled: 130,
} as const;

/** Why there is no session, or no more. */
export class LiveError extends Error {
  readonly exitCode: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(exitCode: number, code: string, message: string, hint?: string) {
    super(message);
    this.exitCode = exitCode;
    this.code = code;
    this.hint = hint;
  }
}

/** Another process uses the session, or has just started it. */
export function isBusy(error: unknown): boolean {
  const reason = reasonOf(error);
  return reason === "session_held" || reason === "session_exists";
}

/** Another process has taken over what this one was writing. */
export function isFenced(error: unknown): boolean {
  return reasonOf(error) === "fenced";
}

/** By its data: the class is not loaded for it. */
function reasonOf(error: unknown): unknown {
  const { data } = (error ?? {}) as { readonly data?: { readonly reason?: unknown } | null }; // checked next
  return data?.reason;
}

export function busySession(
  name: string,
  error: unknown,
  { isElsewhere = false }: { isElsewhere?: boolean } = {},
): LiveError {
  const { data } = error as { readonly data?: { readonly holder?: { readonly pid?: unknown } } }; // isBusy has looked at it
  const pid = data?.holder?.pid;
  return new LiveError(
    exitCodes.notStarted,
    "session_busy",
    `the session ${safeLine(name)} is in use by ${typeof pid === "number" ? `process ${pid}` : isElsewhere ? "another client" : "another process"}`,
    isElsewhere && typeof pid !== "number"
      ? "take it over with --takeover, or close it there"
      : "try again when it is done, or use another session; --takeover takes one of Parley's own agent",
  );
}
