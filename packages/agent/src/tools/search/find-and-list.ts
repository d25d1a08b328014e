// The `find` and `list` tools: find files by name, and list a directory.

import { basename } from "node:path";
import { folderNames, pathNames } from "../base/argument-names.ts";
import { defineTool, textPart } from "../base/define-tool.ts";
import { shownVerbatim } from "../base/shown-content.ts";
import { type ToolContext, ToolError, type ToolResult } from "../base/tool.ts";
import { headOf, withNotes } from "../base/truncation.ts";
import { resolveReadable, shownPath } from "../base/workspace-path.ts";

const defaultLimit = 1_000;

export const findTool = defineTool({
  name: "find",
  description: `Find files and directories by name in a directory and its subdirectories, with a glob such as *.ts or src/**/*.test.{js,ts}. Skips files that git ignores. Returns at most ${defaultLimit} paths unless limit is set.`,
  isReadOnly: true,
  draft: { title: "Find", kind: "search" },
  aliases: { pattern: ["glob", "query", "name", "glob_pattern"], path: folderNames },
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      description: "A glob; without a slash it matches names at any depth",
    },
    path: { type: "string", description: "Directory to search. Default: the working directory" },
    ignored: { type: "boolean", description: "Include ignored files. Default false" },
    limit: { type: "integer", minimum: 1, maximum: 2_000, description: "Maximum number of paths" },
  },
  required: ["pattern"],
  async prepare({ pattern, path: given = ".", ignored: withIgnored = false, limit = defaultLimit }, context) {
    const target = await resolveReadable(context, given, "tree");
    const { path, shown } = target;
    if (!target.isOutside) await requireDirectory(context, path);
    // loaded on use, to keep startup fast
    const { pathPattern, walkTree } = await import("./walk-tree.ts");
    const isWanted = pathPattern(pattern, path);
    return {
      presentation: {
        title: `Find ${pattern}${shown === "." ? "" : ` in ${shown}`}`,
        kind: "search",
        locations: [{ path }],
      },
      access: target.access,
      run: (outer) =>
        target.within(outer, async (run) => {
          await requireDirectory(run, path);
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
            notes.push(
              `nothing matches ${pattern}${withIgnored ? "" : "; files that git ignores were skipped"}`,
            );
          if (excerpt.isCut)
            notes.push(`the first ${excerpt.to} of ${excerpt.lines}; use a narrower pattern`);
          if (isMore) notes.push(`${limit} found, there are more; raise limit or use a narrower pattern`);
          return resultOf(withNotes(excerpt.text, notes), { found: found.length });
        }),
    };
  },
});

const maxEntries = 1_000;

export const listTool = defineTool({
  name: "list",
  description: `List a directory, and its subdirectories down to depth. Directories end in /, links in @. Skips files that git ignores. Returns at most ${maxEntries} entries.`,
  isReadOnly: true,
  draft: { title: "List", kind: "read" },
  aliases: { path: [...pathNames, ...folderNames], depth: ["max_depth", "maxDepth"] },
  properties: {
    path: { type: "string", description: "Directory to list. Default: the working directory" },
    depth: { type: "integer", minimum: 1, maximum: 20, description: "Levels to list. Default 1" },
    ignored: { type: "boolean", description: "Include ignored files. Default false" },
  },
  required: [],
  async prepare({ path: given = ".", depth: maxDepth = 1, ignored: withIgnored = false }, context) {
    const target = await resolveReadable(context, given, "tree");
    const { path, shown } = target;
    if (!target.isOutside) await requireDirectory(context, path);
    return {
      presentation: {
        title: `List ${shown === "." ? "the working directory" : shown}`,
        kind: "read",
        locations: [{ path }],
      },
      access: target.access,
      run: (outer) =>
        target.within(outer, async (run) => {
          await requireDirectory(run, path);
          // loaded on use, to keep startup fast
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
            notes.push(`${shown} is empty${withIgnored ? "" : ", apart from files that git ignores"}`);
          if (excerpt.isCut || isMore)
            notes.push(`the first ${excerpt.to} entries; list a subdirectory, or use a smaller depth`);
          return resultOf(withNotes(excerpt.text, notes), { entries: lines.length });
        }),
    };
  },
});

async function requireDirectory(context: ToolContext, path: string): Promise<void> {
  if ((await context.files.stat(path)).kind === "directory") return;
  throw new ToolError(`${shownPath(context, path)} is not a directory`, { advice: "use read" });
}

function resultOf(text: string, rawOutput: object): ToolResult {
  return { content: [textPart(text)], rawOutput, shown: [shownVerbatim(text)] };
}
