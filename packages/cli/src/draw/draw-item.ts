// Draws an item of a session's timeline as lines of a terminal. Lines are safe and at most `width` columns wide.

import type { SessionView, TimelineItem } from "@parley/acp/view";
import { agentLines } from "./agent-message.ts";
import { type DrawOptions, drawing } from "./draw-options.ts";
import {
  compactionLines,
  noticeLines,
  sessionMessageLines,
  subagentLines,
  unknownLines,
} from "./event-lines.ts";
import { thoughtLines, userLines } from "./message-lines.ts";
import { elicitationLines, permissionLines } from "./question-lines.ts";
import { toolCard } from "./tool-card.ts";

export type { DrawOptions } from "./draw-options.ts";
export { loadDrawing } from "./load-drawing.ts";

/** Nothing for an item that has nothing to show, such as an empty message. */
export function drawItem(item: TimelineItem, view: SessionView, options: DrawOptions): string[] {
  const made = drawing(options);
  switch (item.kind) {
    case "user_message":
      return userLines(item, made);
    case "agent_message":
      return agentLines(item, made);
    case "agent_thought":
      return thoughtLines(item, made);
    case "tool_call":
      return toolCard(item, view, made);
    case "permission":
      return permissionLines(item, made);
    case "elicitation":
      return elicitationLines(item, made);
    case "notice":
      return noticeLines(item, made);
    case "compaction":
      return compactionLines(item, made);
    case "session_message":
      return sessionMessageLines(item, view, made);
    case "subagent":
      return subagentLines(item, made);
    default:
      return unknownLines(item, made);
  }
}
