// The pause of an agent whose model cannot answer now: reported in `_meta` of an update, shown in the status.

import type { Entry } from "@parley/acp";
import { extensionIn, retryKey } from "@parley/acp/extensions";
import { safeLine } from "../terminal/sanitise.ts";

export interface ModelWait {
  /** The number of the attempt that follows, from 2. */
  readonly attempt: number;
  /** How many attempts there are at most. */
  readonly of: number;
  /** When it follows, in milliseconds since 1970. */
  readonly until: number;
  /** Why there is a pause, in the words of the agent. */
  readonly reason: string;
}

/** Null: the model answers again. Undefined: the entry says nothing about it. */
export function modelWait(entry: Entry): ModelWait | null | undefined {
  if (entry.kind !== "update" || entry.update.sessionUpdate !== "session_info_update") return undefined;
  const given = extensionIn(entry.update._meta, retryKey);
  if (given === undefined || given === null) return given;
  const { attempt, of, delayMs, reason } = given as Readonly<Record<string, unknown>>; // whatever it is
  if (![attempt, of, delayMs].every((each) => typeof each === "number" && each >= 0 && each < 1e9))
    return null;
  return {
    attempt: Number(attempt),
    of: Number(of),
    until: entry.time + Number(delayMs),
    reason: typeof reason === "string" ? reason.slice(0, 1_000) : "",
  };
}

/** Such as "waiting 8 s, attempt 3 of 5". */
export function waitText({ attempt, of, until }: ModelWait, now: number): string {
  const seconds = Math.ceil((until - now) / 1000);
  return `${seconds > 0 ? `waiting ${seconds} s, ` : ""}attempt ${attempt} of ${of}`;
}

/** A line about a pause that has just begun, such as "waiting 8 s, attempt 3 of 5: The rate limit is reached". */
export function waitNote(entry: Entry, now: number): string | undefined {
  const wait = modelWait(entry);
  // one of a recorded session is over
  if (!wait || wait.until <= now) return undefined;
  return [waitText(wait, now), safeLine(wait.reason)].filter((part) => part !== "").join(": ");
}
