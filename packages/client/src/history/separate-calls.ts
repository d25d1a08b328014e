// Makes the tool call ids of a session unique where a restarted agent counts from 1 again.

import type { Entry } from "@parley/acp";

/**
 * Makes the ids of tool calls unique, for one reading of a history: an id that is announced again after its call ended in an earlier
 * turn gets another name.
 *
 * @example
 * import { openHistory, separateCalls } from "@parley/client/history";
 *
 * await using history = openHistory({ path: "/home/me/.local/share/my-app/history.db" });
 * const separate = separateCalls();
 * for await (const entry of history.entries("a1b2c3")) console.log(separate(entry).kind);
 */
export function separateCalls(): (entry: Entry) => Entry {
  let turn = 0;
  const calls = new Map<string, { turn: number; hasEnded: boolean; name: string }>();
  return (entry) => {
    if (entry.kind === "prompt") turn += 1;
    if (entry.kind !== "update" || !("toolCallId" in entry.update)) return entry;
    const { update } = entry;
    const { toolCallId, title, status } = update as { toolCallId: string; title?: unknown; status?: unknown }; // those with the id have them
    const before = calls.get(toolCallId);
    const isAnother = before?.hasEnded === true && before.turn < turn && title != null;
    const call =
      before === undefined || isAnother
        ? { turn, hasEnded: false, name: isAnother ? `${toolCallId} (${turn})` : toolCallId }
        : before;
    calls.set(toolCallId, call);
    if (status === "completed" || status === "failed" || status === "cancelled") call.hasEnded = true;
    if (call.name === toolCallId) return entry;
    return { ...entry, update: { ...update, toolCallId: call.name } as typeof update }; // only its id is another
  };
}
