// The `find` tool: finds files and directories by name.

import { defineTool, textPart } from "../base/define-tool.ts";
import { shownVerbatim } from "../base/shown-content.ts";
import { ToolError } from "../base/tool.ts";
import { headOf, withNotes } from "../base/truncation.ts";
import { resolvePath, shownPath } from "../base/workspace-path.ts";

const defaultLimit = 1_000;

export const findTool = defineTool({
  name: "find",
  description: `Finds files and directories by name, in a directory and all below it. Patterns are as in a shell: *.ts, src/**/*.test.{js,ts}. What git ignores is left out. At most ${defaultLimit} unless limit says otherwise.`,
  isReadOnly: true,
  properties: {
    pattern: { type: "string", minLength: 1, description: "Without a slash: the name at any depth" },
    path: { type: "string", description: "Where to look. Default: the working directory" },
    ignored: { type: "boolean", description: "Find what git ignores, too. Default false" },
    limit: { type: "integer", minimum: 1, maximum: 2_000, description: "How many at most" },
  },
  required: ["pattern"],
  async prepare({ pattern, path: given = ".", ignored: withIgnored = false, limit = defaultLimit }, context) {
    const { path, paths, shown } = await resolvePath(context, given);
    if ((await context.files.stat(path)).kind !== "directory")
      throw new ToolError(`${shown} is not a directory`);
    // loaded on use, to keep startup fast
    const { pathPattern } = await import("./path-pattern.ts");
    const isWanted = pathPattern(pattern, path);
    return {
      presentation: {
        title: `Find ${pattern}${shown === "." ? "" : ` in ${shown}`}`,
        kind: "search",
        locations: [{ path }],
      },
      access: { type: "read", paths },
      async run(run) {
        const { walkTree } = await import("./walk-tree.ts");
        const found: string[] = [];
        let isMore = false;
        for await (const entry of walkTree(run, path, { withIgnored })) {
          if (!isWanted(entry.path)) continue;
          isMore = found.length === limit;
          if (isMore) break;
          found.push(shownPath(run, entry.path) + (entry.kind === "directory" ? "/" : ""));
        }
        const excerpt = headOf(found.join("\n"));
        const notes: string[] = [];
        if (found.length === 0)
          notes.push(`nothing matches ${pattern}${withIgnored ? "" : "; what git ignores was left out"}`);
        if (excerpt.isCut) notes.push(`the first ${excerpt.to} of ${excerpt.lines}; use a narrower pattern`);
        if (isMore) notes.push(`${limit} found, there are more; raise limit or use a narrower pattern`);
        const modelText = withNotes(excerpt.text, notes);
        return {
          content: [textPart(modelText)],
          rawOutput: { found: found.length },
          shown: [shownVerbatim(modelText)],
        };
      },
    };
  },
});
