// The `write` tool: creates or replaces a file.

import { pathNames } from "../base/argument-names.ts";
import { defineTool, textPart } from "../base/define-tool.ts";
import { shownDiff } from "../base/shown-content.ts";
import { type ToolContext, ToolError } from "../base/tool.ts";
import { resolvePath, shownPath } from "../base/workspace-path.ts";

export const writeTool = defineTool({
  name: "write",
  description:
    "Create a file and any missing directories, or replace a whole file that you have read to its end. To change part of a file, use edit.",
  isReadOnly: false,
  draft: { title: "Write", kind: "edit" },
  aliases: { path: pathNames, content: ["contents", "text", "file_text", "fileText"] },
  properties: {
    path: { type: "string", description: "The file, as for read" },
    content: { type: "string", description: "The complete new text" },
  },
  required: ["path", "content"],
  async prepare({ path: given, content }, context) {
    const { path, paths, shown } = await resolvePath(context, given);
    const old = await oldFile(context, path);
    if (old?.text === content)
      throw new ToolError(`${shown} already has exactly this content; nothing was written`);
    const diff = shownDiff(path, content, old?.text);
    return {
      presentation: {
        title: `${old === undefined ? "Create" : "Write"} ${shown}`,
        kind: "edit",
        locations: [{ path }],
        content: [diff],
      },
      access: { type: "write", paths },
      async run({ files, seen, signal }) {
        const expected = old?.version ?? "absent";
        seen.note(path, await files.write(path, content, { expected, signal }));
        const lines = content.split("\n").length - (content.endsWith("\n") || content === "" ? 1 : 0);
        const done = old === undefined ? "created" : "replaced";
        return {
          content: [textPart(`${done} ${shown}: ${lines} lines, ${Buffer.byteLength(content)} bytes`)],
          rawOutput: { created: old === undefined, lines },
        };
      },
    };
  },
});

async function isMissing({ files }: ToolContext, path: string): Promise<boolean> {
  try {
    await files.stat(path);
    return false;
  } catch (error) {
    return files.isAbsent(path, error);
  }
}

/** The current file, if any. It must have been read, so that no unseen content is replaced. */
async function oldFile(
  context: ToolContext,
  path: string,
): Promise<{ readonly text: string; readonly version: string } | undefined> {
  const { files, seen, signal } = context;
  const known = seen.versionOf(path);
  // a client would report the read of a missing file as an error
  if (known === undefined && (await isMissing(context, path))) return undefined;
  let old: { readonly text: string; readonly version: string };
  try {
    old = await files.read(path, { signal });
  } catch (error) {
    if (await files.isAbsent(path, error)) return undefined;
    throw error;
  }
  const shown = shownPath(context, path);
  // an empty file has nothing to lose
  if (known === undefined && old.text !== "") {
    throw new ToolError(`${shown} already exists and has not been read`, {
      advice: "read it first, then write or edit it",
    });
  }
  if (known !== undefined && known !== old.version) {
    throw new ToolError(`${shown} has changed since it was read`, {
      advice: "read it again, then write or edit it",
    });
  }
  if (old.text !== "" && !seen.isWhole(path)) {
    throw new ToolError(`only part of ${shown} has been read, but write replaces all of it`, {
      advice: "use edit, or read the rest first",
    });
  }
  return old;
}
