// The pause of an agent whose model cannot answer now: reported in `_meta` of an update, shown in the status.

import type { Entry } from "@parley/acp";
import { extensionIn, retryKey } from "@parley/acp/extensions";
import type { ModelWait } from "./session-link.ts";

/**
 * What an entry says about a pause of the agent's model. Null: the model answers again. Undefined: the entry says nothing about it.
 *
 * @example
 * import type { Entry } from "@parley/acp";
 * import { modelWait } from "@parley/client/conversation";
 *
 * export const isPaused = (entry: Entry): boolean => modelWait(entry) != null;
 */
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
