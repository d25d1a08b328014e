// The `delete` and `move` tools: delete, move or rename a file, link or directory.

import { basename, dirname } from "node:path";
import type { ToolCallContent } from "@parley/acp/model";
import { folderNames, pathNames } from "../base/argument-names.ts";
import { defineTool, textPart } from "../base/define-tool.ts";
import { isBinary } from "../base/media-type.ts";
import { shownRemoval, shownText } from "../base/shown-content.ts";
import { type ToolContext, ToolError } from "../base/tool.ts";
import { maxBytes } from "../base/truncation.ts";
import { absolutePath, entryNamesOf, shownPath } from "../base/workspace-path.ts";

/** Counting more would take longer than deleting. */
const maxCounted = 10_000;

export const deleteTool = defineTool({
  name: "delete",
  description:
    "Delete a file, a symbolic link (not its target) or a directory. Set recursive for a directory that is not empty.",
  isReadOnly: false,
  draft: { title: "Delete", kind: "delete" },
  aliases: { path: [...pathNames, ...folderNames] },
  properties: {
    path: { type: "string", description: "What to delete" },
    recursive: { type: "boolean", description: "Delete a directory with everything in it. Default false" },
  },
  required: ["path"],
  async prepare({ path: given, recursive = false }, context) {
    const path = absolutePath(context, given);
    const shown = shownPath(context, path);
    if (context.roots.includes(path))
      throw new ToolError(`${shown} is a root of the workspace and cannot be deleted`);
    const paths = await entryNamesOf(context, path);
    const entry = await entryAt(context, path);
    const isDirectory = entry === "directory";
    const count = isDirectory ? await countBelow(context, path) : 0;
    if (count > 0 && !recursive) {
      throw new ToolError(
        `${shown} is a directory with ${entries(count)} in it; set recursive to delete them too`,
      );
    }
    await refuseUnsaved(context, path);
    const text = entry === "file" ? await textOrNothing(context, path) : undefined;
    const content =
      text !== undefined ? [shownRemoval(path, text)] : isDirectory ? [shownText(entries(count))] : [];
    const what = isDirectory ? `${shown} and everything in it` : shown;
    return {
      presentation: {
        title: `Delete ${count === 0 ? shown : what}`,
        kind: "delete",
        locations: [{ path }],
        content,
      },
      access: { type: "write", paths, verb: "delete", ...(count > 0 && { losesFolder: true }) },
      async run({ files, seen }) {
        await files.remove(path, { recursive });
        seen.forget(path);
        const more = count === 0 ? "" : ` with ${entries(count)}`;
        return { content: [textPart(`deleted ${shown}${more}`)], rawOutput: { kind: entry, entries: count } };
      },
    };
  },
});

/** Refuses files with unsaved changes, which could not be restored. */
export async function refuseUnsaved(context: ToolContext, path: string): Promise<void> {
  if (!(await context.files.isUnsaved(path, { signal: context.signal }))) return;
  throw new ToolError(`${shownPath(context, path)} has unsaved changes in the editor`, {
    advice: "ask the user to save or discard them",
  });
}

async function entryAt(context: ToolContext, path: string): Promise<"file" | "directory" | "link" | "other"> {
  const name = basename(path);
  const siblings = await context.files.list(dirname(path)).catch(() => []);
  const found = siblings.find((entry) => entry.name === name);
  if (found !== undefined) return found.kind;
  throw new ToolError(`there is no file or directory ${shownPath(context, path)}`, {
    advice: "search for it by name with find",
  });
}

async function countBelow(context: ToolContext, path: string): Promise<number> {
  let count = 0;
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined && count < maxCounted; next = waiting.pop()) {
    context.signal.throwIfAborted();
    for (const { name, kind } of await context.files.list(next)) {
      count += 1;
      if (kind === "directory") waiting.push(`${next}/${name}`);
    }
  }
  return count;
}

function entries(count: number): string {
  if (count >= maxCounted) return `${maxCounted} or more files and directories`;
  return count === 1 ? "1 file or directory" : `${count} files and directories`;
}

/** The text for the diff; undefined for large and binary files. */
async function textOrNothing(context: ToolContext, path: string): Promise<string | undefined> {
  const { files, signal } = context;
  try {
    const { size } = await files.stat(path);
    if (size > maxBytes) return undefined;
    const bytes = await files.readBytes(path, { signal });
    return isBinary(bytes) ? undefined : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    // unreadable or not a text: it can still be deleted
    return undefined;
  }
}

export const moveTool = defineTool({
  name: "move",
  description:
    "Move or rename a file or directory. The new path must not exist; missing directories are created.",
  isReadOnly: false,
  draft: { title: "Move", kind: "move" },
  aliases: {
    from: ["source", "src", "source_path", "old_path", "oldPath", "path"],
    to: ["destination", "dest", "destination_path", "target", "new_path", "newPath"],
  },
  properties: {
    from: { type: "string", description: "What to move" },
    to: { type: "string", description: "The new path" },
  },
  required: ["from", "to"],
  async prepare(input, context) {
    const from = absolutePath(context, input.from);
    const to = absolutePath(context, input.to);
    const shown = { from: shownPath(context, from), to: shownPath(context, to) };
    if (context.roots.includes(from))
      throw new ToolError(`${shown.from} is a root of the workspace and cannot be moved`);
    if (from === to) throw new ToolError(`from and to are both ${shown.from}; nothing was moved`);
    const paths = [...(await entryNamesOf(context, from)), ...(await entryNamesOf(context, to))];
    await refuseUnsaved(context, from);
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
        seen.move(from, to);
        return { content: [textPart(`moved ${shown.from} to ${shown.to}`)] };
      },
    };
  },
});
