// How a call is announced. What is in a title was chosen by a model, perhaps on behalf of a file or a page that it has
// read: it must not be able to look like something else in a question.

import type { ToolCallContent, ToolCallStart } from "@parley/acp";
import type { ToolCallPart } from "../model/model.ts";
import type { PreparedCall } from "../tools/base/tool.ts";

const maxTitle = 200;
/** Line ends, other control characters, and marks that reorder or hide text. */
const misleading = /[\p{Cc}\u061c\u180e\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu;

export function callStart(
  part: ToolCallPart,
  { presentation, access }: PreparedCall,
  toolCallId: string | undefined,
): ToolCallStart {
  const { kind, locations, content = [] } = presentation;
  const title = oneLine(presentation.title);
  // a command that does not fit into its title is shown whole, or nobody could know what is allowed
  const whole = access.type === "run" && title !== access.command ? [commandContent(access.command)] : [];
  const shown = [...whole, ...content];
  return {
    title,
    kind,
    name: part.name,
    rawInput: part.input,
    ...(locations === undefined ? {} : { locations: [...locations] }),
    ...(shown.length === 0 ? {} : { content: shown }),
    ...(toolCallId === undefined ? {} : { toolCallId }),
    cancellable: true,
  };
}

/** Nothing in it can end the line, or reorder it. */
export function oneLine(title: string): string {
  const line = title.replaceAll(misleading, " ").trim();
  return line.length <= maxTitle ? line : `${line.slice(0, maxTitle - 1)}…`;
}

function commandContent(command: string): ToolCallContent {
  const fence = "`".repeat(Math.max(3, ...[...command.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  return { type: "content", content: { type: "text", text: `${fence}sh\n${command}\n${fence}` } };
}
