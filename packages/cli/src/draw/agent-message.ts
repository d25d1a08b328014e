// Messages of the agent, which are Markdown.

import type { MessageItem } from "@parley/acp/view";
import type { Drawing } from "./draw-options.ts";
import { markdownLines } from "./markdown-lines.ts";
import { blockLines, drawableText, indented, messageIndent } from "./message-lines.ts";

export function agentLines({ content }: MessageItem, { width, paint }: Drawing): string[] {
  const draw = (text: string, room: number) => markdownLines(drawableText(text), room, paint);
  return indented(blockLines(content, width - messageIndent.length, draw));
}
