// Draws an item of a session's timeline as lines of a terminal. Lines are safe and at most `width` columns wide.

import type { MessageItem, SessionView, TimelineItem } from "@parley/acp/view";
import { type Drawing, type DrawOptions, drawing } from "./draw-options.ts";
import {
  compactionLines,
  noticeLines,
  sessionMessageLines,
  subagentLines,
  unknownLines,
} from "./event-lines.ts";
import { markdownLines } from "./markdown-lines.ts";
import {
  blockLines,
  drawableText,
  indented,
  messageIndent,
  thoughtLines,
  userLines,
} from "./message-lines.ts";
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

/** Messages of the agent are Markdown. */
function agentLines({ content }: MessageItem, { width, paint }: Drawing): string[] {
  const draw = (text: string, room: number) => markdownLines(drawableText(text), room, paint);
  return indented(blockLines(content, width - messageIndent.length, draw));
}
