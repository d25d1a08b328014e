import { basename } from "node:path";
import { defineTool, textPart } from "../base/define-tool.ts";
import { shownVerbatim } from "../base/shown-content.ts";
import { ToolError } from "../base/tool.ts";
import { headOf } from "../base/truncation.ts";
import { absolutePath, namesOf, shownPath } from "../base/workspace-path.ts";

const maxEntries = 1_000;

export const listTool = defineTool({
  name: "list",
  description: `Lists what is in a directory, and in those below it down to a depth. Directories end in a slash, links in @. What git ignores is left out. At most ${maxEntries} entries.`,
  isReadOnly: true,
  inputSchema: {
    type: "object",
    properties: {
      path: { type: "string", description: "The directory. Default: the working directory" },
      depth: { type: "integer", minimum: 1, maximum: 20, description: "How deep to go. Default 1" },
      ignored: { type: "boolean", description: "List what git ignores, too. Default false" },
    },
    required: [],
    additionalProperties: false,
  },
  async prepare({ path: given = ".", depth: maxDepth = 1, ignored: withIgnored = false }, context) {
    const path = absolutePath(context, given);
    const paths = await namesOf(context, path);
    const shown = shownPath(context, path);
    if ((await context.files.stat(path)).kind !== "directory") {
      throw new ToolError(`${shown} is not a directory`, { advice: "use read" });
    }
    return {
      presentation: {
        title: `List ${shown === "." ? "the working directory" : shown}`,
        kind: "read",
        locations: [{ path }],
      },
      access: { type: "read", paths },
      async run(run) {
        // loaded when it is used: what nobody calls must not slow down the start of the agent
        const { walkTree } = await import("./walk-tree.ts");
        const lines: string[] = [];
        let isMore = false;
        for await (const { path: found, depth, kind } of walkTree(run, path, { withIgnored, maxDepth })) {
          isMore = lines.length === maxEntries;
          if (isMore) break;
          const mark = kind === "directory" ? "/" : kind === "link" ? "@" : "";
          lines.push(`${"  ".repeat(depth - 1)}${basename(found)}${mark}`);
        }
        const excerpt = headOf(lines.join("\n"));
        const notes: string[] = [];
        if (lines.length === 0)
          notes.push(`${shown} is empty${withIgnored ? "" : ", but for what git ignores"}`);
        if (excerpt.isCut || isMore)
          notes.push(`the first ${excerpt.to} entries; list a directory below it, or less deep`);
        const told = [excerpt.text, ...notes.map((note) => `[${note}]`)]
          .filter((part) => part !== "")
          .join("\n");
        return {
          content: [textPart(told)],
          rawOutput: { entries: lines.length },
          shown: [shownVerbatim(told)],
        };
      },
    };
  },
});
