// What the transcript needs to know of an item: whether it is finished, when it changed, and what stands beside it.

import type { SessionView, TimelineItem } from "@parley/acp/view";

/** Text has blank lines around it; events stand close together. */
export type ItemGroup = "text" | "event";

export function groupOf({ kind }: TimelineItem): ItemGroup {
  return kind === "user_message" || kind === "agent_message" || kind === "session_message" ? "text" : "event";
}

/** Whether it can be printed for good. The last message may go on. */
export function isFinished(item: TimelineItem, isLast: boolean): boolean {
  switch (item.kind) {
    case "user_message":
      // a prompt is shown as it was sent
      return !item.echoed || !isLast;
    case "agent_message":
    case "agent_thought":
    case "session_message":
      return !isLast;
    case "tool_call":
      return !item.open;
    case "permission":
    case "elicitation":
      return item.answer !== undefined;
    case "compaction":
      return item.status !== "in_progress";
    case "subagent":
      return item.state === undefined || item.state.state === "idle";
    default:
      return true;
  }
}

/** Whether an item that was printed too early is printed again when it ends. */
export function hasEnd({ kind }: TimelineItem): boolean {
  return kind === "tool_call" || kind === "compaction" || kind === "subagent" || isQuestion(kind);
}

export function isQuestion(kind: TimelineItem["kind"]): boolean {
  return kind === "permission" || kind === "elicitation";
}

/** The version of everything that an item shows: the output of a terminal does not change its tool call. */
export function shownVersion(item: TimelineItem, view: SessionView): number {
  if (item.kind !== "tool_call" || item.terminalIds.size === 0) return item.version;
  let version = item.version;
  for (const id of item.terminalIds) version = Math.max(version, view.terminals.get(id)?.version ?? 0);
  return version;
}
