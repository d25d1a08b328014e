// Runs the tool calls of one answer: those that only read at the same time, the others one after another.

import type { ToolCallPart, ToolOutcome } from "../model/model.ts";
import { type RunCallOptions, runCall } from "./run-call.ts";

const maxAtOnce = 8;

/** Calls `done` with each outcome, in order. Rejects when the turn or the subagent is cancelled, after all running calls have ended. */
export async function runCalls(
  calls: readonly ToolCallPart[],
  options: RunCallOptions,
  done: (call: ToolCallPart, outcome: ToolOutcome) => void,
): Promise<void> {
  for (const group of groups(calls, options)) {
    options.context.signal.throwIfAborted();
    const ends = await Promise.allSettled(
      group.map(async (call) => ({ call, outcome: await runCall(call, options) })),
    );
    // in the order of the calls, whichever ended first
    for (const end of ends) if (end.status === "fulfilled") done(end.value.call, end.value.outcome);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }
}

function groups(calls: readonly ToolCallPart[], { tools }: RunCallOptions): ToolCallPart[][] {
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
