// Draws the pause of an agent whose model cannot answer now.

import type { Entry } from "@parley/acp";
import { type ModelWait, modelWait } from "@parley/client/conversation";
import { safeLine } from "../terminal/sanitise.ts";

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
