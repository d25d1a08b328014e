// The calls of one answer: neighbours that only read run at the same time, everything else in order, since a change
// may be what the next call builds on.

import type { ToolCallPart, ToolOutcome } from "../model/model.ts";
import { type CallSetting, runCall } from "./run-call.ts";

/** How many calls that only read run at the same time. */
const maxAtOnce = 8;

/** `done` gets each outcome as it comes. Rejects when the turn is cancelled, after everything has ended. */
export async function runCalls(
  calls: readonly ToolCallPart[],
  setting: CallSetting,
  done: (outcome: ToolOutcome) => void,
): Promise<void> {
  for (const group of groups(calls, setting)) {
    setting.turn.signal.throwIfAborted();
    const ends = await Promise.allSettled(group.map(async (call) => done(await runCall(call, setting))));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }
}

function groups(calls: readonly ToolCallPart[], { tools }: CallSetting): ToolCallPart[][] {
  const reads = new Set(tools.filter(({ isReadOnly }) => isReadOnly).map(({ name }) => name));
  const found: { isRead: boolean; calls: ToolCallPart[] }[] = [];
  for (const call of calls) {
    const isRead = reads.has(call.name);
    const last = found.at(-1);
    if (isRead && last?.isRead && last.calls.length < maxAtOnce) last.calls.push(call);
    else found.push({ isRead, calls: [call] });
  }
  return found.map((group) => group.calls);
}
