import { defineTool, textPart } from "../base/define-tool.ts";
import { shownVerbatim } from "../base/shown-content.ts";
import { ToolError } from "../base/tool.ts";
import { headOf } from "../base/truncation.ts";
import { absolutePath, namesOf, shownPath } from "../base/workspace-path.ts";

const defaultLimit = 1_000;

export const findTool = defineTool({
  name: "find",
  description: `Finds files and directories by name, in a directory and all below it. Patterns are as in a shell: *.ts, src/**/*.test.{js,ts}. What git ignores is left out. At most ${defaultLimit} unless limit says otherwise.`,
  isReadOnly: true,
  inputSchema: {
    type: "object",
    properties: {
      pattern: { type: "string", minLength: 1, description: "Without a slash: the name at any depth" },
      path: { type: "string", description: "Where to look. Default: the working directory" },
      ignored: { type: "boolean", description: "Find what git ignores, too. Default false" },
      limit: { type: "integer", minimum: 1, maximum: 2_000, description: "How many at most" },
    },
    required: ["pattern"],
    additionalProperties: false,
  },
  async prepare({ pattern, path: given = ".", ignored: withIgnored = false, limit = defaultLimit }, context) {
    const path = absolutePath(context, given);
    const paths = await namesOf(context, path);
    const shown = shownPath(context, path);
    if ((await context.files.stat(path)).kind !== "directory")
      throw new ToolError(`${shown} is not a directory`);
    // loaded when they are used: what nobody calls must not slow down the start of the agent
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
        const told = [excerpt.text, ...notes.map((note) => `[${note}]`)]
          .filter((part) => part !== "")
          .join("\n");
        return {
          content: [textPart(told)],
          rawOutput: { found: found.length },
          shown: [shownVerbatim(told)],
        };
      },
    };
  },
});
