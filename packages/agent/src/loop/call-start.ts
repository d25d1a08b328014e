// Builds the update that announces a tool call.

import type { ToolCallStart } from "@parley/acp";
import { optional } from "@parley/acp/internal";
import type { ToolCallPart } from "../model/model.ts";
import { oneLine } from "../text/one-line.ts";
import { shownVerbatim } from "../tools/base/shown-content.ts";
import type { PreparedCall } from "../tools/base/tool.ts";

export function callStart(
  part: ToolCallPart,
  { presentation, access }: PreparedCall,
  toolCallId: string | undefined,
): ToolCallStart {
  const { kind, locations, content = [] } = presentation;
  const title = oneLine(presentation.title);
  // a command that was cut in the title is shown in full, so that the user knows what to allow
  const whole =
    access.type === "run" && title !== access.command ? [shownVerbatim(access.command, "command.sh")] : [];
  const shown = [...whole, ...content];
  return {
    title,
    kind,
    name: part.name,
    rawInput: part.input,
    ...(locations && { locations: [...locations] }),
    ...(shown.length > 0 && { content: shown }),
    ...optional({ toolCallId }),
    cancellable: true,
  };
}
