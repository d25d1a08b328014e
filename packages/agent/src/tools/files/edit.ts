// The `edit` tool: replaces text in a file.

import { pathNames } from "../base/argument-names.ts";
import { defineTool, textPart } from "../base/define-tool.ts";
import { shownDiff } from "../base/shown-content.ts";
import { type PreparedCall, type ToolContext, ToolError } from "../base/tool.ts";
import { shortLine } from "../base/truncation.ts";
import { resolvePath, shownPath } from "../base/workspace-path.ts";
import { matchIndented } from "./indentation.ts";
import { readableText } from "./read.ts";
import { resultSnippet } from "./result-snippet.ts";
import { findMatches, lineAt, nearestBlock, type Span } from "./text-match.ts";

export const editTool = defineTool({
  name: "edit",
  description:
    "Replace text in a file. Copy oldText from the file, with enough surrounding lines to make it unique, or set replaceAll. Put all changes to a file into one call: each edit is matched against the current file, and either all are applied or none. Edits must not overlap. Returns the changed lines with their numbers.",
  isReadOnly: false,
  draft: { title: "Edit", kind: "edit" },
  aliases: {
    path: pathNames,
    edits: ["changes", "replacements"],
    oldText: ["old_text", "old_string", "oldString", "old_str", "search", "old"],
    newText: ["new_text", "new_string", "newString", "new_str", "replace", "replacement", "new"],
    replaceAll: ["replace_all"],
  },
  properties: {
    path: { type: "string", description: "The file, as for read" },
    edits: {
      type: "array",
      minItems: 1,
      items: {
        type: "object",
        properties: {
          oldText: { type: "string", minLength: 1, description: "Text to replace, exactly as in the file" },
          newText: { type: "string", description: "Text to replace it with" },
          replaceAll: { type: "boolean", description: "Replace every occurrence. Default false" },
        },
        required: ["oldText", "newText"],
        additionalProperties: false,
      },
    },
  },
  required: ["path", "edits"],
  async prepare({ path: given, edits }, context) {
    const { path, paths, shown } = await resolvePath(context, given);
    const known = context.seen.versionOf(path);
    const found = await editOf(context, path, edits).catch(async (error: unknown) => {
      // the error message may quote the file, so reading it must be allowed
      const hidden = known === undefined ? await context.vetoes?.unreadable(paths) : undefined;
      if (hidden !== undefined && hidden.size > 0) return undefined;
      throw error;
    });
    if (found === undefined) return readFirst(shown, path, paths);
    const { text, version, changes, newText } = found;
    const line = lineAt(text, changes[0]?.start ?? 0);
    return {
      presentation: {
        title: `Edit ${shown}`,
        kind: "edit",
        locations: [{ path, line }],
        content: [shownDiff(path, newText, text)],
      },
      access: { type: "write", paths, ...(known === undefined && { reads: true }) },
      async run({ files, seen, signal }) {
        seen.change(path, await files.write(path, newText, { expected: version, signal }));
        const places = `${changes.length} ${changes.length === 1 ? "place" : "places"}`;
        const head = `edited ${shown} in ${places}, first in line ${line}${notesOf(changes)}`;
        return {
          content: [textPart([head, resultSnippet(newText, changes)].join("\n").trimEnd())],
          rawOutput: { replacements: changes.length, line },
        };
      },
    };
  },
});

/** Reads the file and applies the edits to its text. */
async function editOf(context: ToolContext, path: string, edits: readonly Edit[]) {
  const shown = shownPath(context, path);
  const { text, version } = await readableText(context, path);
  const known = context.seen.versionOf(path);
  if (known !== undefined && known !== version) {
    throw new ToolError(`${shown} has changed since it was read`, {
      advice: "read it again, then repeat the edit",
    });
  }
  const changes = findChanges(text, edits, shown);
  const newText = applied(text, changes);
  if (newText === text) throw new ToolError(`the edits do not change ${shown}; nothing was written`);
  return { text, version, changes, newText };
}

/** Asks for read permission instead, since an edit needs it. */
function readFirst(shown: string, path: string, paths: readonly string[]): PreparedCall {
  return {
    presentation: { title: `Edit ${shown}`, kind: "edit", locations: [{ path }] },
    access: { type: "read", paths },
    run: () => Promise.reject(new ToolError(`read ${shown} first, then repeat the edit`)),
  };
}

interface Edit {
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll?: boolean;
}

