// The `move` tool: moves or renames a file or directory.

import type { ToolCallContent } from "@parley/acp";
import { defineTool, textPart } from "../base/define-tool.ts";
import { ToolError } from "../base/tool.ts";
import { absolutePath, entryNamesOf, shownPath } from "../base/workspace-path.ts";
import { refuseUnsaved } from "./delete.ts";

export const moveTool = defineTool({
  name: "move",
  description:
    "Moves or renames a file or a directory. Nothing is replaced: the new path must not exist; the directories it needs are made.",
  isReadOnly: false,
  properties: {
    from: { type: "string", description: "What to move, absolute or relative to the working directory" },
    to: { type: "string", description: "Its new path" },
  },
  required: ["from", "to"],
  async prepare(input, context) {
    const from = absolutePath(context, input.from);
    const to = absolutePath(context, input.to);
    const shown = { from: shownPath(context, from), to: shownPath(context, to) };
    if (context.roots.includes(from))
      throw new ToolError(`${shown.from} is a root of the workspace and cannot be moved`);
    if (from === to) throw new ToolError(`${shown.from} is where it is to be moved already`);
    const paths = [...(await entryNamesOf(context, from)), ...(await entryNamesOf(context, to))];
    await refuseUnsaved(context, from);
    const known = context.seen.versionOf(from);
    const change: ToolCallContent = {
      type: "diff",
      changes: [{ operation: "move", oldPath: from, path: to }],
    };
    return {
      presentation: {
        title: `Move ${shown.from} to ${shown.to}`,
        kind: "move",
        locations: [{ path: from }, { path: to }],
        content: [change],
      },
      access: { type: "write", paths, verb: "move" },
      async run({ files, seen }) {
        await files.move(from, to);
        seen.forget(from);
        if (known !== undefined) seen.note(to, known);
        return { content: [textPart(`moved ${shown.from} to ${shown.to}`)] };
      },
    };
  },
});