interface Change extends Span {
  readonly newText: string;
  /** How the text that was found differs from the one that was wanted. */
  readonly differs?: "characters" | "indentation" | undefined;
  readonly number: number;
}

function notesOf(changes: readonly Change[]): string {
  const count = (kind: Change["differs"]) => changes.filter(({ differs }) => differs === kind).length;
  const [characters, indentation] = [count("characters"), count("indentation")];
  return [
    characters === 0 ? "" : ` (${characters} matched except for quotes, dashes or spaces)`,
    indentation === 0 ? "" : ` (${indentation} matched except for the indentation, and got that of the file)`,
  ].join("");
}

/** Finds all edits in the file, in file order. */
function findChanges(text: string, edits: readonly Edit[], shown: string): Change[] {
  const changes = edits.flatMap((edit, index) =>
    changesOf(text, edit, { shown, number: index + 1, of: edits.length }),
  );
  changes.sort((one, other) => one.start - other.start);
  changes.forEach((change, i) => {
    const next = changes[i + 1];
    if (next === undefined || change.end <= next.start) return;
    throw new ToolError(`edits ${change.number} and ${next.number} overlap in ${shown}; make them one edit`);
  });
  return changes;
}

interface EditLabel {
  readonly shown: string;
  readonly number: number;
  readonly of: number;
}

function changesOf(text: string, edit: Edit, { shown, number, of }: EditLabel): Change[] {
  const which = of === 1 ? "oldText" : `oldText of edit ${number}`;
  if (edit.oldText === edit.newText) {
    throw new ToolError(`${which} and its newText are the same; nothing was changed in ${shown}`);
  }
  const { spans, isTolerant } = findMatches(text, edit.oldText);
  if (spans.length === 0) return [{ ...indentedChange(text, edit, which, shown), number }];
  if (spans.length > 1 && edit.replaceAll !== true) {
    const lines = spans.slice(0, 10).map(({ start }) => lineAt(text, start));
    const more = spans.length > lines.length ? " and more" : "";
    throw new ToolError(
      `${which} is in ${shown} ${spans.length} times, in lines ${lines.join(", ")}${more}; add surrounding lines to make it unique, or set replaceAll`,
    );
  }
  return spans.map((span) => ({
    ...span,
    newText: withLineEndsOf(text, span, edit.newText),
    ...(isTolerant && { differs: "characters" }),
    number,
  }));
}

/** The text is there with another indentation, at one place only. */
function indentedChange(text: string, edit: Edit, which: string, shown: string): Omit<Change, "number"> {
  const { lines, change } = matchIndented(text, edit.oldText, edit.newText);
  if (lines.length > 1) {
    const some = lines.slice(0, 10).join(", ");
    throw new ToolError(
      `${which} is not in ${shown} with this indentation, but ${lines.length} times with another, in lines ${some}${lines.length > 10 ? " and more" : ""}; copy the text exactly from the file`,
    );
  }
  if (change === undefined) throw notFound(text, edit.oldText, which, shown);
  return { ...change, newText: withLineEndsOf(text, change, change.newText), differs: "indentation" };
}

function notFound(text: string, wanted: string, which: string, shown: string): ToolError {
  const nearest = nearestBlock(text, wanted);
  if (nearest === undefined) {
    return new ToolError(
      `${which} is not in ${shown}, and nothing similar is; read the file and copy the text from it`,
    );
  }
  const lines = nearest.lines.map((line) => shortLine(line)).join("\n");
  return new ToolError(
    `${which} is not in ${shown}. The closest match is in lines ${nearest.from}-${nearest.from + nearest.lines.length - 1}:\n${lines}\nCopy the text exactly from there.`,
  );
}

/**
 * Models write "\n" as the end of a line. This keeps the line ends of the replaced text, or those of the file.
 */
function withLineEndsOf(text: string, { start, end }: Span, newText: string): string {
  const there = text.slice(start, end);
  const sample = there.includes("\n") ? there : text;
  const first = sample.indexOf("\n");
  if (first < 1 || sample[first - 1] !== "\r") return newText;
  return newText.replaceAll("\r\n", "\n").replaceAll("\n", "\r\n");
}

function applied(text: string, changes: readonly Change[]): string {
  let result = "";
  let from = 0;
  for (const { start, end, newText } of changes) {
    result += text.slice(from, start) + newText;
    from = end;
  }
  return result + text.slice(from);
}
